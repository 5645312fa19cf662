package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What takes the place of a resolved path leads nowhere outside.
func TestReadBeneath(t *testing.T) {
	top, err := Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "repo")
	for name, text := range map[string]string{"repo/a.txt": "inside", "repo/sub/b.txt": "below", "secret/a.txt": "outside", "secret/b.txt": "outside"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root := Root{Dir: dir, TopLevel: "/", Worktree: "/"}
	if data, err := root.ReadFile(filepath.Join(dir, "sub", "b.txt"), 0); err != nil || string(data) != "below" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := root.ReadFile(filepath.Join(dir, "sub"), 0); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := root.ReadFile(filepath.Join(dir, "a.txt"), 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long file: %v", err)
	}
	for from, to := range map[string]string{"a.txt": "secret/a.txt", "sub": "secret"} {
		if err := os.RemoveAll(filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(top, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.txt", "sub/b.txt", "../secret/a.txt"} {
		if data, err := root.ReadFile(filepath.Join(dir, name), 0); err == nil {
			t.Errorf("%s: read %q", name, data)
		}
	}
	if list, err := root.ReadDir(filepath.Join(dir, "sub"), 10); err == nil {
		t.Errorf("listed %v", list)
	}
}
