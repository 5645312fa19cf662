package review

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/diff"
	"lathe/internal/tui/dialog"
)

// repo is a git repository with one commit.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, files map[string]string, config ...string) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r := &repo{t, t.TempDir()}
	r.git("init", "-q")
	for _, c := range append([]string{"user.name=a", "user.email=a@b.c", "core.quotePath=false"}, config...) {
		name, value, _ := strings.Cut(c, "=")
		r.git("config", name, value)
	}
	for name, text := range files {
		r.write(name, text)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	return r
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) remove(name string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// run runs a command of the review as a session does, below the top of the repository.
func (r *repo) run(command string) (string, error) {
	r.t.Helper()
	below := filepath.Join(r.dir, "sub")
	if err := os.MkdirAll(below, 0o777); err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = below
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func modified(name, before, after string) api.ReviewedFile {
	return api.ReviewedFile{File: name, Before: before, After: after, Status: "modified"}
}

// TestStagedFiles holds that whole files are staged as they are, with real git.
func TestStagedFiles(t *testing.T) {
	r := newRepo(t, map[string]string{"old.txt": "1\n2\n3\n", "a[1].txt": "x\n", "a1.txt": "other\n", "gone.txt": "g\n", "dir": "a file\n", "it's.txt": "i\n", "漢.bin": "\x00\x01", "left.txt": "l\n"})
	r.git("mv", "old.txt", "new.txt")
	r.write("a[1].txt", "y\n")
	r.write("a1.txt", "not asked for\n")
	r.remove("gone.txt")
	r.remove("dir")
	r.write("dir/in.txt", "now below a directory\n")
	r.write("it's.txt", "j\n")
	r.write("漢.bin", "\x00\x02")
	r.write("untracked.txt", "u\n")
	r.write("-n", "a name like an option\n")
	r.write("left.txt", "changed, and not asked for\n")
	var files []api.ReviewedFile
	for _, name := range []string{"old.txt", "new.txt", "a[1].txt", "gone.txt", "dir", "dir/in.txt", "it's.txt", "漢.bin", "untracked.txt", "-n", "came and went.txt"} {
		files = append(files, api.ReviewedFile{File: name})
	}
	if out, err := r.run(stageFiles(files)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := strings.Join([]string{"A\t-n", "M\ta[1].txt", "D\tdir", "A\tdir/in.txt", "D\tgone.txt", "M\tit's.txt", "R100\told.txt\tnew.txt", "A\tuntracked.txt", "M\t漢.bin", ""}, "\n")
	if diff := cmp.Diff(want, r.git("diff", "--cached", "--name-status", "-M")); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
}

// TestStagedHunk holds that one hunk is staged and nothing else, whatever the file is like.
func TestStagedHunk(t *testing.T) {
	long := func(end string) string { return strings.Join(strings.Fields("a b c d e f g h i j k l m n o p"), end) }
	for _, c := range []struct {
		name, file, before, after string
		hunk                      int
		config                    []string
		want                      string // what the index has; "": as asked for
	}{
		{name: "the first of two", file: "a.txt", before: long("\n") + "\n", after: strings.NewReplacer("b\n", "B\n", "o\n", "O\n").Replace(long("\n") + "\n"), want: strings.Replace(long("\n")+"\n", "b\n", "B\n", 1)},
		{name: "no line end at the end", file: "a.txt", before: long("\n"), after: long("\n") + "!", want: long("\n") + "!"},
		{name: "a line end that is new", file: "a.txt", before: long("\n"), after: long("\n") + "\n", want: long("\n") + "\n"},
		{name: "lines at the beginning", file: "a.txt", before: "a\n", after: "0\na\n", want: "0\na\n"},
		{name: "all lines gone", file: "a.txt", before: "a\n", after: "", want: ""},
		{name: "CRLF as it is", file: "a.txt", before: long("\r\n") + "\r\n", after: strings.Replace(long("\r\n")+"\r\n", "b", "B", 1), want: strings.Replace(long("\r\n")+"\r\n", "b", "B", 1)},
		{name: "CRLF that git keeps as LF", file: "a.txt", before: long("\r\n") + "\r\n", after: strings.Replace(long("\r\n")+"\r\n", "b", "B", 1), config: []string{"core.autocrlf=true", "core.safecrlf=false"}, want: strings.Replace(long("\n")+"\n", "b", "B", 1)},
		{name: "a name with signs", file: "it's \"a\"\t漢\\.txt", before: "a\n", after: "b\n", want: "b\n"},
		{name: "text like the end of the patch", file: "a.txt", before: "a\n", after: "LATHE_PATCH\n$(touch x) `y`\n", want: "LATHE_PATCH\n$(touch x) `y`\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t, map[string]string{c.file: c.before, "other.txt": "1\n"}, c.config...)
			r.write(c.file, c.after)
			r.write("other.txt", "2\n")
			f := modified(c.file, c.before, c.after)
			if out, err := r.run(stageHunk(f, diff.Hunks(f.Before, f.After, 0)[c.hunk])); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if diff := cmp.Diff(c.want, r.git("cat-file", "blob", ":"+c.file)); diff != "" {
				t.Errorf("the index (-want +got):\n%s", diff)
			}
			if got := r.git("diff", "--cached", "--name-only", "-z"); got != c.file+"\x00" {
				t.Errorf("staged %q", got)
			}
		})
	}
}

// TestStagingTold holds that what git refuses is told in its words, and that nothing is said
// to be staged before it is.
func TestStagingTold(t *testing.T) {
	r := New(nil)
	r.stages("stage it", "staged hunk 1")
	input, _ := json.Marshal(map[string]string{"command": "stage it"})
	other, _ := json.Marshal(map[string]string{"command": "another"})
	part := func(state lathe.ToolState) lathe.Part {
		return lathe.Part{Body: &lathe.ToolCall{Tool: "bash", State: state}}
	}
	for _, p := range []lathe.Part{
		part(&lathe.ToolRunning{Input: input}),
		part(&lathe.ToolDone{Input: other, Metadata: map[string]any{"exit": 0}}),
		{Body: &lathe.Text{Text: "stage it"}},
	} {
		if tell, ok := r.Ended(p); ok {
			t.Errorf("said %q too early", tell.Text)
		}
	}
	done := part(&lathe.ToolDone{Input: input, Metadata: map[string]any{"exit": 0}})
	got, ok := r.Ended(done)
	if diff := cmp.Diff(dialog.Tell{Text: "staged hunk 1"}, got); diff != "" || !ok {
		t.Errorf("told %t (-want +got):\n%s", ok, diff)
	}
	if _, again := r.Ended(done); again {
		t.Error("told twice")
	}
	r.stages("stage it", "staged hunk 1")
	got, _ = r.Ended(part(&lathe.ToolDone{Input: input, Output: "error: a.txt: does not exist in index\nmore", Metadata: map[string]any{"exit": 1.0}}))
	if diff := cmp.Diff(dialog.Tell{Kind: dialog.Failure, Text: "git did not stage it: a.txt: does not exist in index"}, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if tell, ok := r.stages(strings.Repeat("x", longest+1), "").(dialog.Tell); !ok || tell.Kind != dialog.Warning {
		t.Errorf("too much: %v", tell)
	}
}
