package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A link that takes the place of a file or of a directory above it, after the path
// was resolved and judged, leads neither reading nor writing elsewhere.
func TestRealPathsFollowNoLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	for name, swap := range map[string]func(dir, out string) error{
		"file":      func(dir, out string) error { return os.Symlink(filepath.Join(out, "f"), filepath.Join(dir, "a/b/f")) },
		"directory": func(dir, out string) error { return os.Symlink(out, filepath.Join(dir, "a/b")) },
		"above":     func(dir, out string) error { return os.Symlink(filepath.Dir(out), filepath.Join(dir, "a")) },
	} {
		dir, outside := realTemp(t), filepath.Join(realTemp(t), "b")
		real := filepath.Join(dir, "a/b/f")
		for _, p := range []string{filepath.Dir(real), outside} {
			if err := os.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		secret := filepath.Join(outside, "f")
		for _, p := range []string{real, secret} {
			if err := os.WriteFile(p, []byte(p), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Resolve(real); err != nil || got != real {
			t.Fatalf("%s: %s, %v", name, got, err)
		}
		for _, gone := range map[string][]string{"file": {real}, "directory": {filepath.Join(dir, "a/b")}, "above": {filepath.Join(dir, "a")}}[name] {
			if err := os.Rename(gone, filepath.Join(dir, "moved")); err != nil {
				t.Fatal(err)
			}
		}
		if err := swap(dir, outside); err != nil {
			t.Fatal(err)
		}
		if data, err := ReadReal(real, 0); err == nil {
			t.Errorf("%s: read %q", name, data)
		} else if !errors.Is(err, ErrMoved) {
			t.Errorf("%s: read: %v", name, err)
		}
		if err := WriteReal(real, []byte("x"), 0); err == nil {
			t.Errorf("%s: written", name)
		}
		if err := writeReal(real, []byte("x"), 0); err == nil { // the swap comes after the last look
			t.Errorf("%s: written late", name)
		}
		if err := RemoveReal(real); err == nil && name != "file" {
			t.Errorf("%s: removed", name)
		}
		if name == "directory" {
			if list, err := ReadDirReal(filepath.Dir(real)); err == nil {
				t.Errorf("listed %v", list)
			}
		}
		if data, err := os.ReadFile(secret); err != nil || string(data) != secret {
			t.Errorf("%s: outside is %q, %v", name, data, err)
		}
	}
}

// New directories are made below the first one that is there.
func TestWriteRealMakesDirectories(t *testing.T) {
	real := filepath.Join(realTemp(t), "a/b/c")
	if err := WriteReal(real, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadReal(real, 0); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
