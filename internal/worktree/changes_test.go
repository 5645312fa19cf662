package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (p *place) changes(r *Repo, since Since) []Change {
	p.t.Helper()
	got, err := r.Changes(p.t.Context(), since)
	if err != nil {
		p.t.Fatal(err)
	}
	return got
}

func TestChanges(t *testing.T) {
	p := newPlace(t)
	odd := "quo\"te\\ and\ttab ünd.txt"
	for name, text := range map[string]string{"gone.txt": "x\n", "sub/in.txt": "1\n2\n3\n", odd: "odd\n", "link": "text\n", "bin": "a\x00b"} {
		p.write("repo/"+name, text)
	}
	p.commit(p.top, "more")
	if err := os.Remove(filepath.Join(p.top, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.top, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.txt", filepath.Join(p.top, "link")); err != nil {
		t.Fatal(err)
	}
	p.write("repo/sub/in.txt", "1\ntwo\n3\ndiff --git a/x b/x\n")
	p.write("repo/"+odd, "odder\n")
	p.write("repo/bin", "a\x00c")
	p.write("repo/new.txt", "line one\nline two\n")
	p.write("repo/staged.txt", "s\n")
	p.git(p.top, "add", "staged.txt")
	p.write("repo/big.txt", strings.Repeat("long\n", 1<<20))
	p.write("repo/ignored/x", "x\n")
	p.write("repo/nested/x", "x\n")
	p.git(p.path("repo/nested"), "init", "-q")
	index := read(t, filepath.Join(p.top, ".git", "index"))
	want := []Change{
		{File: "big.txt", Status: "added"},
		{File: "bin", Status: "modified"},
		{File: "gone.txt", Status: "deleted", Removed: 1},
		{File: "link", Status: "modified", Added: 1, Removed: 1},
		{File: "new.txt", Status: "added", Added: 2},
		{File: odd, Status: "modified", Added: 1, Removed: 1},
		{File: "staged.txt", Status: "added", Added: 1},
		{File: "sub/in.txt", Status: "modified", Added: 2, Removed: 1},
	}
	r := p.open(p.top)
	if diff := cmp.Diff(want, p.changes(r, Since{})); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	got := p.changes(r, Since{Patches: true, Context: 0})
	all := ""
	for i := range got {
		if !strings.HasPrefix(got[i].Patch, "diff --git ") || strings.Count(got[i].Patch, "\ndiff --git ") > 0 && got[i].File != "link" {
			t.Errorf("%s: patch %.300s", got[i].File, got[i].Patch)
		}
		if got[i].File != "big.txt" && got[i].File != "bin" {
			all += got[i].Patch
		}
		got[i].Patch = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with patches (-want +got):\n%s", diff)
	}
	if !strings.Contains(all, "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex 0000000..e5c5c55\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+line one\n+line two\n") {
		t.Errorf("no patch of new.txt in:\n%s", all)
	}
	if read(t, filepath.Join(p.top, ".git", "index")) != index {
		t.Error("the index was changed")
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "lathe-index-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	// The patches make the changes.
	p.write("all.patch", all)
	again := p.path("again")
	p.git(p.top, "worktree", "add", "-q", again)
	p.git(again, "apply", "--unidiff-zero", p.path("all.patch"))
	if got := read(t, filepath.Join(again, "sub", "in.txt")); got != "1\ntwo\n3\ndiff --git a/x b/x\n" {
		t.Errorf("sub/in.txt is %q", got)
	}

	// Only what is below the directory counts.
	if diff := cmp.Diff([]Change{{File: "in.txt", Status: "modified", Added: 2, Removed: 1}}, p.changes(p.open(p.path("repo/sub")), Since{})); diff != "" {
		t.Errorf("below sub (-want +got):\n%s", diff)
	}
}

func TestChangesOfBranch(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	w := p.add(r, "w")
	p.write(filepath.Join(w.Directory, "mine.txt"), "mine\n")
	p.commit(w.Directory, "mine")
	p.write(filepath.Join(w.Directory, "fresh.txt"), "fresh\n")
	p.write("repo/theirs.txt", "theirs\n")
	p.commit(p.top, "theirs")
	from := p.open(w.Directory)
	if diff := cmp.Diff([]Change{{File: "fresh.txt", Status: "added", Added: 1}, {File: "mine.txt", Status: "added", Added: 1}}, p.changes(from, Since{Branch: true})); diff != "" {
		t.Errorf("since main (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Change{{File: "fresh.txt", Status: "added", Added: 1}}, p.changes(from, Since{})); diff != "" {
		t.Errorf("since the commit (-want +got):\n%s", diff)
	}
	// A merge that waits for somebody.
	p.write(filepath.Join(w.Directory, "a.txt"), "mine\n")
	p.commit(w.Directory, "a")
	p.write("repo/a.txt", "theirs\n")
	p.commit(p.top, "a")
	cmdline := []string{"merge", "-q", "--no-commit", "main"}
	if out := p.fails(w.Directory, cmdline...); !strings.Contains(out, "CONFLICT") {
		t.Fatalf("no conflict: %s", out)
	}
	got := p.changes(from, Since{Patches: true, Context: 3})
	var names []string
	for _, c := range got {
		names = append(names, c.File+" "+c.Status)
	}
	if diff := cmp.Diff([]string{"a.txt modified", "theirs.txt added"}, names); diff != "" {
		t.Errorf("in a merge (-want +got):\n%s", diff)
	}

	// Before the first commit everything is new; there is no branch to leave.
	p.write("empty/x.txt", "x\n")
	p.git(p.path("empty"), "init", "-q")
	empty := p.open(p.path("empty"))
	if diff := cmp.Diff([]Change{{File: "x.txt", Status: "added", Added: 1}}, p.changes(empty, Since{})); diff != "" {
		t.Errorf("before the first commit (-want +got):\n%s", diff)
	}
	if got := p.changes(empty, Since{Branch: true}); got != nil {
		t.Errorf("since no branch: %v", got)
	}
}

// A change that leaves a file's size and time as the index has them is seen.
func TestChangesAtOnce(t *testing.T) {
	p := newPlace(t)
	at := time.Now().Add(-time.Hour)
	same := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(p.top, "a.txt")
	same(file)
	p.git(p.top, "update-index", "--refresh")
	same(filepath.Join(p.top, ".git", "index"))
	p.write(file, "two\n") // which was one
	same(file)
	p.write("repo/new.txt", "x\n")
	p.git(p.top, "config", "core.trustctime", "false")
	want := []Change{{File: "a.txt", Status: "modified", Added: 1, Removed: 1}, {File: "new.txt", Status: "added", Added: 1}}
	if diff := cmp.Diff(want, p.changes(p.open(p.top), Since{})); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// Looking at changes runs nothing that an untrusted repository names.
func TestChangesRunNothing(t *testing.T) {
	p := newPlace(t)
	p.write("repo/.gitattributes", "* filter=evil diff=evil\n")
	p.commit(p.top, "attributes")
	for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager"} {
		p.git(p.top, "config", key, "touch "+p.path("ran")+" && cat")
	}
	p.write("repo/a.txt", "changed\n")
	p.write("repo/b.txt", "new\n")
	got := p.changes(p.open(p.top), Since{Patches: true})
	if len(got) != 2 {
		t.Errorf("changes %v", got)
	}
	if files, all, err := p.open(p.top).Dirty(t.Context(), 5); err != nil || all != 2 {
		t.Errorf("%d files: %q, %v", all, files, err)
	}
	if exists(p.path("ran")) {
		t.Error("something ran")
	}
}

func FuzzPatches(f *testing.F) {
	f.Add(":100644 100644 a b M\x00x\x001\t2\tx\x00", "diff --git a/x b/x\n@@\n+a\ndiff --git a/y b/y\n", "x")
	f.Add(":\x00", "\ndiff --git ", "\"\t\n")
	f.Fuzz(func(t *testing.T, list, patch, name string) {
		parseChanges(list)
		n := 0
		for _, one := range splitPatches(patch) {
			n += len(one)
		}
		if n > len(patch) {
			t.Errorf("%d bytes of %d", n, len(patch))
		}
		if h := header(name); strings.ContainsAny(strings.ReplaceAll(h, "\n", "\x00"), "\x00") {
			t.Errorf("header %q", h)
		}
	})
}

// TestChangesStayInside has a repository whose configuration names a directory
// outside as its checkout.
func TestChangesStayInside(t *testing.T) {
	for _, tt := range []struct{ name, file string }{{"config", "config"}, {"per worktree", "config.worktree"}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("outside/secret.txt", "hush\n")
			p.write("outside/a.txt", "hush too\n")
			p.write("repo/new.txt", "new\n")
			p.write("repo/sub/deep.txt", "deep\n")
			p.git(p.top, "config", "extensions.worktreeConfig", "true")
			p.git(p.top, "config", "--file", filepath.Join(p.top, ".git", tt.file), "core.worktree", p.path("outside"))
			for _, dir := range []string{p.top, filepath.Join(p.top, "sub")} {
				want := []Change{{File: "deep.txt", Status: "added", Added: 1}}
				if dir == p.top {
					want = []Change{{File: "new.txt", Status: "added", Added: 1}, {File: "sub/deep.txt", Status: "added", Added: 1}}
				}
				got := p.changes(p.open(dir), Since{Patches: true, Context: 3})
				for i := range got {
					if strings.Contains(got[i].Patch, "hush") {
						t.Errorf("a file outside is shown:\n%s", got[i].Patch)
					}
					got[i].Patch = ""
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("changes of %s (-want +got):\n%s", dir, diff)
				}
			}
		})
	}
}

// TestResetStaysInside resets and removes a worktree whose configuration names a
// directory outside, where files are that git would sweep away.
func TestResetStaysInside(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	w := p.add(r, "task")
	p.write("outside/precious.txt", "keep me\n")
	p.write(filepath.Join(w.Directory, "junk.txt"), "junk\n")
	p.git(p.top, "config", "extensions.worktreeConfig", "true")
	p.git(p.top, "config", "--file", filepath.Join(p.root(w.Directory).GitDir, "config.worktree"), "core.worktree", p.path("outside"))
	if _, err := r.Reset(t.Context(), w.Directory); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(w.Directory, "junk.txt")); !os.IsNotExist(err) {
		t.Errorf("the worktree was not reset: %v", err)
	}
	if got := read(t, p.path("outside/precious.txt")); got != "keep me\n" {
		t.Errorf("the file outside is %q", got)
	}
	if _, err := r.Remove(t.Context(), w.Directory); err != nil {
		t.Fatal(err)
	}
	if got := read(t, p.path("outside/precious.txt")); got != "keep me\n" {
		t.Errorf("the file outside is %q", got)
	}
}
