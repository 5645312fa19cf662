package worktree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/workspace"
)

// place is a repository, and a directory for its worktrees.
type place struct {
	t        *testing.T
	top, dir string // the checkout; where worktrees lie
	env      []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, top: filepath.Join(top, "repo"), dir: filepath.Join(top, "data", "worktree")}
	p.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home"), "GIT_CONFIG_NOSYSTEM=1"}
	p.write("repo/a.txt", "one\n")
	p.write("repo/.gitignore", "ignored/\n")
	p.write("home/.gitconfig", "[user]\n\tname = n\n\temail = e@example.com\n[init]\n\tdefaultBranch = main\n")
	p.git(p.top, "init", "-q")
	p.commit(p.top, "first")
	return p
}

func (p *place) path(name string) string {
	return filepath.Join(filepath.Dir(p.top), filepath.FromSlash(name))
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = p.path(name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) commit(dir, message string) string {
	p.t.Helper()
	p.git(dir, "add", "-A")
	p.git(dir, "commit", "-q", "--allow-empty", "-m", message)
	return p.git(dir, "rev-parse", "HEAD")
}

func (p *place) branches() string {
	return p.git(p.top, "for-each-ref", "--format=%(refname:short)", "refs/heads")
}

func (p *place) root(dir string) workspace.Root {
	p.t.Helper()
	root, err := workspace.Find(p.t.Context(), dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return root
}

// open opens the repository that a directory is in.
func (p *place) open(dir string, change ...func(*Options)) *Repo {
	p.t.Helper()
	n := 0
	o := Options{
		Root: p.root(dir), Dir: p.dir, Environ: p.env, Now: func() time.Time { return time.Unix(1e9, 0) },
		Name: func() string { n++; return "made-" + string(rune('a'+n-1)) },
	}
	for _, c := range change {
		c(&o)
	}
	r, err := Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// add makes a worktree with its files.
func (p *place) add(r *Repo, name string) Worktree {
	p.t.Helper()
	w, err := r.Add(p.t.Context(), name)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := r.Fill(p.t.Context(), w); err != nil {
		p.t.Fatal(err)
	}
	return w
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// refused checks that an error is one for the person who asked.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	e, ok := errors.AsType[*lathe.Error](err)
	if !ok || e.Code != lathe.CodeInvalid || !strings.Contains(e.Msg, want) {
		t.Errorf("got %v, want a refusal with %q", err, want)
	}
}

func TestSlug(t *testing.T) {
	for wish, want := range map[string]string{
		"login":                 "login",
		"  Fix the Login!  ":    "fix-the-login",
		"--upload-pack=evil":    "upload-pack-evil",
		"-f":                    "f",
		"../../etc/passwd":      "etc-passwd",
		"refs/heads/main":       "refs-heads-main",
		"@{-1}":                 "1",
		"main.lock":             "main-lock",
		"a..b~c^d:e?f*g[h\\i":   "a-b-c-d-e-f-g-h-i",
		"a\x00b\nc\u2028d":      "a-b-c-d",
		"登录页 修复":                "登录页-修复",
		"\u0301e\u0301":         "e\u0301",
		"":                      "",
		"...":                   "",
		"\xff":                  "",
		strings.Repeat("x", 64): strings.Repeat("x", 64),
		strings.Repeat("x", 65): "",
	} {
		got, err := Slug(wish)
		if got != want || (err != nil) != (want == "") || err != nil && !errors.Is(err, ErrName) {
			t.Errorf("Slug(%q) is %q, %v; want %q", wish, got, err, want)
		}
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Fix it", "../x", "-x", "x.lock", "@", "İ", "a\u0301", "ß--ẞ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, wish string) {
		name, err := Slug(wish)
		if err != nil {
			return
		}
		bad := func(r rune) bool {
			return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}
		switch {
		case name == "", len(name) > maxName, !filepath.IsLocal(name), name != filepath.Base(name),
			strings.HasPrefix(name, "-"), strings.HasSuffix(name, "-"), strings.Contains(name, "--"), strings.ContainsFunc(name, bad):
			t.Errorf("Slug(%q) is %q", wish, name)
		}
		if again, err := Slug(name); err != nil || again != name {
			t.Errorf("Slug(%q) is %q, %v", name, again, err)
		}
	})
}

func TestAdd(t *testing.T) {
	p := newPlace(t)
	first := p.git(p.top, "rev-parse", "HEAD")
	r := p.open(p.top)
	login := p.add(r, "Fix the login")
	want := Worktree{Name: "fix-the-login", Branch: "lathe/fix-the-login", Directory: filepath.Join(p.dir, "fix-the-login")}
	if diff := cmp.Diff(want, login); diff != "" {
		t.Errorf("worktree (-want +got):\n%s", diff)
	}
	if got := read(t, filepath.Join(login.Directory, "a.txt")); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	root := p.root(login.Directory)
	if root.Worktree != p.top || root.TopLevel != login.Directory || Branch(root) != login.Branch || DefaultBranch(root) != "main" {
		t.Errorf("root %+v, branch %q, default %q", root, Branch(root), DefaultBranch(root))
	}
	if got := p.git(login.Directory, "status", "--porcelain"); got != "" {
		t.Errorf("it is not clean: %s", got)
	}
	if info, err := os.Stat(p.dir); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the directory: %v %v", info.Mode(), err)
	}

	// A taken name gets another word, whatever takes it; no name is made up.
	p.git(p.top, "branch", "lathe/by-branch")
	p.write(filepath.Join(p.dir, "by-file"), "x")
	for _, wish := range []string{"fix-the-login", "by-branch", "by-file", " "} {
		w := p.add(r, wish)
		if w.Name == wish || !strings.HasPrefix(w.Name, strings.TrimSpace(wish)) || filepath.Base(w.Directory) != w.Name || w.Branch != "lathe/"+w.Name {
			t.Errorf("%q became %+v", wish, w)
		}
	}

	// One made from another begins where that is.
	p.write(filepath.Join(login.Directory, "b.txt"), "two\n")
	second := p.commit(login.Directory, "second")
	if from := p.add(p.open(login.Directory), "from"); p.git(from.Directory, "rev-parse", "HEAD") != second {
		t.Error("a worktree of a worktree begins elsewhere")
	}
	if got := p.git(p.top, "rev-parse", "HEAD"); got != first || p.git(p.top, "status", "--porcelain") != "" {
		t.Error("the main checkout was touched")
	}
}

func TestAddRefused(t *testing.T) {
	p := newPlace(t)
	if _, err := Open(Options{Root: p.root(p.path("home"))}); !errors.Is(err, ErrNotGit) {
		t.Errorf("outside git: %v", err)
	}
	if _, err := p.open(p.top).Add(t.Context(), "..."); !errors.Is(err, ErrName) {
		t.Errorf("a name of dots: %v", err)
	}
	p.write("empty/.keep", "")
	p.git(p.path("empty"), "init", "-q")
	_, err := p.open(p.path("empty")).Add(t.Context(), "x")
	refused(t, err, "no commit yet")

	p.git(p.top, "branch", "lathe") // in the way of lathe/x
	_, err = p.open(p.top).Add(t.Context(), "x")
	refused(t, err, "lathe")
	p.git(p.top, "branch", "-D", "lathe")

	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("the client is gone")
	cancel(gone)
	if _, err := p.open(p.top).Add(ctx, "x"); !errors.Is(err, gone) {
		t.Errorf("a request that was given up: %v", err)
	}
	if got, err := os.ReadDir(p.dir); err != nil || len(got) != 0 {
		t.Errorf("left behind: %v %v", got, err)
	}
	if got := p.branches(); got != "main" {
		t.Errorf("branches: %s", got)
	}
	if got := Linked(t.Context(), p.root(p.top)); len(got) != 0 {
		t.Errorf("worktrees: %v", got)
	}
}

// Several at once never get the same one.
func TestAddAtOnce(t *testing.T) {
	p := newPlace(t)
	const n = 6
	var wg sync.WaitGroup
	made := make([]Worktree, n)
	errs := make([]error, n)
	for i := range n {
		r := p.open(p.top, func(o *Options) { o.Name = func() string { return string(rune('a' + i)) } })
		wg.Go(func() { made[i], errs[i] = r.Add(t.Context(), "same") })
	}
	wg.Wait()
	seen := map[string]bool{}
	for i, w := range made {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		if seen[w.Directory] {
			t.Errorf("%s was given twice", w.Directory)
		}
		seen[w.Directory] = true
	}
	if got := Linked(t.Context(), p.root(p.top)); len(got) != n {
		t.Errorf("linked: %v", got)
	}
}

// What a repository's own settings name runs only where the repository is trusted,
// and hooks never do; the person's own filters always do.
func TestNothingRuns(t *testing.T) {
	p := newPlace(t)
	ran := func() (names []string) {
		for _, name := range []string{"hook", "mine", "theirs"} {
			if exists(p.path("ran-" + name)) {
				names = append(names, name)
			}
			_ = os.Remove(p.path("ran-" + name))
		}
		return names
	}
	p.write("home/.gitconfig", read(t, p.path("home/.gitconfig"))+"[filter \"mine\"]\n\tsmudge = touch "+p.path("ran-mine")+" && cat\n\tclean = cat\n")
	p.write("repo/.gitattributes", "m.txt filter=mine\nt.txt filter=th.eirs\n")
	p.write("repo/m.txt", "mine\n")
	p.write("repo/t.txt", "theirs\n")
	p.commit(p.top, "attributes")
	hook := filepath.Join(p.top, ".git", "hooks", "post-checkout")
	p.write(hook, "#!/bin/sh\ntouch "+p.path("ran-hook")+"\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"smudge", "clean"} {
		p.git(p.top, "config", "filter.th.eirs."+kind, "touch "+p.path("ran-theirs")+" && cat")
	}
	p.git(p.top, "config", "filter.th.eirs.required", "true")
	p.git(p.top, "config", "core.fsmonitor", "touch "+p.path("ran-hook"))
	ran()
	r := p.open(p.top)
	w := p.add(r, "")
	if diff := cmp.Diff([]string{"mine"}, ran()); diff != "" {
		t.Errorf("ran in an untrusted repository (-want +got):\n%s", diff)
	}
	if got := read(t, filepath.Join(w.Directory, "t.txt")); got != "theirs\n" {
		t.Errorf("t.txt is %q", got)
	}
	p.write(filepath.Join(w.Directory, "t.txt"), "changed\n")
	if kept, err := r.Remove(t.Context(), w.Directory); err != nil || kept == "" {
		t.Errorf("remove: %q, %v", kept, err)
	}
	if got := ran(); slices.Contains(got, "theirs") || slices.Contains(got, "hook") {
		t.Errorf("a removal ran %v", got)
	}
	p.add(p.open(p.top, func(o *Options) { o.Trusted = true }), "")
	if diff := cmp.Diff([]string{"mine", "theirs"}, ran()); diff != "" {
		t.Errorf("ran in a trusted repository (-want +got):\n%s", diff)
	}
	p.git(p.top, "config", "filter.a=b.clean", "touch "+p.path("ran-theirs"))
	w, err := r.Add(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	refused(t, r.Fill(t.Context(), w), "cannot be switched off")
}

func TestLinked(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	a, b := p.add(r, "a"), p.add(r, "b")
	mine := p.path("mine")
	p.git(p.top, "worktree", "add", "-q", mine)
	gone := p.path("gone")
	p.git(p.top, "worktree", "add", "-q", gone)
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	// Entries that lead elsewhere, or nowhere.
	admin := filepath.Join(p.top, ".git", "worktrees")
	p.write(filepath.Join(admin, "main", "gitdir"), filepath.Join(p.top, ".git")+"\n")
	p.write(filepath.Join(admin, "a2", "gitdir"), filepath.Join(a.Directory, ".git")+"\n")
	p.write(filepath.Join(admin, "odd", "gitdir"), "\n")
	p.write(filepath.Join(admin, "file"), "x")
	want := []string{a.Directory, b.Directory, mine}
	slices.Sort(want)
	for _, dir := range []string{p.top, a.Directory} {
		if diff := cmp.Diff(want, Linked(t.Context(), p.root(dir))); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", dir, diff)
		}
	}
	if got := Linked(t.Context(), p.root(p.path("home"))); got != nil {
		t.Errorf("outside git: %v", got)
	}
}

func TestRemove(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	remove := func(w Worktree) string {
		t.Helper()
		kept, err := r.Remove(t.Context(), w.Directory)
		if err != nil {
			t.Fatal(err)
		}
		if exists(w.Directory) {
			t.Errorf("%s is still there", w.Directory)
		}
		return kept
	}
	if kept := remove(p.add(r, "clean")); kept != "" || p.branches() != "main" {
		t.Errorf("kept %q, branches %s", kept, p.branches())
	}

	w := p.add(r, "ahead")
	p.write(filepath.Join(w.Directory, "b.txt"), "two\n")
	tip := p.commit(w.Directory, "more")
	if kept := remove(w); kept != "lathe-kept/ahead-20010909-014640" || p.git(p.top, "rev-parse", kept) != tip {
		t.Errorf("kept %q", kept)
	}

	// The name is free again; two that are kept in one second do not collide.
	w = p.add(r, "ahead")
	p.write(filepath.Join(w.Directory, "a.txt"), "changed\n")
	p.write(filepath.Join(w.Directory, "new", "ünd so.txt"), "fresh\n")
	p.write(filepath.Join(w.Directory, "ignored", "x"), "lost\n")
	if err := os.Remove(filepath.Join(w.Directory, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(w.Directory, ".gitignore"), "ignored/\n")
	p.git(w.Directory, "rm", "-q", "--cached", ".gitignore")
	kept := remove(w)
	if kept != "lathe-kept/ahead-20010909-014640-2" {
		t.Errorf("kept %q", kept)
	}
	if got := p.git(p.top, "-c", "core.quotePath=false", "diff", "--name-status", "main", kept); got != "M\ta.txt\nA\tnew/ünd so.txt" {
		t.Errorf("kept files:\n%s", got)
	}

	// A branch of the person's stays, and needs no copy.
	w = p.add(r, "theirs")
	p.git(w.Directory, "switch", "-q", "-c", "feature")
	tip = p.commit(w.Directory, "on feature")
	if kept := remove(w); kept != "" || p.git(p.top, "rev-parse", "feature") != tip {
		t.Errorf("kept %q", kept)
	}
	// What another branch has needs none either; a commit without a branch does.
	w = p.add(r, "merged")
	p.commit(w.Directory, "merged")
	p.git(p.top, "merge", "-q", "--ff-only", w.Branch)
	if kept := remove(w); kept != "" {
		t.Errorf("kept %q", kept)
	}
	w = p.add(r, "detached")
	p.git(w.Directory, "checkout", "-q", "--detach")
	tip = p.commit(w.Directory, "alone")
	if kept := remove(w); kept == "" || p.git(p.top, "rev-parse", kept) != tip {
		t.Errorf("kept %q", kept)
	}
	if got := Linked(t.Context(), p.root(p.top)); len(got) != 0 {
		t.Errorf("linked: %v", got)
	}
}

func TestRemoveRefused(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	mine, other := p.path("mine"), newPlace(t)
	p.git(p.top, "worktree", "add", "-q", mine)
	foreign := other.add(other.open(other.top, func(o *Options) { o.Dir = p.dir }), "foreign") // in the same directory
	link := filepath.Join(p.dir, "link")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.dir, "plain", "x"), "x")
	w := p.add(r, "w")
	for _, dir := range []string{
		"", "w", ".", p.top, mine, link, p.dir, filepath.Join(p.dir, "plain"), foreign.Directory, filepath.Join(p.dir, "none"),
		filepath.Join(p.dir, "w", ".."), filepath.Join(w.Directory, ".git"), w.Directory + "/../../../repo", "-f", w.Directory + "\x00",
	} {
		for _, do := range []func(context.Context, string) (string, error){r.Remove, r.Reset} {
			_, err := do(t.Context(), dir)
			refused(t, err, "is not a worktree that lathe made")
		}
	}
	p.write(filepath.Join(w.Directory, "nested", "x.txt"), "work\n")
	p.git(filepath.Join(w.Directory, "nested"), "init", "-q")
	for _, do := range []func(context.Context, string) (string, error){r.Remove, r.Reset} {
		_, err := do(t.Context(), w.Directory)
		refused(t, err, "nested/")
	}
	if got := read(t, filepath.Join(w.Directory, "nested", "x.txt")); got != "work\n" {
		t.Errorf("nested/x.txt is %q", got)
	}
	locked := p.add(r, "locked")
	p.git(p.top, "worktree", "lock", locked.Directory)
	_, err := r.Remove(t.Context(), locked.Directory)
	refused(t, err, "locked")
	modules := p.add(r, "modules")
	p.write(filepath.Join(p.root(modules.Directory).GitDir, "modules", "m", "HEAD"), "x")
	_, err = r.Remove(t.Context(), modules.Directory)
	refused(t, err, "submodules")
	for _, dir := range []string{p.top, mine, foreign.Directory, w.Directory, locked.Directory, modules.Directory} {
		if !exists(filepath.Join(dir, "a.txt")) {
			t.Errorf("%s was touched", dir)
		}
	}
}

