package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/session"
)

// TestStage holds that what prompts changed is put into git's index, by hunk, file and prompt;
// that only a change which the person has seen is; and that the session takes no note of it,
// so that no model ever reads it.
func TestStage(t *testing.T) {
	text := strings.Join(strings.Fields("alpha b c d e f g h i j k l m n omega"), "\n") + "\n"
	p := newPlay(t, map[string]string{"repo/sub/a.txt": text}, patcher).open()
	id := p.session()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	p.prompt(id, session.Prompt{}, "swap sub/a.txt alpha first")
	p.prompt(id, session.Prompt{}, "run sed -i -e s/omega/last/ -e s/^b$/second/ sub/a.txt; echo new > new.txt; git mv main.go other.go; git reset -q")
	list, err := p.svc.Undo.Review(t.Context(), id)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d prompts, %v", len(list), err)
	}
	before := p.messages(id)
	file := func(name string) api.ReviewedFile {
		for _, f := range list[1].Files {
			if f.File == name {
				return f
			}
		}
		t.Fatalf("%s is not reviewed: %v", name, told(list))
		return api.ReviewedFile{}
	}
	second := list[1].Message
	stage := func(in api.Stage) api.Staged {
		t.Helper()
		out, err := p.svc.Undo.Stage(t.Context(), id, in)
		if err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
		return out
	}
	refused := func(want string, in api.Stage) {
		t.Helper()
		if _, err := p.svc.Undo.Stage(t.Context(), id, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", in, err, want)
		}
	}

	seen := file("sub/a.txt").Key()
	if out := stage(api.Stage{Message: second, Files: []string{"sub/a.txt"}, Hunk: 2, Change: seen}); out.Already || out.Whole {
		t.Errorf("a hunk: %+v", out)
	}
	if got, want := git("cat-file", "blob", ":sub/a.txt"), strings.Replace(text, "omega", "last", 1); got != want {
		t.Errorf("the index has %q, want %q", got, want)
	}
	stage(api.Stage{Message: second, Files: []string{"sub/a.txt"}, Hunk: 1, Change: seen})
	if got, want := git("cat-file", "blob", ":sub/a.txt"), strings.NewReplacer("omega", "last", "\nb\n", "\nsecond\n").Replace(text); got != want {
		t.Errorf("the index has %q, want %q", got, want)
	}
	if out := stage(api.Stage{Message: second, Files: []string{"new.txt"}, Hunk: 1, Change: file("new.txt").Key()}); !out.Whole {
		t.Errorf("a hunk of a new file: %+v", out)
	}
	refused("no such change", api.Stage{Message: second, Files: []string{"sub/a.txt"}, Hunk: 2, Change: list[0].Files[0].Key()})
	refused("no such change", api.Stage{Message: second, Files: []string{"sub/a.txt"}, Hunk: 2})
	refused("no such change", api.Stage{Message: second, Files: []string{"sub/a.txt"}, Hunk: 3, Change: seen})
	refused("a hunk is one of one file", api.Stage{Message: second, Hunk: 1})
	refused("a hunk is one of one file", api.Stage{Message: second, Files: []string{"new.txt"}, Hunk: -1})
	refused("changed nothing in", api.Stage{Message: second, Files: []string{"../home/x"}})
	refused("changed nothing in", api.Stage{Message: second, Files: []string{".git/config"}})
	refused("no prompt", api.Stage{Message: "msg_none"})

	stage(api.Stage{Message: second, Files: []string{"main.go", "other.go"}})
	between, err := p.svc.Undo.Between(t.Context(), id, list[0].Message, second)
	if err != nil {
		t.Fatal(err)
	}
	git("reset", "-q", "--", "sub/a.txt")
	stage(api.Stage{Message: list[0].Message, Until: second, Files: []string{"sub/a.txt"}, Hunk: 1, Change: between[0].Key()})
	want := "A\tnew.txt\nR100\tmain.go\tother.go\nM\tsub/a.txt\n"
	if diff := cmp.Diff(want, git("diff", "--cached", "--name-status", "-M")); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
	stage(api.Stage{Message: second})
	if got := git("status", "--porcelain"); strings.Contains(got, "M sub/a.txt") && !strings.Contains(got, "M  sub/a.txt") {
		t.Errorf("all of a prompt: %s", got)
	}

	if diff := cmp.Diff(before, p.messages(id)); diff != "" {
		t.Errorf("the session took note of it (-before +now):\n%s", diff)
	}
	if err := os.RemoveAll(filepath.Join(p.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.svc.Undo.Stage(t.Context(), id, api.Stage{Message: second}); err == nil || lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("without a repository: %v", err)
	}
}
