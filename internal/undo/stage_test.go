package undo

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// checkout is a git repository with one commit.
type checkout struct {
	t   *testing.T
	dir string
	env []string
}

func newCheckout(t *testing.T, files map[string]string, config ...string) *checkout {
	t.Helper()
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &checkout{t, dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}}
	c.git("init", "-q")
	for _, s := range append([]string{"user.name=a", "user.email=a@b.c", "core.quotePath=false"}, config...) {
		name, value, _ := strings.Cut(s, "=")
		c.git("config", name, value)
	}
	for name, text := range files {
		c.write(name, text)
	}
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", "first")
	return c
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// repo is the repository as lathe runs git in it.
func (c *checkout) repo(trusted bool) *worktree.Repo {
	c.t.Helper()
	root, err := workspace.Find(c.t.Context(), c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := worktree.Open(worktree.Options{Root: root, Environ: c.env, Trusted: trusted})
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// hunk stages a hunk of a file that was changed.
func (c *checkout) hunk(name, before, after string, hunk int) (already bool, err error) {
	file := api.ReviewedFile{File: name, Before: before, After: after, Status: "modified"}
	return staging{c.repo(true), c.dir, file, hunk}.stage(c.t.Context())
}

// TestStagedHunk holds that one hunk is staged and nothing else, whatever the file is like.
func TestStagedHunk(t *testing.T) {
	long := func(end string) string { return strings.Join(strings.Fields("a b c d e f g h i j k l m n o p"), end) }
	two := strings.NewReplacer("b\n", "B\n", "o\n", "O\n").Replace(long("\n") + "\n")
	crlf := long("\r\n") + "\r\n"
	for _, c := range []struct {
		name, file, before, after string
		hunk                      int
		config                    []string
		committed, since          string // the file as git has it, and as it became afterwards; "": as before and after
		want                      string
	}{
		{name: "the first of two", before: long("\n") + "\n", after: two, hunk: 1, want: strings.Replace(long("\n")+"\n", "b\n", "B\n", 1)},
		{name: "the second of two", before: long("\n") + "\n", after: two, hunk: 2, want: strings.Replace(long("\n")+"\n", "o\n", "O\n", 1)},
		{name: "no line end at the end", before: long("\n"), after: long("\n") + "!", hunk: 1, want: long("\n") + "!"},
		{name: "a line end that is new", before: long("\n"), after: long("\n") + "\n", hunk: 1, want: long("\n") + "\n"},
		{name: "a line end that is gone", before: long("\n") + "\n", after: long("\n"), hunk: 1, want: long("\n")},
		{name: "lines at the beginning", before: "a\n", after: "0\na\n", hunk: 1, want: "0\na\n"},
		{name: "all lines gone", before: "a\n", after: "", hunk: 1, want: ""},
		{name: "CRLF as it is", before: crlf, after: strings.Replace(crlf, "b", "B", 1), hunk: 1, want: strings.Replace(crlf, "b", "B", 1)},
		{name: "CRLF that git keeps as LF", before: crlf, after: strings.Replace(crlf, "b", "B", 1), hunk: 1, config: []string{"core.autocrlf=true", "core.safecrlf=false"}, want: strings.Replace(long("\n")+"\n", "b", "B", 1)},
		{name: "a name with signs", file: "it's \"a\"\t漢\\.txt", before: "a\n", after: "b\n", hunk: 1, want: "b\n"},
		{name: "a name like an option", file: "-R", before: "a\n", after: "b\n", hunk: 1, want: "b\n"},
		{name: "a name like a pattern", file: ":(top)[a]*.txt", before: "a\n", after: "b\n", hunk: 1, want: "b\n"},
		{name: "elsewhere another prompt changed it before", committed: strings.Replace(long("\n")+"\n", "k\n", "", 1), before: long("\n") + "\n", after: two, hunk: 2,
			want: strings.NewReplacer("k\n", "", "o\n", "O\n").Replace(long("\n") + "\n")},
		{name: "and since", before: long("\n") + "\n", after: two, since: "new\n" + two, hunk: 2, want: strings.Replace(long("\n")+"\n", "o\n", "O\n", 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.file == "" {
				c.file = "a.txt"
			}
			git := c.before
			if c.committed != "" {
				git = c.committed
			}
			r := newCheckout(t, map[string]string{c.file: git, "other.txt": "1\n"}, append(c.config, "apply.ignoreWhitespace=change", "apply.whitespace=error")...)
			now := c.after
			if c.since != "" {
				now = c.since
			}
			r.write(c.file, now)
			r.write("other.txt", "2\n")
			if already, err := r.hunk(c.file, c.before, c.after, c.hunk); err != nil || already {
				t.Fatalf("already %t, %v", already, err)
			}
			if diff := cmp.Diff(c.want, r.git("cat-file", "blob", ":./"+c.file)); diff != "" {
				t.Errorf("the index (-want +got):\n%s", diff)
			}
			if got := r.git("diff", "--cached", "--name-only", "-z"); got != c.file+"\x00" {
				t.Errorf("staged %q", got)
			}
			if already, err := r.hunk(c.file, c.before, c.after, c.hunk); err != nil || !already {
				t.Errorf("again: already %t, %v", already, err)
			}
		})
	}
}

// TestHunkNotStaged holds that nothing is staged where that would not be what the person saw,
// and that they are told why.
func TestHunkNotStaged(t *testing.T) {
	before, after := numbered(1, 20), numbered(1, 20, "5", "five", "15", "fifteen")
	for name, c := range map[string]struct {
		prepare func(r *checkout)
		want    string
	}{
		"its lines were changed again": {func(r *checkout) { r.write("a.txt", strings.Replace(after, "five", "fünf", 1)) }, "were changed again since"},
		"the file is gone":             {func(r *checkout) { _ = os.Remove(filepath.Join(r.dir, "a.txt")) }, "is gone since"},
		"a link stands there": {func(r *checkout) {
			_ = os.Remove(filepath.Join(r.dir, "a.txt"))
			_ = os.Symlink("/etc/passwd", filepath.Join(r.dir, "a.txt"))
		}, "is no file with lines any more"},
		"the index has other lines": {func(r *checkout) {
			r.write("a.txt", numbered(1, 20, "5", "5 and more"))
			r.git("add", "a.txt")
			r.write("a.txt", after)
		}, "git has other lines"},
		"git does not know it": {func(r *checkout) { r.git("rm", "-q", "--cached", "a.txt") }, "git has no text of"},
		"a merge left conflicts": {func(r *checkout) {
			blob := strings.TrimSpace(r.git("rev-parse", ":a.txt"))
			r.git("rm", "-q", "--cached", "a.txt")
			cmd := exec.Command("git", "update-index", "--index-info")
			cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, strings.NewReader("100644 "+blob+" 1\ta.txt\n100644 "+blob+" 2\ta.txt\n")
			if out, err := cmd.CombinedOutput(); err != nil {
				r.t.Fatalf("%v\n%s", err, out)
			}
		}, "conflicts of a merge"},
		"another git holds the index": {func(r *checkout) { r.write(".git/index.lock", "") }, "another git is changing the index"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCheckout(t, map[string]string{"a.txt": before})
			r.write("a.txt", after)
			c.prepare(r)
			index := r.git("ls-files", "--stage")
			_, err := r.hunk("a.txt", before, after, 1)
			if err == nil || !strings.Contains(err.Error(), c.want) || lathe.CodeOf(err) == lathe.CodeInternal {
				t.Errorf("told %v, want %q", err, c.want)
			}
			if diff := cmp.Diff(index, r.git("ls-files", "--stage")); diff != "" {
				t.Errorf("the index (-before +now):\n%s", diff)
			}
		})
	}
}

// TestStagedFiles holds that whole files are staged as they are.
func TestStagedFiles(t *testing.T) {
	r := newCheckout(t, map[string]string{"old.txt": "1\n2\n3\n", "a[1].txt": "x\n", "a1.txt": "other\n", "gone.txt": "g\n", "dir": "a file\n", "it's.txt": "i\n", "漢.bin": "\x00\x01", "left.txt": "l\n"})
	r.git("mv", "old.txt", "new.txt")
	r.write("a[1].txt", "y\n")
	r.write("a1.txt", "not asked for\n")
	for _, name := range []string{"gone.txt", "dir"} {
		if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r.write("dir/in.txt", "now below a directory\n")
	r.write("it's.txt", "j\n")
	r.write("漢.bin", "\x00\x02")
	r.write("untracked.txt", "u\n")
	r.write("-n", "a name like an option\n")
	r.write("left.txt", "changed, and not asked for\n")
	names := []string{"old.txt", "new.txt", "a[1].txt", "gone.txt", "dir", "dir/in.txt", "it's.txt", "漢.bin", "untracked.txt", "-n", "came and went.txt"}
	if err := r.repo(true).Stage(t.Context(), r.dir, names); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"A\t-n", "M\ta[1].txt", "D\tdir", "A\tdir/in.txt", "D\tgone.txt", "M\tit's.txt", "R100\told.txt\tnew.txt", "A\tuntracked.txt", "M\t漢.bin", ""}, "\n")
	if diff := cmp.Diff(want, r.git("diff", "--cached", "--name-status", "-M")); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
	r.write(".git/index.lock", "")
	if err := r.repo(true).Stage(t.Context(), r.dir, []string{"left.txt"}); lathe.CodeOf(err) != lathe.CodeBusy {
		t.Errorf("with a locked index: %v", err)
	}
}

