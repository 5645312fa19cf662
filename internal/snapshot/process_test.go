package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"lathe/internal/workspace"
)

// TestTwoProcesses has two stores on one worktree, as two processes have, both
// writing and taking snapshots at once.
func TestTwoProcesses(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "a.txt", "one\n", 0o644)
	runGit(t, root.Dir, "add", ".")
	runGit(t, root.Dir, "commit", "-qm", "x")
	data := t.TempDir()
	stores := []*Store{openStore(t, root, data), openStore(t, root, data)}
	var wg sync.WaitGroup
	for n, s := range stores {
		wg.Go(func() {
			for i := range 100 {
				path := filepath.Join(root.Dir, fmt.Sprintf("f%d", i%7))
				if i%3 == 0 {
					_ = os.Remove(path)
				} else if err := os.WriteFile(path, fmt.Appendf(nil, "%d of %d", i, n), 0o644); err != nil {
					t.Error(err)
				}
				if i%40 == 39 { // as if events had been lost
					s.mu.Lock()
					s.index, s.known = nil, false
					s.mu.Unlock()
				}
				if _, err := s.Track(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want := asGit(t, stores[0])
	for i, s := range stores {
		if got := gitTree(t, s, track(t, s)); got != want {
			t.Errorf("store %d says %s, git %s", i, got, want)
		}
	}
}

// TestLeftovers opens a store that a killed git and an older lathe left behind.
func TestLeftovers(t *testing.T) {
	root := testRoot(t, false)
	write(t, root.Dir, "a.txt", "one\n", 0o644)
	data := t.TempDir()
	s := openStore(t, root, data)
	want := track(t, s)
	s.Close()
	old := time.Now().Add(-2 * staleAfter)
	partial := filepath.Join(s.tempDir(), "999999999-x")
	pack := filepath.Join(s.dir, "objects", "pack", "tmp_pack_x")
	for path, text := range map[string]string{
		filepath.Join(s.dir, "index.lock"): "", partial: "half", pack: "half", filepath.Join(s.dir, "index"): "DIRCdamaged", filepath.Join(s.dir, "info", "exclude"): "*\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	s = openStore(t, root, data)
	if got := track(t, s); got != want {
		t.Errorf("tree is %s, was %s", got, want)
	}
	if exists(pack) || exists(partial) {
		t.Error("a temporary file was not removed")
	}
}

// TestBorrowedSurvivesADeath lets a process die that had changed what the project
// lent. The next one keeps it all the same.
func TestBorrowedSurvivesADeath(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "a.txt", "precious\n", 0o644)
	runGit(t, root.Dir, "add", ".")
	runGit(t, root.Dir, "commit", "-qm", "x")
	data := t.TempDir()
	died := openStore(t, root, data)
	track(t, died)
	write(t, root.Dir, "a.txt", "other\n", 0o644)
	track(t, died)
	clear(died.lost) // as if it were never closed

	next := openStore(t, root, data)
	track(t, next)
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	objects := filepath.Join(root.Dir, ".git", "objects")
	if err := os.RemoveAll(objects); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(objects, 0o755); err != nil {
		t.Fatal(err)
	}
	id := hashBlob("precious\n")
	if got, err := openStore(t, root, data).blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || string(got[id]) != "precious\n" {
		t.Errorf("the old content reads %q, %v", got[id], err)
	}
}

// TestPackAndQuota packs many loose objects and still finds them.
func TestPackAndQuota(t *testing.T) {
	root := testRoot(t, false)
	write(t, root.Dir, "a.txt", "one\n", 0o644)
	data := t.TempDir()
	s := openStore(t, root, data)
	track(t, s)
	last := crowd(t, s)
	s.writes = 1
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := loose(s); n != 0 {
		t.Errorf("%d objects are still loose", n)
	}
	s = openStore(t, root, data)
	id := hashBlob(last)
	if got, err := s.blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || string(got[id]) != last {
		t.Errorf("a packed object reads %q, %v", got[id], err)
	}
	s.quota = 1
	if err := s.limit(); err != nil {
		t.Error(err)
	}
	if got, err := s.blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || len(got) != 1 {
		t.Errorf("a fresh pack was dropped: %v, %v", got, err)
	}
	packs, _ := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "*.pack"))
	for _, p := range packs {
		if err := os.Chtimes(p, time.Now(), time.Now().Add(-2*keepFor)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.limit(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "*")); len(packs) == 0 || len(left) != 0 {
		t.Errorf("packs %v, left over the quota are %v", packs, left)
	}
	// It goes on, with all that is there now.
	write(t, root.Dir, "b.txt", "two\n", 0o644)
	track(t, s)
	s.Close()
	s = openStore(t, root, data)
	write(t, root.Dir, "b.txt", "three\n", 0o644)
	track(t, s)
	a := s.index.files["a.txt"].oid
	if got, err := s.blobs(t.Context(), map[oid]bool{a: true}, MaxFile); err != nil || string(got[a]) != "one\n" {
		t.Errorf("after packs were dropped a.txt reads %q, %v", got[a], err)
	}
	s.Close()

	kept, err := Collect(data)
	if err != nil || kept.Stores != 0 {
		t.Errorf("the store of a living worktree was removed: %+v, %v", kept, err)
	}
	if err := os.RemoveAll(root.Dir); err != nil {
		t.Fatal(err)
	}
	if gone, err := Collect(data); err != nil || gone.Stores != 1 || gone.Bytes == 0 || exists(s.dir) {
		t.Errorf("the store of a worktree that is gone: %+v, %v", gone, err)
	}
}

// TestReplacementsOfTheDeadAreNoWork finds what a process left that died while it
// replaced a file. It goes, and is in no snapshot whatever the project ignores;
// one that is being written stays, and is in none either.
func TestReplacementsOfTheDeadAreNoWork(t *testing.T) {
	for _, git := range []bool{false, true} {
		root := testRoot(t, git)
		write(t, root.Dir, ".gitignore", "!.*\n", 0o644)
		write(t, root.Dir, "sub/a.txt", "one\n", 0o644)
		s := openStore(t, root, t.TempDir())
		want := track(t, s)
		s.Close()

		dead := filepath.Join(root.Dir, "sub", ".lathe-999999999-ABCDEFGHIJKLMNOP.tmp")
		held := filepath.Join(root.Dir, "sub", workspace.TempName())
		write(t, root.Dir, "sub/"+filepath.Base(dead), "half", 0o644)
		write(t, root.Dir, "sub/"+filepath.Base(held), "half", 0o644)
		s = openStore(t, root, s.data)
		if got := track(t, s); got != want {
			t.Errorf("git %v: tree is %s, was %s", git, got, want)
		}
		if exists(dead) || !exists(held) {
			t.Errorf("git %v: the dead one's is there: %v, the living one's: %v", git, exists(dead), exists(held))
		}
		// Seen as it appears, alone and in a new directory.
		write(t, root.Dir, "sub/"+workspace.TempName(), "half", 0o644)
		write(t, root.Dir, "more/"+workspace.TempName(), "half", 0o644)
		if got := track(t, s); got != want {
			t.Errorf("git %v: with new ones the tree is %s, was %s", git, got, want)
		}
		s.Close()
	}
}