func TestReset(t *testing.T) {
	up := newPlace(t)
	p := newPlace(t)
	clone := p.path("clone")
	p.git(filepath.Dir(clone), "clone", "-q", up.top, clone)
	p.write("clone/local.txt", "not pushed\n")
	p.commit(clone, "local")
	r := p.open(clone)
	w := p.add(r, "w")
	p.write(filepath.Join(w.Directory, "a.txt"), "changed\n")
	p.write(filepath.Join(w.Directory, "new.txt"), "fresh\n")
	p.write(filepath.Join(w.Directory, "ignored", "x"), "stays\n")
	kept, err := r.Reset(t.Context(), w.Directory)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.git(clone, "diff", "--name-status", "main", kept); got != "M\ta.txt\nA\tnew.txt" {
		t.Errorf("kept files:\n%s", got)
	}
	if p.git(w.Directory, "rev-parse", "HEAD") != p.git(clone, "rev-parse", "origin/main") || p.git(w.Directory, "status", "--porcelain") != "" {
		t.Error("it is not at the remote's branch, or not clean")
	}
	if got := p.git(w.Directory, "branch", "--show-current"); got != w.Branch {
		t.Errorf("it is on %q", got)
	}
	if exists(filepath.Join(w.Directory, "new.txt")) || exists(filepath.Join(w.Directory, "local.txt")) || !exists(filepath.Join(w.Directory, "ignored", "x")) {
		t.Error("the wrong files are there")
	}
	if kept, err := r.Reset(t.Context(), w.Directory); err != nil || kept != "" {
		t.Errorf("again: %q, %v", kept, err)
	}
	p.git(w.Directory, "switch", "-q", "-c", "feature")
	_, err = r.Reset(t.Context(), w.Directory)
	refused(t, err, `"feature"`)
}

