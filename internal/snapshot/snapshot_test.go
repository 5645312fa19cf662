package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/workspace"
)

func testRoot(t testing.TB, git bool) workspace.Root {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if git {
		runGit(t, dir, "init", "-q", "-b", "main")
	}
	root, err := workspace.Find(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func runGit(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func openStore(t testing.TB, root workspace.Root, data string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Root: root, Project: "p", DataDir: data, Home: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t testing.TB, dir, name, content string, perm fs.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), perm); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

func track(t testing.TB, s *Store) string {
	t.Helper()
	tree, err := s.Track(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// state is every file of a directory with its mode and content.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return fs.SkipDir
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[rel] = "-> " + to
			return err
		default:
			data, err := os.ReadFile(path)
			out[rel] = fmt.Sprintf("%v %q", info.Mode(), data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func gitState(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(dir, ".git"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			out[path] = fmt.Sprint(info.Mode())
			return nil
		}
		data, err := os.ReadFile(path)
		out[path] = fmt.Sprint(info.Mode(), sha256.Sum256(data)) // git refreshes the times of borrowed objects
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gitTree is the tree of a snapshot.
func gitTree(t rapid.TB, s *Store, id string) string {
	t.Helper()
	tree, _, err := s.resolve(id)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// asGit is the tree that git itself makes of the worktree.
func asGit(t testing.TB, s *Store) string {
	t.Helper()
	env := append(slices.Clone(s.env), "GIT_INDEX_FILE="+filepath.Join(t.TempDir(), "index"))
	if _, err := s.runIn(t.Context(), s.top, env, nil, "add", "-A", "."); err != nil {
		t.Fatal(err)
	}
	out, err := s.runIn(t.Context(), s.top, env, nil, "write-tree")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestTrackSeesEachChange(t *testing.T) {
	for _, inGit := range []bool{true, false} {
		t.Run(fmt.Sprintf("git=%v", inGit), func(t *testing.T) {
			root := testRoot(t, inGit)
			dir := root.Dir
			write(t, dir, ".gitignore", "*.log\nbuild/\n", 0o644)
			write(t, dir, "a.txt", "one\n", 0o644)
			write(t, dir, "sub/b.txt", "two\r\n", 0o644)
			if inGit {
				runGit(t, dir, "add", ".")
				runGit(t, dir, "commit", "-qm", "x")
			}
			var before map[string]string
			if inGit {
				before = gitState(t, dir)
			}
			s := openStore(t, root, t.TempDir())
			first := track(t, s)
			steps := []struct {
				name string
				do   func()
				same bool
			}{
				{"nothing", func() {}, true},
				{"edit", func() { write(t, dir, "a.txt", "three\n", 0o644) }, false},
				{"new file", func() { write(t, dir, "new/deep/c.txt", "c", 0o644) }, false},
				{"ignored", func() { write(t, dir, "x.log", "c", 0o644); write(t, dir, "build/x", "c", 0o644) }, true},
				{"empty directory", func() { os.Mkdir(filepath.Join(dir, "void"), 0o755) }, runtime.GOOS != "linux"},
				{"file in it", func() { write(t, dir, "void/d", "d", 0o644) }, false},
				{"node_modules", func() { write(t, dir, "node_modules/x/y.js", "d", 0o644) }, true},
				{"fewer bits", func() { os.Chmod(filepath.Join(dir, "sub", "b.txt"), 0o600) }, false},
				{"executable", func() { os.Chmod(filepath.Join(dir, "a.txt"), 0o755) }, false},
				{"rename", func() { os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "moved")) }, false},
				{"edit in the renamed", func() { write(t, dir, "moved/deep/c.txt", "cc", 0o644) }, false},
				{"symlink", func() { os.Symlink("a.txt", filepath.Join(dir, "link")) }, false},
				{"file for a directory", func() { os.RemoveAll(filepath.Join(dir, "sub")); write(t, dir, "sub", "s", 0o644) }, false},
				{"directory for a file", func() { os.Remove(filepath.Join(dir, "sub")); write(t, dir, "sub/b.txt", "s", 0o644) }, false},
				{"deleted", func() { os.RemoveAll(filepath.Join(dir, "moved")) }, false},
				{"too large", func() {
					write(t, dir, "big", strings.Repeat("x", MaxNewFile+1), 0o644)
					os.Remove(filepath.Join(dir, "big"))
				}, true},
				{"no longer ignored", func() { write(t, dir, ".gitignore", "build/\n", 0o644) }, false},
			}
			last := first
			for _, st := range steps {
				st.do()
				tree := track(t, s)
				if (tree == last) != st.same {
					t.Errorf("%s: tree %s after %s", st.name, tree, last)
				}
				if got, want := gitTree(t, s, tree), asGit(t, s); got != want {
					t.Fatalf("%s: tree is %s, git says %s", st.name, got, want)
				}
				last = tree
			}
			if known, ok := s.Known(); s.watch != nil && (!ok || known != last) {
				t.Errorf("Known is %s, %v", known, ok)
			}
			again := openStore(t, root, filepath.Dir(filepath.Dir(filepath.Dir(s.dir))))
			if tree := track(t, again); tree != last {
				t.Errorf("a second store says %s, the first %s", tree, last)
			}
			if inGit {
				if diff := cmp.Diff(before, gitState(t, dir)); diff != "" {
					t.Errorf("the project's .git (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestOpenRefusesWideDirectories(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"/", home, filepath.Dir(home)} {
		_, err := Open(t.Context(), Options{Root: workspace.Root{Dir: dir, TopLevel: "/"}, DataDir: t.TempDir(), Home: home})
		if !errors.Is(err, ErrRefused) {
			t.Errorf("Open(%s): %v", dir, err)
		}
	}
}

func TestDiffCountsAsGit(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "a.txt", "1\n2\n3\n", 0o644)
	write(t, root.Dir, "gone.txt", "x\n", 0o644)
	write(t, root.Dir, "bin", "a\x00b", 0o644)
	s := openStore(t, root, t.TempDir())
	from := track(t, s)
	write(t, root.Dir, "a.txt", "1\ntwo\n3\n4\n", 0o644)
	write(t, root.Dir, "bin", "a\x00c", 0o644)
	write(t, root.Dir, "new 文件.txt", "n", 0o644)
	os.Remove(filepath.Join(root.Dir, "gone.txt"))
	patch, to, err := s.Patch(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	names := func(files []string) (out []string) {
		for _, f := range files {
			out = append(out, filepath.Join(root.Dir, f))
		}
		return out
	}
	if diff := cmp.Diff(lathe.Patch{Hash: from, Files: names([]string{"a.txt", "bin", "gone.txt", "new 文件.txt"})}, patch); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	got, err := s.Diff(t.Context(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i].Patch = strings.ReplaceAll(got[i].Patch, "\t", "")
	}
	want := []lathe.FileDiff{
		{File: "a.txt", Before: "1\n2\n3\n", After: "1\ntwo\n3\n4\n", Additions: 2, Deletions: 1, Status: "modified",
			Patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+4\n"},
		{File: "bin", Status: "modified"},
		{File: "gone.txt", Before: "x\n", Deletions: 1, Status: "deleted", Patch: "--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +0,0 @@\n-x\n"},
		{File: "new 文件.txt", After: "n", Additions: 1, Status: "added",
			Patch: "--- a/new 文件.txt\n+++ b/new 文件.txt\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diff (-want +got):\n%s", diff)
	}
	again, _, err := s.Patch(t.Context(), to)
	if err != nil || len(again.Files) != 0 {
		t.Errorf("a patch of nothing: %v, %v", again, err)
	}
}

func TestApplyKeepsWhatOthersChanged(t *testing.T) {
	root := testRoot(t, false)
	write(t, root.Dir, "mine", "1", 0o600)
	write(t, root.Dir, "theirs", "1", 0o644)
	s := openStore(t, root, t.TempDir())
	from := track(t, s)
	write(t, root.Dir, "mine", "2", 0o600)
	write(t, root.Dir, "theirs", "2", 0o644)
	after := track(t, s)
	write(t, root.Dir, "theirs", "user", 0o644)
	targets := []Target{
		{Path: filepath.Join(root.Dir, "mine"), To: from, Expect: []string{after}},
		{Path: filepath.Join(root.Dir, "theirs"), To: from, Expect: []string{after}},
	}
	got, err := s.Apply(t.Context(), targets, false)
	if err != nil {
		t.Fatal(err)
	}
	want := Applied{Before: got.Before, After: got.After,
		Changed:   []string{filepath.Join(root.Dir, "mine")},
		Conflicts: []Conflict{{filepath.Join(root.Dir, "theirs"), reasonChanged}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	files := map[string]string{"mine": `-rw------- "1"`, "theirs": `-rw-r--r-- "user"`}
	if diff := cmp.Diff(files, state(t, root.Dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := s.Apply(t.Context(), targets, true); err != nil {
		t.Fatal(err)
	}
	files["theirs"] = `-rw-r--r-- "1"`
	if diff := cmp.Diff(files, state(t, root.Dir)); diff != "" {
		t.Errorf("forced (-want +got):\n%s", diff)
	}
	outside := []Target{{Path: filepath.Join(root.Dir, "..", "x"), To: from}}
	if _, err := s.Apply(t.Context(), outside, true); err == nil {
		t.Error("a file outside the worktree was accepted")
	}
}

func TestContentSurvivesThatTheProjectDropsIt(t *testing.T) {
	root := testRoot(t, true)
	write(t, root.Dir, "a.txt", "precious\n", 0o644)
	write(t, root.Dir, "same.txt", "same\n", 0o644)
	runGit(t, root.Dir, "add", ".")
	runGit(t, root.Dir, "commit", "-qm", "x")
	data := t.TempDir()
	s := openStore(t, root, data)
	from := track(t, s)
	write(t, root.Dir, "a.txt", "other\n", 0o644)
	track(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root.Dir, ".git", "objects")); err != nil {
		t.Fatal(err)
	}
	os.MkdirAll(filepath.Join(root.Dir, ".git", "objects"), 0o755)
	s = openStore(t, root, data)
	entries, err := s.blobs(t.Context(), map[oid]bool{hashBlob("precious\n"): true}, MaxFile)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the old content is gone from %s: %v, %v", from, entries, err)
	}
	// What the index names is not all there any more; work goes on all the same.
	write(t, root.Dir, "new.txt", "new\n", 0o644)
	track(t, s)
	for name, body := range map[string]string{"same.txt": "same\n", "new.txt": "new\n"} {
		id := s.index.files[name].oid
		if got, err := s.blobs(t.Context(), map[oid]bool{id: true}, MaxFile); err != nil || string(got[id]) != body {
			t.Errorf("%s reads %q, %v", name, got[id], err)
		}
	}
}

func hashBlob(body string) oid {
	s := &Store{gitDir: gitDir{dir: os.TempDir()}}
	tmp, _ := os.MkdirTemp("", "obj")
	defer os.RemoveAll(tmp)
	s.dir = tmp
	_ = os.Mkdir(s.tempDir(), 0o700)
	id, _ := s.writeObject("blob", []byte(body))
	return id
}

// editor makes random changes, as tools, commands and people do.
type editor struct {
	t   *rapid.T
	dir string
}

func (e editor) name() string {
	return rapid.SampledFrom([]string{"a", "b.txt", "d/a", "d/b", "d/e/a", "f/x", "f", "ü/文"}).Draw(e.t, "name")
}

func (e editor) path() string { return filepath.Join(e.dir, filepath.FromSlash(e.name())) }

func (e editor) room(path string) bool { return os.MkdirAll(filepath.Dir(path), 0o755) == nil }

func (e editor) change() {
	p := e.path()
	switch rapid.IntRange(0, 7).Draw(e.t, "change") {
	case 0, 1:
		if e.room(p) {
			_ = os.WriteFile(p, []byte(rapid.StringN(0, 40, -1).Draw(e.t, "text")), 0o644)
		}
	case 2:
		if e.room(p) {
			_ = os.WriteFile(p, rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(e.t, "bytes"), 0o600)
		}
	case 3:
		_ = os.Remove(p)
	case 4:
		_ = os.Chmod(p, rapid.SampledFrom([]fs.FileMode{0o644, 0o755, 0o600, 0o700}).Draw(e.t, "mode"))
	case 5:
		if to := e.path(); e.room(to) {
			_ = os.Rename(p, to)
		}
	case 6:
		if e.room(p) {
			// Later changes write through links: what lies outside must be the test's own.
			outside := filepath.Join(filepath.Dir(e.dir), "outside")
			_ = os.Symlink(rapid.SampledFrom([]string{"a", "nowhere", outside}).Draw(e.t, "to"), p)
		}
	case 7:
		cmd := exec.Command("bash", "-c", rapid.SampledFrom([]string{
			"rm -rf d", "mkdir -p d/e && echo hi > d/e/sh", "mv d d2", "mv d2 d", "echo more >> a", "cp -r d f2", "sed -i s/a/b/ b.txt", "ln -s d dl", "rm -rf f f2",
		}).Draw(e.t, "command"))
		cmd.Dir = e.dir
		_ = cmd.Run()
	}
}

// TestRevertAndBack makes random steps with changes of a person in between,
// reverts from a random step on, and goes back.
func TestRevertAndBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := testRoot(t, rapid.Bool().Draw(rt, "git"))
		e := editor{rt, root.Dir}
		for range 4 {
			e.change()
		}
		var before map[string]string
		if root.VCS != "" {
			runGit(t, root.Dir, "add", "-A")
			runGit(t, root.Dir, "commit", "-q", "--allow-empty", "-m", "x")
			before = gitState(t, root.Dir)
		}
		s := openStore(t, root, t.TempDir())
		defer s.Close()
		type step struct {
			from, to string
			files    []string
			before   map[string]string
			alone    bool // nobody else changed anything from here on
		}
		var steps []step
		seen := contents{}
		for range rapid.IntRange(1, 4).Draw(rt, "steps") {
			from, before := track(t, s), state(t, root.Dir)
			seen.add(rt, root.Dir)
			for range rapid.IntRange(0, 3).Draw(rt, "changes") {
				e.change()
			}
			p, now, err := s.Patch(t.Context(), from)
			if err != nil {
				rt.Fatal(err)
			}
			seen.add(rt, root.Dir)
			steps = append(steps, step{from, now, p.Files, before, true})
			if rapid.Bool().Draw(rt, "person") {
				e.change()
				for i := range steps {
					steps[i].alone = false
				}
			}
		}
		if got, want := gitTree(rt, s, track(t, s)), asGit(t, s); got != want {
			rt.Fatalf("tree is %s, git says %s", got, want)
		}
		if got, objects := packedSize(rt, s); got > seen.bytes()*12/10+300*objects+4096 { // names and hashes come on top
			rt.Fatalf("%d bytes in %d objects for %d bytes of content", got, objects, seen.bytes())
		}
		var targets []Target
		at := map[string]int{}
		first := rapid.IntRange(0, len(steps)-1).Draw(rt, "revert")
		for _, st := range steps[first:] {
			for _, f := range st.files {
				if i, ok := at[f]; ok {
					targets[i].Expect = []string{st.to}
					continue
				}
				at[f] = len(targets)
				targets = append(targets, Target{Path: f, To: st.from, Expect: []string{st.to}})
			}
		}
		was := state(t, root.Dir)
		out, err := s.Apply(t.Context(), targets, false)
		if err != nil {
			rt.Fatal(err)
		}
		conflict := map[string]bool{}
		for _, c := range out.Conflicts {
			conflict[c.Path] = true
		}
		now := state(t, root.Dir)
		if steps[first].alone {
			if diff := cmp.Diff(steps[first].before, now); diff != "" || len(out.Conflicts) > 0 {
				rt.Fatalf("after the revert, with conflicts %v (-want +got):\n%s", out.Conflicts, diff)
			}
		}
		for f, content := range was {
			if full := filepath.Join(root.Dir, f); now[f] != content && !slices.Contains(out.Changed, full) {
				rt.Fatalf("%s changed without being told of: %s, then %s", f, content, now[f])
			}
		}
		var back []Target
		for _, f := range out.Changed {
			back = append(back, Target{Path: f, To: out.Before, Expect: []string{out.After}})
		}
		res, err := s.Apply(t.Context(), back, false)
		if err != nil || len(res.Conflicts) > 0 {
			rt.Fatalf("going back: %v, %v", res.Conflicts, err)
		}
		if diff := cmp.Diff(was, state(t, root.Dir)); diff != "" {
			rt.Fatalf("after going back (-want +got):\n%s", diff)
		}
		if root.VCS != "" {
			if diff := cmp.Diff(before, gitState(t, root.Dir)); diff != "" {
				rt.Fatalf("the project's .git (-want +got):\n%s", diff)
			}
		}
	})
}

// contents are the different file contents of a directory over time.
type contents map[[32]byte]int64

func (c contents) add(t rapid.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			c[sha256.Sum256([]byte(to))] = int64(len(to))
			return err
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		c[sha256.Sum256(data)] = int64(len(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c contents) bytes() (n int64) {
	for _, size := range c {
		n += size
	}
	return n
}

// packedSize packs a store and returns what its objects take, and their number.
func packedSize(t rapid.TB, s *Store) (bytes, objects int64) {
	t.Helper()
	if err := s.packAll(context.Background()); err != nil {
		t.Fatal(err)
	}
	out, err := s.run(context.Background(), nil, "count-objects", "-v")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var n int64
		if _, err := fmt.Sscanf(line, "in-pack: %d", &n); err == nil {
			objects += n
		}
	}
	bytes, err = Size(filepath.Join(s.dir, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes, objects
}

// TestStoreStaysSmall changes files that cannot be compressed, and expects a
// store of hardly more than their different contents.
func TestStoreStaysSmall(t *testing.T) {
	root := testRoot(t, true)
	random := rand.New(rand.NewPCG(1, 2))
	fill := func(i int) {
		body := make([]byte, 4_000+random.IntN(36_000))
		for j := range body {
			body[j] = byte(random.Uint32())
		}
		write(t, root.Dir, fmt.Sprintf("d%d/f%d", i%7, i), string(body), 0o644)
	}
	for i := range 60 {
		fill(i)
	}
	runGit(t, root.Dir, "add", "-A")
	runGit(t, root.Dir, "commit", "-qm", "x")
	s := openStore(t, root, t.TempDir())
	defer s.Close()
	track(t, s)
	unique := contents{}
	note := func(i int) {
		data, err := os.ReadFile(filepath.Join(root.Dir, fmt.Sprintf("d%d/f%d", i%7, i)))
		if err != nil {
			t.Fatal(err)
		}
		unique[sha256.Sum256(data)] = int64(len(data))
	}
	for n := range 40 {
		for i := n; i < n+3; i++ { // a third of the files is never changed
			note(i)
			fill(i)
		}
		track(t, s)
		for i := n; i < n+3; i++ {
			note(i)
		}
	}
	got, objects := packedSize(t, s)
	if limit := unique.bytes() * 12 / 10; got > limit {
		t.Errorf("%d bytes in %d objects, more than 1.2 times the %d bytes of content", got, objects, unique.bytes())
	}
	t.Logf("%.3f of the unique bytes", float64(got)/float64(unique.bytes()))
}

func FuzzParseIndex(f *testing.F) {
	root := testRoot(f, true)
	write(f, root.Dir, "a/b", "x", 0o644)
	write(f, root.Dir, "c", "y", 0o755)
	runGit(f, root.Dir, "add", ".")
	runGit(f, root.Dir, "commit", "-qm", "x")
	data, err := os.ReadFile(filepath.Join(root.Dir, ".git", "index"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(bytes.Repeat([]byte("DIRC"), 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, _, err := parseIndex(data)
		if err == nil && len(files) > len(data) {
			t.Errorf("%d files in %d bytes", len(files), len(data))
		}
	})
}

func FuzzGitOutput(f *testing.F) {
	f.Add([]byte(":100644 100755 0123456789012345678901234567890123456789 0123456789012345678901234567890123456789 M\x00a\x00"))
	f.Add([]byte("0123456789012345678901234567890123456789 blob 3\nabc\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = parseRaw(zsplit(data))
		_, _ = parseBatch(data)
	})
}

func bigTree(b *testing.B, n int) workspace.Root {
	root := testRoot(b, true)
	for i := range n {
		write(b, root.Dir, fmt.Sprintf("pkg%03d/file%03d.go", i/100, i%100), strings.Repeat(fmt.Sprintf("line %d\n", i), 100), 0o644)
	}
	runGit(b, root.Dir, "add", ".")
	runGit(b, root.Dir, "commit", "-qm", "x")
	return root
}

// BenchmarkTrack has trees of 100 and 20,000 files, and of LATHE_BENCH_FILES.
func BenchmarkTrack(b *testing.B) {
	sizes := []int{100, 20_000}
	if n, err := strconv.Atoi(os.Getenv("LATHE_BENCH_FILES")); err == nil {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		root := bigTree(b, n)
		data := b.TempDir()
		b.Run(fmt.Sprintf("files=%d/first", n), func(b *testing.B) {
			for i := range b.N {
				s := openStore(b, root, filepath.Join(data, fmt.Sprint(b.N, "-", i)))
				track(b, s)
				s.Close()
			}
		})
		s := openStore(b, root, data)
		track(b, s)
		b.Run(fmt.Sprintf("files=%d/new process", n), func(b *testing.B) {
			for range b.N {
				s := openStore(b, root, data)
				track(b, s)
				s.Close()
			}
		})
		b.Run(fmt.Sprintf("files=%d/unchanged", n), func(b *testing.B) {
			for range b.N {
				track(b, s)
			}
		})
		b.Run(fmt.Sprintf("files=%d/one changed", n), func(b *testing.B) {
			for i := range b.N {
				write(b, root.Dir, "pkg000/file001.go", fmt.Sprint("changed ", i), 0o644)
				track(b, s)
			}
		})
		b.Run(fmt.Sprintf("files=%d/one new", n), func(b *testing.B) {
			for i := range b.N {
				write(b, root.Dir, fmt.Sprintf("pkg000/new%d-%d.go", b.N, i), fmt.Sprint("new ", i), 0o644)
				track(b, s)
			}
		})
	}
}
