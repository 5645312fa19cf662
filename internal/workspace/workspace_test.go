//go:build unix

package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func mkdir(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, dir string) Root {
	t.Helper()
	root, err := Find(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestFind(t *testing.T) {
	base := realDir(t)
	main := mkdir(t, base, "main")
	git(t, main, "init", "-q")
	git(t, main, "commit", "-q", "--allow-empty", "-m", "x")
	linked := filepath.Join(base, "linked")
	git(t, main, "worktree", "add", "-q", linked)
	git(t, main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", main, "sub")
	src := mkdir(t, main, "src", "deep")
	plain := mkdir(t, base, "plain")
	put(t, filepath.Join(base, "file"), "")
	fake := mkdir(t, plain, "fake", ".git") // not a repository
	dotGit := filepath.Join(main, ".git")
	if err := os.Symlink(src, filepath.Join(plain, "link")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		dir  string
		want Root
	}{
		{main, Root{main, main, main, dotGit, dotGit, "git"}},
		{src, Root{src, main, main, dotGit, dotGit, "git"}},
		{filepath.Join(plain, "link"), Root{src, main, main, dotGit, dotGit, "git"}},
		{linked, Root{linked, main, linked, filepath.Join(dotGit, "worktrees", "linked"), dotGit, "git"}},
		{filepath.Join(main, "sub"), Root{
			filepath.Join(main, "sub"), filepath.Join(main, "sub"), filepath.Join(main, "sub"),
			filepath.Join(dotGit, "modules", "sub"), filepath.Join(dotGit, "modules", "sub"), "git",
		}},
		{plain, Root{Dir: plain, Worktree: "/", TopLevel: "/"}},
		{filepath.Dir(fake), Root{Dir: filepath.Dir(fake), Worktree: "/", TopLevel: "/"}},
	} {
		if d := cmp.Diff(tc.want, find(t, tc.dir)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.dir, d)
		}
	}
	for _, dir := range []string{filepath.Join(base, "none"), filepath.Join(base, "file")} {
		if root, err := Find(context.Background(), dir); err == nil {
			t.Errorf("%s: found %+v", dir, root)
		}
	}
}

// TestForgedWorktree holds that no directory becomes a part of another repository
// by saying so.
func TestForgedWorktree(t *testing.T) {
	base := realDir(t)
	main := mkdir(t, base, "main")
	git(t, main, "init", "-q")
	git(t, main, "commit", "-q", "--allow-empty", "-m", "x")
	linked, moved := filepath.Join(base, "linked"), filepath.Join(base, "moved")
	git(t, main, "worktree", "add", "-q", linked)
	git(t, main, "worktree", "add", "-q", moved)
	dotGit := filepath.Join(main, ".git")
	if err := os.Rename(moved, moved+"2"); err != nil {
		t.Fatal(err)
	}
	for name, files := range map[string]map[string]string{
		"a git directory of its own": {
			".git": "gitdir: .fake\n", ".fake/commondir": dotGit, ".fake/HEAD": "ref: refs/heads/main\n",
			".fake/gitdir": filepath.Join(base, "a git directory of its own", ".git"),
		},
		"a common directory":          {".git/commondir": dotGit, ".git/HEAD": "ref: refs/heads/main\n"},
		"the repository itself":       {".git": "gitdir: " + dotGit + "\n"},
		"the worktree of another":     {".git": "gitdir: " + filepath.Join(dotGit, "worktrees", "linked") + "\n"},
		"a link to another's .git":    {".git": "-> " + filepath.Join(linked, ".git")},
		"a link to the repository":    {".git": "-> " + dotGit},
		"a directory among worktrees": {".git": "gitdir: x/worktrees/y\n", "x/worktrees/y/commondir": dotGit, "x/worktrees/y/HEAD": "x", "x/worktrees/y/gitdir": "../../../.git"},
		"a worktree that has moved":   nil,
	} {
		dir := filepath.Join(base, name)
		if files == nil {
			dir = moved + "2"
		}
		for file, text := range files {
			path := filepath.Join(dir, file)
			mkdir(t, filepath.Dir(path))
			if to, ok := strings.CutPrefix(text, "-> "); ok {
				if err := os.Symlink(to, path); err != nil {
					t.Fatal(err)
				}
				continue
			}
			put(t, path, text)
		}
		if got := find(t, dir); got.VCS != "git" || got.TopLevel != dir || got.Worktree != dir {
			t.Errorf("%s: %+v", name, got)
		}
	}
	git(t, main, "worktree", "repair", moved+"2")
	if got := find(t, moved+"2"); got.Worktree != main {
		t.Errorf("a repaired worktree: %+v", got)
	}
}

func TestProjectID(t *testing.T) {
	base, cache := realDir(t), t.TempDir()
	ctx := context.Background()
	dir := mkdir(t, base, "repo")
	git(t, dir, "init", "-q")
	id := func(dir string) string {
		t.Helper()
		id, err := ProjectID(ctx, find(t, dir), cache)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if got := id(base); got != GlobalID {
		t.Errorf("outside git: %q", got)
	}
	if got := id(dir); got != GlobalID {
		t.Errorf("without commits: %q", got)
	}
	// What the repository's configuration would run must not run.
	git(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(base, "ran"))
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "x", "--no-verify")
	os.Remove(filepath.Join(base, "ran"))
	want := git(t, dir, "rev-list", "--max-parents=0", "--all")
	if got := id(dir); got != want {
		t.Errorf("id %q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(base, "ran")); err == nil {
		t.Error("the repository's file monitor ran")
	}
	git(t, dir, "worktree", "add", "-q", filepath.Join(base, "linked"))
	if got := id(filepath.Join(base, "linked")); got != want {
		t.Errorf("linked worktree: id %q, want %q", got, want)
	}

	t.Run("kept", func(t *testing.T) {
		t.Setenv("PATH", "") // no git to be found
		if got := id(dir); got != want {
			t.Errorf("id %q, want %q", got, want)
		}
		if _, err := ProjectID(ctx, find(t, dir), t.TempDir()); err == nil {
			t.Error("an id without git and without a kept one")
		}
	})
	t.Run("another repository at the same path", func(t *testing.T) {
		if err := os.Rename(filepath.Join(dir, ".git"), filepath.Join(base, "old")); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "init", "-q")
		git(t, dir, "commit", "-q", "--allow-empty", "-m", "other")
		if got, want := id(dir), git(t, dir, "rev-list", "--max-parents=0", "--all"); got != want {
			t.Errorf("id %q, want %q", got, want)
		}
	})
	t.Run("left by another program", func(t *testing.T) {
		given := strings.Repeat("ab", 20)
		put(t, filepath.Join(dir, ".git", "opencode"), given+"\n")
		if got := id(dir); got != given {
			t.Errorf("id %q, want %q", got, given)
		}
		put(t, filepath.Join(dir, ".git", "opencode"), "../../escape")
		if got := id(dir); got == "../../escape" {
			t.Errorf("took %q", got)
		}
	})
}

func BenchmarkProjectID(b *testing.B) {
	dir, cache := realDir(b), b.TempDir()
	git(b, dir, "init", "-q")
	git(b, dir, "commit", "-q", "--allow-empty", "-m", "x")
	for b.Loop() {
		if _, err := ProjectID(context.Background(), find(b, dir), cache); err != nil {
			b.Fatal(err)
		}
	}
}

func TestResolve(t *testing.T) {
	base := realDir(t)
	mkdir(t, base, "a", "b")
	put(t, filepath.Join(base, "a", "file"), "")
	for name, to := range map[string]string{
		"up": "a/b", "abs": filepath.Join(base, "a"), "loop": "loop2", "loop2": "loop", "dangling": "none/x", "a/b/out": "../..",
	} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	for in, want := range map[string]string{
		"":               "",
		"a":              "a",
		"a/./b//":        "a/b",
		"up":             "a/b",
		"up/..":          "a", // not where up stands
		"up/../file":     "a/file",
		"abs/b":          "a/b",
		"new/x":          "new/x",
		"new/../a":       "a",
		"new/../../x":    "../x",
		"dangling":       "none/x",
		"dangling/y":     "none/x/y",
		"a/b/out/up/new": "a/b/new",
		"a/file/x":       "a/file/x",
		"up/...":         "a/b/...",
	} {
		got, err := Resolve(base + "/" + in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if want := filepath.Join(base, want); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
	if _, err := Resolve(filepath.Join(base, "loop", "x")); !errors.Is(err, ErrLoop) {
		t.Errorf("loop: %v", err)
	}
	for _, in := range []string{"", "relative", "/a\x00b", "/" + strings.Repeat("x/", maxPath)} {
		if got, err := Resolve(in); err == nil {
			t.Errorf("%.20q resolved to %q", in, got)
		}
	}
}

// TestResolveLikeKernel compares with the path the kernel opens.
func TestResolveLikeKernel(t *testing.T) {
	base := tangle(t)
	rapid.Check(t, func(t *rapid.T) {
		p := spelling(base).Draw(t, "path")
		got, err := Resolve(p)
		f, openErr := os.Open(p)
		if openErr != nil {
			return
		}
		defer f.Close()
		if err != nil {
			t.Fatalf("%q opens but does not resolve: %v", p, err)
		}
		want, _ := f.Stat()
		info, err := os.Lstat(got)
		if err != nil || !os.SameFile(info, want) {
			t.Fatalf("%q resolves to %q, which is another file (%v)", p, got, err)
		}
	})
}

// tangle makes a project with links in and out, beside files with similar names.
func tangle(t testing.TB) string {
	base := realDir(t)
	mkdir(t, base, "repo", "src", "deep")
	mkdir(t, base, "repo-evil", "src")
	mkdir(t, base, "REPO")
	for _, f := range []string{"repo/file", "repo/src/file", "repo-evil/file", "repo-evil/src/file", "secret", "REPO/file"} {
		put(t, filepath.Join(base, f), f)
	}
	for name, to := range map[string]string{
		"repo/out": "..", "repo/evil": "../repo-evil", "repo/src/abs": filepath.Join(base, "secret"), "repo/src/up": "../..",
		"repo/in": "src/deep", "repo/self": ".", "repo/loop": "loop", "repo-evil/back": "../repo", "repo/dangling": "../new/file",
		"repo/proc": "/proc/self/root", "repo/chain": "out/repo/out",
	} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

func spelling(base string) *rapid.Generator[string] {
	elem := rapid.SampledFrom([]string{
		"repo", "src", "deep", "file", "out", "evil", "up", "abs", "in", "self", "..", "..", "..", ".", "", "repo-evil", "REPO", "new",
		"loop", "back", "dangling", "chain", "...", "secret", "repo.", "repo ", "proc", base[1:],
	})
	return rapid.Custom(func(t *rapid.T) string {
		start := rapid.SampledFrom([]string{"/repo/", "/repo", "/", "/repo//", "/repo/../repo/"}).Draw(t, "start")
		return base + start + strings.Join(rapid.SliceOfN(elem, 0, 8).Draw(t, "elements"), "/")
	})
}

// TestNeverInside holds the promise that matters most: a path that leaves the
// project, however spelled, never counts as inside. The judge is the kernel: the
// directory reached by the path's existing part.
func TestNeverInside(t *testing.T) {
	base := tangle(t)
	repo := filepath.Join(base, "repo")
	root := Root{Dir: filepath.Join(repo, "src"), TopLevel: repo, Worktree: base}
	inside := func(real string) bool { return real == repo || strings.HasPrefix(real, repo+"/") }
	rapid.Check(t, func(t *rapid.T) {
		p := spelling(base).Draw(t, "path")
		got := root.Contains(p)
		if real, err := filepath.EvalSymlinks(p); err == nil && got != inside(real) {
			t.Fatalf("%q is %q, Contains says %v", p, real, got)
		}
		if !got {
			return
		}
		// A write must land inside too: follow what Resolve says and look.
		real, err := Resolve(p)
		if err != nil {
			t.Fatal(err)
		}
		for at := real; ; at = filepath.Dir(at) {
			if k, err := filepath.EvalSymlinks(at); err == nil {
				if !inside(k) {
					t.Fatalf("%q resolves to %q, which is below %q", p, real, k)
				}
				break
			}
		}
		if rel := root.Rel(p); rel == ".." || strings.HasPrefix(rel, "../") || strings.HasPrefix(rel, "/") {
			t.Fatalf("%q is inside but has the relative path %q", p, rel)
		}
	})
}

func TestContains(t *testing.T) {
	base := tangle(t)
	repo := filepath.Join(base, "repo")
	root := Root{Dir: filepath.Join(repo, "src"), TopLevel: repo, Worktree: base}
	none := Root{Dir: repo, TopLevel: "/", Worktree: "/"}
	for _, tc := range []struct {
		root Root
		path string
		want bool
		rel  string
	}{
		{root, repo, true, "."},
		{root, "file", true, "src/file"},
		{root, "../file", true, "file"},
		{root, "../../secret", false, "../secret"},
		{root, "abs", false, "../secret"},
		{root, repo + "-evil/file", false, "../repo-evil/file"},
		{root, "", false, "src"},
		{root, "new/file", true, "src/new/file"},
		{none, repo + "/file", true, strings.TrimPrefix(repo, "/") + "/file"},
		{none, "/etc/passwd", false, "etc/passwd"},
		{none, "loop", false, strings.TrimPrefix(repo, "/") + "/loop"},
		{Root{Dir: "/", TopLevel: "/"}, "/etc", true, "etc"},
	} {
		if got := tc.root.Contains(tc.path); got != tc.want {
			t.Errorf("%q inside: %v, want %v", tc.path, got, tc.want)
		}
		if got := tc.root.Rel(tc.path); got != tc.rel {
			t.Errorf("%q relative: %q, want %q", tc.path, got, tc.rel)
		}
	}
}

// TestName: a person is told paths from the top of the checkout, outside git from the
// directory that they are in, and whole ones for what is elsewhere,
// not from the root of the file system.
func TestName(t *testing.T) {
	base := tangle(t)
	repo := filepath.Join(base, "repo")
	git := Root{Dir: filepath.Join(repo, "src"), TopLevel: repo, Worktree: base, VCS: "git"}
	none := Root{Dir: repo, TopLevel: "/", Worktree: "/"}
	for _, tc := range []struct {
		root       Root
		path, want string
	}{
		{git, "file", "src/file"}, {git, "../../secret", filepath.Join(base, "secret")},
		{none, "src/file", "src/file"}, {none, repo, "."}, {none, "/etc/passwd", "/etc/passwd"}, {none, "../secret", filepath.Join(base, "secret")},
	} {
		if got := tc.root.Name(tc.path); got != tc.want {
			t.Errorf("%q is called %q, want %q", tc.path, got, tc.want)
		}
	}
}

func FuzzResolve(f *testing.F) {
	base := tangle(f)
	repo := filepath.Join(base, "repo")
	root := Root{Dir: repo, TopLevel: repo, Worktree: base}
	f.Add("src/../../secret")
	f.Add("chain/../evil/back/out")
	f.Fuzz(func(t *testing.T, p string) {
		if len(p) > 1000 {
			return
		}
		got := root.Contains(p)
		if !filepath.IsAbs(p) {
			p = repo + "/" + p
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && got && real != repo && !strings.HasPrefix(real, repo+"/") {
			t.Errorf("%q is %q and counts as inside", p, real)
		}
	})
}
