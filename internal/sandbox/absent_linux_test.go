package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// tick is longer than file systems' clocks take for one step.
const tick = 30 * time.Millisecond

// What was absent is found as soon as it is there, by whatever way it comes, and is not
// looked for as long as nothing has changed.
func TestAbsentPathsAreFoundOnceTheyAreThere(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"made":       func(dir string) error { return os.MkdirAll(filepath.Join(dir, "a/b"), 0o755) },
		"made above": func(dir string) error { return os.Mkdir(filepath.Join(dir, "a"), 0o755) },
		"linked":     func(dir string) error { return os.Symlink("../real", filepath.Join(dir, "a")) },
		"directory replaced": func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.Symlink("real", dir)
		},
		"times set back": func(dir string) error {
			if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o755); err != nil {
				return err
			}
			long := time.Now().Add(-time.Hour)
			return os.Chtimes(dir, long, long)
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			dir := filepath.Join(base, "home")
			path := filepath.Join(dir, "a/b")
			for _, d := range []string{dir, filepath.Join(base, "real/a/b"), filepath.Join(base, "real/b")} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if directoryAt(dir) == (directory{}) {
				t.Skip("this file system does not tell of changes")
			}
			a := newAbsences()
			a.settled = tick / 2
			time.Sleep(tick)
			a.look().missed(path)
			if !a.look().gone(path) {
				t.Error("it is looked for again")
			}
			time.Sleep(tick)
			if err := make(dir); err != nil {
				t.Fatal(err)
			}
			if a.look().gone(path) {
				t.Error("it counts as absent")
			}
		})
	}
}

// What may come without a change of the directory, or changed a moment ago, is not remembered.
func TestAbsencesThatAreNotSure(t *testing.T) {
	dir := t.TempDir()
	a := newAbsences()
	a.settled = time.Hour
	a.look().missed(filepath.Join(dir, "x"))
	if a.look().gone(filepath.Join(dir, "x")) {
		t.Error("the directory had just changed")
	}
	a.settled = 0
	if err := os.Symlink("nowhere/yet", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "link/below"} {
		a.look().missed(filepath.Join(dir, name))
		if a.look().gone(filepath.Join(dir, name)) {
			t.Errorf("%s may lead to what is made elsewhere", name)
		}
	}
}
