package screen

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/config"
	"lathe/internal/tui/prefs"
)

// TestThemeOfARun holds that what is printed beside the screen has the theme that was chosen on it,
// unless the configuration names another one, such as one of the person's own.
func TestThemeOfARun(t *testing.T) {
	for want, conf := range map[string]string{"": "", "dracula": "{}", "nord": `{"theme":"nord"}`, "mine": `{"theme":"mine"}`} {
		top := t.TempDir()
		dir := filepath.Join(top, "repo")
		themes := filepath.Join(dir, ".lathe", "themes")
		if err := os.MkdirAll(themes, 0o755); err != nil {
			t.Fatal(err)
		}
		for path, text := range map[string]string{filepath.Join(dir, "lathe.json"): conf, filepath.Join(themes, "mine.json"): `{"theme":{"text":"#eeeeee"}}`} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		vars := map[string]string{"HOME": top, "LATHE_HOME": filepath.Join(top, "lathe"), "PATH": os.Getenv("PATH")}
		env := &console.Env{Dir: dir, Getenv: func(k string) string { return vars[k] }, Now: time.Now, Stdout: io.Discard, Stderr: io.Discard}
		if want != "" {
			paths, err := config.DefaultPaths(env.Getenv)
			if err == nil {
				err = savePrefs(paths.State, prefs.Prefs{Theme: "dracula"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f, err := face.Connect(t.Context(), env, face.Target{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		if got := Theme(t.Context(), env, f); got != nil {
			name = got.Name
		}
		if name != want {
			t.Errorf("configured %s: the theme is %q, not %q", conf, name, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
