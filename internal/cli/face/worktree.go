package face

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/workspace"
)

// PlaceIn returns the directory of a worktree that stands for the face's own, which may lie
// below the top of its checkout; for a server, whose files are not seen from here, the top.
func (f *Face) PlaceIn(ctx context.Context, w api.Worktree) string {
	if f.App == nil {
		return w.Directory
	}
	root, err := workspace.Find(ctx, f.Dir())
	if err != nil {
		return w.Directory
	}
	below, err := filepath.Rel(root.TopLevel, root.Dir)
	if err != nil || !filepath.IsLocal(below) {
		return w.Directory
	}
	dir := filepath.Join(w.Directory, below)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() { // no file of it is committed
		return w.Directory
	}
	return dir
}

// TellWork commits what was done in a worktree and says how to take it, or removes the
// worktree if nothing was, unless it is to be kept.
func (f *Face) TellWork(ctx context.Context, env *console.Env, name string, keep bool) error {
	w, err := f.CommitWorktree(ctx, name)
	if err != nil {
		return err
	}
	if len(w.Changes) == 0 {
		if keep {
			return nil
		}
		fmt.Fprintln(env.Stderr, "lathe: no file was changed")
		return f.DropWorktree(ctx, env, name)
	}
	for _, c := range w.Changes {
		fmt.Fprintf(env.Stderr, "%6d %6d  %s\n", c.Added, -c.Removed, console.Clean(c.File))
	}
	fmt.Fprintf(env.Stderr, "lathe: this is on branch %s; take it into the files here with: lathe worktree merge %s\n", console.Clean(w.Branch), console.Clean(w.Name))
	return nil
}

// DropWorktree removes a worktree and says where its work is kept.
func (f *Face) DropWorktree(ctx context.Context, env *console.Env, name string) error {
	out, err := f.RemoveWorktree(ctx, name)
	if err != nil {
		return err
	}
	where := ""
	if out.Kept != "" {
		where = "; its work is on branch " + console.Clean(out.Kept)
	}
	fmt.Fprintf(env.Stderr, "lathe: removed %s%s\n", console.Clean(name), where)
	return nil
}
