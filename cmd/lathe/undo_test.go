package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// TestKillAndUndo kills runs at random moments while their tools change files.
// Whatever they got done can be taken back afterwards, and brought back.
func TestKillAndUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("notes.txt", "start\n")
	const shell = `echo new > created.txt; sleep 0.01; echo more >> notes.txt; sleep 0.01; chmod 755 notes.txt; mkdir -p d; mv created.txt d/moved.txt`
	script := llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":%q,"description":"changes"}`, shell)}}},
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"rm notes.txt; echo second > d/other.txt; sleep 0.01","description":"changes"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("done")}},
	}
	tree := func() string {
		var b strings.Builder
		for _, name := range []string{"notes.txt", "created.txt", "d/moved.txt", "d/other.txt"} {
			if info, err := os.Lstat(filepath.Join(w.dir, name)); err == nil {
				data, _ := os.ReadFile(filepath.Join(w.dir, name))
				fmt.Fprintf(&b, "%s %v %q\n", name, info.Mode(), data)
			}
		}
		return b.String()
	}
	start := tree()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for n := range 20 {
		what := fmt.Sprintf("seed %d, run %d", seed, n)
		w.model("anthropic", script)
		cmd := w.command("run", "work")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(250*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		w.wait(cmd)
		kill.Stop()
		for settled := ""; settled != tree(); time.Sleep(30 * time.Millisecond) { // commands of the killed run end
			settled = tree()
		}
		id, _, _ := strings.Cut(w.must(w.run("session", "list")), " ")
		if id == "" { // killed before there was a session
			continue
		}
		changed := tree()
		if r := w.run("session", "revert", id); r.code != 0 && !strings.Contains(r.stderr, "has no prompt") {
			t.Fatalf("%s: revert: exit code %d\n%s", what, r.code, r.stderr)
		}
		if got := tree(); got != start {
			t.Fatalf("%s: after revert:\n%swant:\n%s", what, got, start)
		}
		w.must(w.run("session", "unrevert", id))
		if got := tree(); got != changed {
			t.Fatalf("%s: after unrevert:\n%swant:\n%s", what, got, changed)
		}
		if r := w.run("session", "revert", id); r.code != 0 && !strings.Contains(r.stderr, "has no prompt") {
			t.Fatalf("%s: revert: exit code %d\n%s", what, r.code, r.stderr)
		}
		w.must(w.run("session", "delete", id))
		sound(t, what, w)
	}
}
