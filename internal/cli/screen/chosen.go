package screen

import (
	"context"

	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/tui/theme"
	"lathe/internal/workspace"
)

// Theme returns the theme that a screen in the face's directory would have: the one that the
// configuration names, else the one that was chosen on the screen; nil for the default, and
// where that cannot be found out.
func Theme(ctx context.Context, env *console.Env, f *face.Face) *theme.Theme {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return nil
	}
	conf, err := screenConfig(ctx, f)
	if err != nil {
		return nil
	}
	name := conf.Theme
	if name == "" {
		name = loadPrefs(paths.State).Theme
	}
	if name == "" {
		return nil
	}
	root := workspace.Root{Dir: f.Dir()}
	if where, err := f.Paths(ctx); err == nil {
		root.TopLevel = where.Worktree
	}
	own, _ := userThemes(paths, root)
	return theme.Named(own, name)
}