// TestStagedOutside holds that nothing outside the repository is staged by way of a link.
func TestStagedOutside(t *testing.T) {
	r := newCheckout(t, map[string]string{"a.txt": "1\n"})
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(r.dir, "way")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"way/key", "../" + filepath.Base(secret) + "/key", filepath.Join(secret, "key"), ".git/config"} {
		_ = r.repo(true).Stage(t.Context(), r.dir, []string{name}) // git refuses it, or knows of no such file
	}
	if got := r.git("diff", "--cached", "--name-only"); got != "" {
		t.Errorf("staged %q", got)
	}
}

// TestStagedFilter holds that a file which needs a filter of a repository that is not trusted
// is refused, since it would be staged as it is not meant to be; others are staged.
func TestStagedFilter(t *testing.T) {
	r := newCheckout(t, map[string]string{".gitattributes": "*.up filter=up\n"}, "filter.up.clean=tr a-z A-Z")
	r.write("b.up", "b\n")
	r.write("c.txt", "c\n")
	if err := r.repo(false).Stage(t.Context(), r.dir, []string{"b.up"}); err == nil || !strings.Contains(err.Error(), "not trusted") {
		t.Errorf("not trusted: %v", err)
	}
	if err := r.repo(false).Stage(t.Context(), r.dir, []string{"c.txt"}); err != nil {
		t.Errorf("without a filter: %v", err)
	}
	if err := r.repo(true).Stage(t.Context(), r.dir, []string{"b.up"}); err != nil || r.git("cat-file", "blob", ":b.up") != "B\n" {
		t.Errorf("trusted: %v", err)
	}
}
