package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// git runs git in a world's directory and returns what it printed.
func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
	cmd.Dir, cmd.Env = w.dir, append(w.env, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// TestKillHelpers holds that ten subagents which change the same line, killed with lathe in
// the middle of their work, lose none of it: all of it is in their worktrees, and each of them
// can be merged, or conflicts and stays on its branch. The next prompt tells of all ten.
func TestKillHelpers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	const helpers = 10
	w := newWorld(t)
	w.write("shared.txt", "first\nsame\nlast\n")
	w.git("init", "-q")
	w.git("add", ".")
	w.git("commit", "-q", "-m", "first")
	script := filepath.Join(filepath.Dir(w.dir), "script.txt")
	w.write(filepath.Join(w.home, "config", "lathe.json"), fmt.Sprintf(`{"model": "script/%s", "subagent_limit": %d}`, script, helpers))
	var s strings.Builder
	s.WriteString("times 99\nwhen GOAL\n")
	for i := range helpers {
		fmt.Fprintf(&s, "tool task {\"description\":\"helper %d\",\"prompt\":\"HELPER<%d>\",\"subagent_type\":\"general\",\"background\":true,\"worktree\":true}\n", i, i)
	}
	for i := range helpers {
		fmt.Fprintf(&s, "---\ntimes 99\nwhen HELPER<%d>\ntool bash {\"command\":\"printf 'first\\\\nby %d\\\\nlast\\\\n' > shared.txt; echo %d > own-%d.txt; sleep 600\",\"description\":\"works\"}\n", i, i, i, i)
	}
	s.WriteString("---\ntimes 99\ntext ok\n")
	w.write(script, s.String())
	cmd := w.command("run", "--permission", "allow", "GOAL")
	var says bytes.Buffer
	cmd.Stderr = &says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// A shell makes the file before echo fills it: only a file with text has been written.
	wrote := func() int {
		all, _ := filepath.Glob(filepath.Join(w.home, "data", "worktree", "*", "*", "own-*.txt"))
		full := 0
		for _, f := range all {
			if st, err := os.Stat(f); err == nil && st.Size() > 0 {
				full++
			}
		}
		return full
	}
	for deadline := time.Now().Add(2 * time.Minute); wrote() < helpers; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			w.wait(cmd)
			t.Fatalf("%d of %d helpers have written:\n%s", wrote(), helpers, says.String())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.wait(cmd)
	if list := w.must(w.run("worktree", "list")); strings.Count(list, "2 files") != helpers {
		t.Errorf("worktrees after the kill:\n%s", list)
	}
	merged := 0
	for i := range helpers {
		name := fmt.Sprintf("helper-%d", i)
		r := w.run("worktree", "merge", name)
		if r.code == 0 {
			merged++
		} else if want := fmt.Sprintf("by %d\n>>>>>>> lathe/%s", i, name); !strings.Contains(r.stderr, want) {
			t.Errorf("merge of %s: exit code %d\n%s", name, r.code, r.stderr)
		}
		if got := w.git("show", "lathe/"+name+":shared.txt"); got != fmt.Sprintf("first\nby %d\nlast\n", i) {
			t.Errorf("branch of %s: %q", name, got)
		}
		if got, err := os.ReadFile(filepath.Join(w.dir, fmt.Sprintf("own-%d.txt", i))); err != nil || string(got) != fmt.Sprintf("%d\n", i) {
			t.Errorf("own file of %s: %q, %v", name, got, err)
		}
	}
	if merged != 1 {
		t.Errorf("%d were merged without a conflict, want 1", merged)
	}
	id := strings.Fields(w.must(w.run("session", "tree")))[0]
	w.must(w.run("run", "-s", id, "go on"))
	if told := w.must(w.run("export", id)); strings.Count(told, "worked in the background, has ended") != helpers {
		t.Errorf("the next prompt told of %d helpers, want %d", strings.Count(told, "worked in the background, has ended"), helpers)
	}
}
