package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"lathe"
	"lathe/internal/config"
)

// A change of a project's configuration is not written through a link that leads
// elsewhere; one to another configuration of the directory is.
func TestUpdateProjectLinks(t *testing.T) {
	home := t.TempDir()
	p := config.Paths{Home: home, State: filepath.Join(home, "state"), Config: filepath.Join(home, "config")}
	for to, allowed := range map[string]bool{
		"../elsewhere.json": false, "../other/lathe.json": false, "package.json": false, "missing/lathe.json": false, "opencode.json": true,
	} {
		dir := filepath.Join(t.TempDir(), "repo")
		for _, name := range []string{"opencode.json", "package.json", "../elsewhere.json", "../other/lathe.json"} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(to, filepath.Join(dir, "lathe.json")); err != nil {
			t.Fatal(err)
		}
		_, err := config.UpdateProject(t.Context(), p, dir, []byte(`{"theme":"x"}`))
		if allowed != (err == nil) || !allowed && lathe.CodeOf(err) != lathe.CodeInvalid {
			t.Errorf("to %s: %v", to, err)
		}
		for _, name := range []string{"package.json", "../elsewhere.json", "../other/lathe.json"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "{}" {
				t.Errorf("to %s: %s is %q, %v", to, name, got, err)
			}
		}
	}
}

// A relative path in the environment would be that of any request's directory.
func TestRelativeConfigVariable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.json"), []byte(`{"theme":"theirs"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"LATHE_CONFIG", "OPENCODE_CONFIG", "LATHE_CONFIG_DIR"} {
		_, err := config.Load(t.Context(), config.Options{
			Dir: dir, Worktree: dir, Paths: config.Paths{Home: t.TempDir()}, Getenv: func(k string) string { return map[string]string{name: "c.json"}[k] },
		})
		if lathe.CodeOf(err) != lathe.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
