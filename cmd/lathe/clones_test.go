package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// upstream is a git repository elsewhere that workers clone.
type upstream struct {
	w              *world
	bare, checkout string
}

func newUpstream(w *world) upstream {
	w.t.Helper()
	dir := w.t.TempDir()
	u := upstream{w, filepath.Join(dir, "app.git"), filepath.Join(dir, "checkout")}
	u.git(dir, "init", "-q", "--bare", "-b", "main", u.bare)
	u.git(dir, "clone", "-q", u.bare, u.checkout)
	u.git(u.checkout, "checkout", "-q", "-b", "main")
	u.push("here.txt", "the first commit\n")
	return u
}

func (u upstream) git(dir string, args ...string) {
	u.w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir, cmd.Env = dir, append([]string{"GIT_CONFIG_NOSYSTEM=1"}, u.w.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		u.w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (u upstream) push(name, text string) {
	u.w.t.Helper()
	u.w.write(filepath.Join(u.checkout, name), text)
	u.git(u.checkout, "add", "-A")
	u.git(u.checkout, "commit", "-q", "-m", text)
	u.git(u.checkout, "push", "-q", "origin", "main")
}

// cloning starts a worker that clones the repository, and returns where the clone is.
func (u upstream) cloning(name, store string, more ...string) (p *peer, dir string) {
	u.w.t.Helper()
	p, line := u.w.machine(name, append([]string{"worker", "--store", store, "--clone", u.bare}, more...)...)
	_, offered, ok := strings.Cut(strings.TrimSpace(line), "lathe worker offers ")
	if !ok {
		u.w.t.Fatalf("the worker says %q", line)
	}
	dir, _, _ = strings.Cut(offered, ", ")
	return p, dir
}

// A server without the repository starts sessions in the clone of a worker, from what is new
// there, and in worktrees of it.
func TestWorkerClones(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	look := llmtest.Call{Name: "bash", Args: `{"command":"cat here.txt; echo mine > mine.txt","description":"look"}`}
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{look}}, {Blocks: []llmtest.Block{llmtest.Text("seen in the clone")}},
		{Blocks: []llmtest.Block{look}}, {Blocks: []llmtest.Block{llmtest.Text("seen in the worktree")}},
	})
	u := newUpstream(w)
	worker, clone := u.cloning("worker", store)
	front := w.peer("front", store, "--workers-only")
	var all struct {
		Workers []struct{ Remotes map[string]string }
	}
	if err := json.Unmarshal(front.call("GET", "/lathe/workers", ""), &all); err != nil || len(all.Workers) != 1 || all.Workers[0].Remotes[clone] != u.bare {
		t.Errorf("the workers are %+v, %v", all, err)
	}
	inside := func(dir, says, commit string) {
		t.Helper()
		w.dir = dir
		id := front.session(allowBash)
		if answer := string(front.call("POST", "/session/"+id+"/message", promptBody("go"))); !strings.Contains(answer, says) {
			t.Errorf("answered %s", answer)
		}
		if messages := string(front.call("GET", "/session/"+id+"/message", "")); !strings.Contains(messages, commit) {
			t.Errorf("the tool's output is not in %s", messages)
		}
		if made, err := os.ReadFile(filepath.Join(dir, "mine.txt")); string(made) != "mine\n" {
			t.Errorf("made is %q, %v", made, err)
		}
	}
	u.push("here.txt", "the second commit\n")
	inside(clone, "seen in the clone", "the second commit")
	u.push("here.txt", "the third commit\n")

	var made struct{ Directory string }
	if err := json.Unmarshal(front.call("POST", "/experimental/worktree", "{}"), &made); err != nil || !strings.HasPrefix(made.Directory, clone+".worktrees/") {
		t.Fatalf("the worktree is %+v, %v", made, err)
	}
	waitFor(t, func() bool { _, err := os.Stat(filepath.Join(made.Directory, "here.txt")); return err == nil })
	inside(made.Directory, "seen in the worktree", "the third commit")
	worker.kill()
	if _, again := u.cloning("worker", store); again != clone {
		t.Errorf("started again, the worker offers %s", again)
	}
	accepted(t, model)
}

// A turn in a clone whose worker is killed goes on with another that has the same clone, if
// its files are those of the last step; else it stays interrupted, and that is told.
func TestKilledTurnInACloneGoesOn(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]bool{"same files": false, "other files": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := pgtest.Schema(t)
			w := newWorld(t)
			outside, clones := t.TempDir(), t.TempDir()
			model := w.model("anthropic", llmtest.Script{
				{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo one > one","description":"write"}`}}},
				{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"echo x >> %[1]s/runs; touch %[1]s/began; sleep 1000","description":"wait"}`, outside)}}},
				{Blocks: []llmtest.Block{llmtest.Text("gone on with it")}},
			})
			config := filepath.Join(w.home, "config", "lathe.json")
			raw, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			w.write(config, `{"resume":"auto","sandbox":"off",`+strings.TrimPrefix(strings.TrimSpace(string(raw)), "{"))
			u := newUpstream(w)
			first, clone := u.cloning("first", store, "--clone-dir", clones)
			w.dir = clone
			front := w.peer("front", store, "--workers-only")
			answered := front.asks(front.session(`[{"permission":"*","pattern":"*","action":"allow"}]`))
			waitFor(t, func() bool { _, err := os.Stat(filepath.Join(outside, "began")); return err == nil })
			u.push("here.txt", "new while a turn runs\n")
			front.session(allowBash) // which fetches, and must not change the files of the turn
			if _, same := u.cloning("second", store, "--clone-dir", clones); same != clone {
				t.Fatalf("the second worker offers %s", same)
			}
			first.kill()
			want := "gone on with it"
			if changed {
				w.write("one", "somebody else's")
				want = "MessageAbortedError"
			}
			if answer := soon(t, answered); !strings.Contains(answer, want) {
				t.Errorf("answered %s", answer)
			}
			if runs, err := os.ReadFile(filepath.Join(outside, "runs")); string(runs) != "x\n" {
				t.Errorf("the command ran: %q, %v", runs, err)
			}
			accepted(t, model)
		})
	}
}

// A worker that is stopped while it clones stops git and leaves no part of a clone.
func TestWorkerIsStoppedWhileItClones(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	clones := t.TempDir()
	cmd := w.command("worker", "--store", "postgres://x@127.0.0.1:1/x", "--clone", "git://"+silent.Addr().String()+"/app.git", "--clone-dir", clones)
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "cloning git://") {
		t.Errorf("the worker says %q, %v", line, err)
	}
	conn, err := silent.Accept() // git is there, and waits for an answer
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was stopped
	left, err := filepath.Glob(filepath.Join(clones, ".app-*.part-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left are %q, %v", left, err)
	}
}
