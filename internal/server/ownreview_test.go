package server

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/client"
)

// TestStageRoute holds that a face stages what a session changed, and is told why if it cannot.
func TestStageRoute(t *testing.T) {
	r := newRig(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = r.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	write(t, filepath.Join(r.dir, "漢.txt"), "one\ntwo\n")
	git("add", "漢.txt")
	name := filepath.Join(r.dir, "漢.txt")
	model := r.script("turn.txt", fmt.Sprintf("tool edit {\"filePath\":%q,\"oldString\":\"two\",\"newString\":\"zwei\"}\n---\ntext Done.\n", name))
	id := lathe.SessionID(strings.TrimPrefix(r.session(), "/session/"))
	r.ok("POST", "/session/"+string(id)+"/message", promptBody(model, "write"))

	c, err := client.New(client.Options{URL: r.url, Dir: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.Review(t.Context(), id)
	if err != nil || len(list) != 1 || len(list[0].Files) != 1 {
		t.Fatalf("reviewed %+v, %v", list, err)
	}
	in := api.Stage{Message: list[0].Message, Files: []string{"漢.txt"}, Hunk: 1, Change: list[0].Files[0].Key()}
	out, err := c.Stage(t.Context(), id, in)
	if diff := cmp.Diff(api.Staged{Files: []string{"漢.txt"}}, out); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got := git("cat-file", "blob", ":漢.txt"); got != "one\nzwei\n" {
		t.Errorf("the index has %q", got)
	}
	if out, err = c.Stage(t.Context(), id, in); err != nil || !out.Already {
		t.Errorf("again: %+v, %v", out, err)
	}
	in.Files = []string{"../outside.txt"}
	if _, err = c.Stage(t.Context(), id, in); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a file outside: %v", err)
	}
}
