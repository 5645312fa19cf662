package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/undo"
)

// Empty directories are undone with the rest: what a turn made goes, what it
// removed or filled is empty again.
func TestRevertOfEmptyDirectories(t *testing.T) {
	w := newWorld(t)
	for _, d := range []string{"filled", "removed/deep"} {
		if err := os.MkdirAll(filepath.Join(w.repo, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	expect := func(what string, there, gone []string) {
		t.Helper()
		for _, d := range there {
			if info, err := os.Stat(filepath.Join(w.repo, d)); err != nil || !info.IsDir() {
				t.Errorf("%s: %s is not there: %v", what, d, err)
			}
		}
		for _, d := range gone {
			if _, err := os.Lstat(filepath.Join(w.repo, d)); !os.IsNotExist(err) {
				t.Errorf("%s: %s is there: %v", what, d, err)
			}
		}
	}
	w.ask(s, id, "mkdir -p made/a/b; rm -r removed; echo x > filled/x; mkdir new; echo y > new/y")
	revert := func(n int) {
		t.Helper()
		out, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: w.users(s, id)[n]})
		if err != nil || len(out.Conflicts) > 0 {
			t.Fatalf("conflicts %v, %v", out.Conflicts, err)
		}
	}
	before, after := []string{"filled", "removed/deep"}, []string{"made/a/b", "filled/", "new"}
	revert(0)
	expect("after the revert", before, []string{"made", "new", "filled/x"})
	if out, err := s.Undo.Unrevert(t.Context(), id, false); err != nil || len(out.Conflicts) > 0 {
		t.Fatalf("conflicts %v, %v", out.Conflicts, err)
	}
	expect("after the way back", after, []string{"removed"})

	w.ask(s, id, "mkdir only; rmdir made/a/b") // no file is changed
	expect("after the second", []string{"only", "made/a"}, []string{"made/a/b"})
	revert(1)
	expect("after that was reverted", after, []string{"only", "removed"})
	revert(0)
	expect("after all was reverted", before, []string{"made", "new", "only"})
}