// Without a remote it is main or master, loose or packed; else nobody knows.
func TestDefaultBranch(t *testing.T) {
	p := newPlace(t)
	r := p.open(p.top)
	w := p.add(r, "w")
	p.commit(p.top, "newer")
	for _, name := range []string{"main", "master"} {
		p.git(p.top, "branch", "-q", "-m", name)
		for range 2 {
			if _, err := r.Reset(t.Context(), w.Directory); err != nil || p.git(w.Directory, "rev-parse", "HEAD") != p.git(p.top, "rev-parse", name) {
				t.Errorf("%s: %v", name, err)
			}
			if got := DefaultBranch(p.root(w.Directory)); got != name {
				t.Errorf("default branch %q, want %q", got, name)
			}
			p.git(p.top, "pack-refs", "--all")
		}
	}
	p.git(p.top, "branch", "-q", "-m", "trunk")
	_, err := r.Reset(t.Context(), w.Directory)
	refused(t, err, "default branch is not known")
	p.git(p.top, "checkout", "-q", "--detach")
	if got := Branch(p.root(p.top)); got != "" {
		t.Errorf("detached on %q", got)
	}
	if got := Branch(p.root(p.path("home"))) + DefaultBranch(p.root(p.path("home"))); got != "" {
		t.Errorf("outside git: %q", got)
	}
}

// However a checkout is cut short, git can go on with the worktree.
func TestFillCutShort(t *testing.T) {
	p := newPlace(t)
	for i := range 100 {
		p.write("repo/files/"+strings.Repeat("f", i+1), "x\n")
	}
	p.commit(p.top, "files")
	r := p.open(p.top)
	w, err := r.Add(t.Context(), "w")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
		_ = r.Fill(ctx, w) // may well be done
		cancel()
		for _, pattern := range []string{"worktrees/w/*.lock", "refs/heads/lathe/*.lock"} {
			if got, err := filepath.Glob(filepath.Join(p.top, ".git", filepath.FromSlash(pattern))); err != nil || len(got) != 0 {
				t.Fatalf("left behind: %v %v", got, err)
			}
		}
	}
	if err := r.Fill(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if got := p.git(w.Directory, "status", "--porcelain"); got != "" {
		t.Errorf("it is not clean: %s", got)
	}
}

// fails is git for what must not succeed.
func (p *place) fails(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, p.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		p.t.Fatalf("git %v did not fail: %s", args, out)
	}
	return string(out)
}
