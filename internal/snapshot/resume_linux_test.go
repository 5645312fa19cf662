package snapshot

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A process that comes later finds what git would find, whatever happened in
// between, and the first one what git finds with the project's commit.
func TestResumeFindsWhatGitFinds(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	root := testRoot(t, true)
	write(t, root.Dir, ".gitignore", "*.log\n/out/\n", 0o644)
	for range 40 {
		mutate(t, r, root.Dir, 12)
	}
	runGit(t, root.Dir, "add", ".")
	runGit(t, root.Dir, "commit", "-qm", "x")
	data := t.TempDir()
	for round := range 25 {
		for range r.IntN(6) {
			mutate(t, r, root.Dir, 14)
		}
		s := openStore(t, root, data)
		got := track(t, s)
		scanned := openStore(t, root, data)
		want, err := scan(t.Context(), scanned)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("round %d: snapshot %s, git's %s", round, got, want)
			if diff := cmp.Diff(scanned.index.files, s.index.files, cmp.AllowUnexported(entry{})); diff != "" {
				t.Errorf("files (-git +resumed):\n%s", diff)
			}
			if diff := cmp.Diff(scanned.index.perms, s.index.perms, cmp.AllowUnexported(perms{})); diff != "" {
				t.Errorf("bits (-git +resumed):\n%s", diff)
			}
			return
		}
		mutate(t, r, root.Dir, 14)
		track(t, s)
		s.Close()
		scanned.Close()
	}
}

// scan has git look through the worktree.
func scan(ctx context.Context, s *Store) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.prepare(ctx); err != nil {
		return "", err
	}
	return s.scan(ctx)
}

// mutate does one of the first kinds of things that people and programs do in a
// worktree.
func mutate(t *testing.T, r *rand.Rand, dir string, kinds int) {
	t.Helper()
	pick := func() string { return fmt.Sprintf("d%d/e%d/f%d.txt", r.IntN(4), r.IntN(3), r.IntN(5)) }
	full := func(name string) string { return filepath.Join(dir, name) }
	switch name := pick(); r.IntN(kinds) {
	case 0, 1, 2, 3:
		if info, err := os.Lstat(full(name)); err == nil && info.IsDir() {
			return
		}
		os.Remove(full(name))
		write(t, dir, name, fmt.Sprint(r.IntN(3)), 0o644)
	case 4:
		os.Remove(full(name))
	case 5:
		os.RemoveAll(filepath.Dir(full(name)))
	case 6:
		os.Rename(full(name), full(pick()))
	case 7:
		os.Rename(filepath.Dir(full(name)), full(fmt.Sprintf("d%d/moved%d", r.IntN(4), r.IntN(2))))
	case 8:
		os.Chmod(full(name), []os.FileMode{0o644, 0o600, 0o755}[r.IntN(3)])
	case 9:
		os.Remove(full(name))
		os.MkdirAll(filepath.Dir(full(name)), 0o755)
		os.Symlink("target", full(name))
	case 10:
		os.MkdirAll(full(fmt.Sprintf("d%d/empty%d", r.IntN(4), r.IntN(3))), 0o755)
	case 11:
		write(t, dir, fmt.Sprintf("d%d/x%d.log", r.IntN(4), r.IntN(3)), "noise", 0o644)
		write(t, dir, fmt.Sprintf("out/x%d", r.IntN(3)), "noise", 0o644)
	case 12:
		nested := fmt.Sprintf("nested%d", r.IntN(2))
		write(t, dir, nested+"/file", "of another repository", 0o644)
		runGit(t, filepath.Join(dir, nested), "init", "-q")
	case 13:
		write(t, dir, "node_modules/x/y.js", fmt.Sprint(r.IntN(9)), 0o644)
	}
}

// The first snapshot of a process runs no git where a few known files changed.
func TestResumeRunsNoGit(t *testing.T) {
	root := testRoot(t, true)
	for i := range 50 {
		write(t, root.Dir, fmt.Sprintf("d%d/f%d", i%5, i), fmt.Sprint(i), 0o644)
	}
	runGit(t, root.Dir, "add", ".")
	runGit(t, root.Dir, "commit", "-qm", "x")
	data := t.TempDir()
	s := openStore(t, root, data)
	first := track(t, s)
	s.Close()

	s = openStore(t, root, data)
	s.git = "/nonexistent/git"
	if got := track(t, s); got != first {
		t.Errorf("unchanged: snapshot %s, want %s", got, first)
	}
	write(t, root.Dir, "d1/f1", "changed", 0o644)
	changed := track(t, s)
	s.git = "git"
	s.Close()
	if changed == first {
		t.Error("a change was not seen")
	}

	s = openStore(t, root, data)
	s.git = "/nonexistent/git"
	if got := track(t, s); got != changed {
		t.Errorf("changed by the process before: snapshot %s, want %s", got, changed)
	}
	write(t, root.Dir, "d1/f1", "1", 0o644)
	os.Remove(filepath.Join(root.Dir, "d2/f2"))
	if got := track(t, s); got == first || got == changed {
		t.Errorf("snapshot %s", got)
	}
	s.git = "git"
}

// A worktree with more files than can be kept in memory is refused at once.
func TestTooManyFiles(t *testing.T) {
	data := make([]byte, 12+20)
	copy(data, "DIRC\x00\x00\x00\x02\x00\x10\x00\x00")
	if _, _, err := parseRecords(data); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v, want ErrRefused", err)
	}
}
