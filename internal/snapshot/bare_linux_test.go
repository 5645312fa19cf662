package snapshot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is all that is below a directory, besides .git.
func tree(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			if d.IsDir() {
				rel += "/"
			}
			found = append(found, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Empty directories that are made, filled, removed or exchanged go back and forth
// as files do; ignored ones are left alone.
func TestEmptyDirectories(t *testing.T) {
	for _, inGit := range []bool{true, false} {
		t.Run(fmt.Sprintf("git=%v", inGit), func(t *testing.T) { emptyDirectories(t, inGit) })
	}
}

func emptyDirectories(t *testing.T, inGit bool) {
	root, data := testRoot(t, inGit), t.TempDir()
	dir := root.Dir
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, dir, ".gitignore", "build/\n", 0o644)
	write(t, dir, "src/a.go", "package a\n", 0o644)
	write(t, dir, "turned/x", "x", 0o644)
	for _, d := range []string{"filled", "gone/deep", "kept", "swapped", "build/old"} {
		must(os.MkdirAll(at(d), 0o755))
	}
	s := openStore(t, root, data)
	from, before := track(t, s), tree(t, dir)

	must(os.MkdirAll(at("made/deep/down"), 0o755), os.MkdirAll(at("build/new"), 0o755), os.RemoveAll(at("gone")),
		os.Remove(at("swapped")), os.RemoveAll(at("turned")), os.Mkdir(at("turned"), 0o755), os.Remove(at("src/a.go")))
	write(t, dir, "filled/f", "f", 0o644)
	write(t, dir, "swapped", "a file now", 0o644)
	p, now, err := s.Patch(t.Context(), from)
	must(err)
	var files []string
	for _, f := range p.Files {
		rel, _ := filepath.Rel(dir, f)
		files = append(files, rel)
	}
	want := []string{"filled", "filled/f", "gone/deep", "made/deep/down", "src", "src/a.go", "swapped", "turned", "turned/x"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	after := tree(t, dir)

	// The next process, which knows nothing yet, says the same.
	must(s.Close())
	s = openStore(t, root, data)
	if again := track(t, s); again != now {
		t.Errorf("%s, and from the next process %s", now, again)
	}
	there, err := s.Changed(t.Context(), from, now)
	must(err)
	if diff := cmp.Diff(p.Files, there); diff != "" {
		t.Errorf("changed, told from what is stored (-want +got):\n%s", diff)
	}

	move := func(to, expect string, want []string) {
		t.Helper()
		var targets []Target
		for _, f := range p.Files {
			targets = append(targets, Target{Path: f, To: to, Expect: []string{expect}})
		}
		out, err := s.Apply(t.Context(), targets, false)
		if err != nil || len(out.Conflicts) > 0 || out.After != to {
			t.Errorf("conflicts %v, %v; after it is %s, want %s", out.Conflicts, err, out.After, to)
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("it is (-want +got):\n%s", diff)
		}
	}
	before = append(before, "build/new/") // ignored
	slices.Sort(before)
	move(from, now, before)
	move(now, from, after)
	// What was put into a directory since keeps it.
	write(t, dir, "made/deep/down/mine", "mine", 0o644)
	out, err := s.Apply(t.Context(), []Target{{Path: at("made/deep/down"), To: from, Expect: []string{now}}}, false)
	must(err)
	if _, err := os.Stat(at("made/deep/down/mine")); err != nil {
		t.Errorf("what was put there is gone: %v (%+v)", err, out)
	}
}

// What a command leaves in the worktree may be anything; none of it makes a
// snapshot wait, and no link is taken for the directory behind it.
func TestNoEmptyDirectory(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "a", "a", 0o644)
	s := openStore(t, root, t.TempDir())
	from := track(t, s)
	if err := syscall.Mkfifo(filepath.Join(root.Dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(root.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	p, _, err := s.Patch(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(root.Dir, "link")}, p.Files); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
}

// An Apply that was cut off between a file and its directory leaves the directory
// empty. The next one takes it; those that the tree has, or had, stay.
func TestApplyCutOffBeforeADirectory(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "src/a.go", "package a\n", 0o644)
	if err := os.MkdirAll(filepath.Join(root.Dir, "bare"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, root, t.TempDir())
	from := track(t, s)
	made := []string{"made/deep/f", "src/new/g", "bare/h", "mixed/i"}
	var targets []Target
	for _, name := range made {
		write(t, root.Dir, name, "made\n", 0o644)
	}
	to := track(t, s)
	for _, name := range made {
		targets = append(targets, Target{Path: filepath.Join(root.Dir, name), To: from, Expect: []string{to}})
	}
	targets = append(targets, Target{Path: filepath.Join(root.Dir, "src/a.go"), To: from, Expect: []string{to}})
	write(t, root.Dir, "mixed/theirs", "kept\n", 0o644)
	for _, name := range made { // what the one that was cut off did
		if err := os.Remove(filepath.Join(root.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if out, err := s.Apply(t.Context(), targets, false); err != nil || len(out.Conflicts) > 0 {
			t.Fatalf("conflicts %v, %v", out.Conflicts, err)
		}
		want := []string{"bare/", "mixed/", "mixed/theirs", "src/", "src/a.go"}
		if diff := cmp.Diff(want, tree(t, root.Dir)); diff != "" {
			t.Errorf("left (-want +got):\n%s", diff)
		}
	}
}
