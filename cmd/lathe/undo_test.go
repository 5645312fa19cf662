package main

import (
	"bytes"
	"encoding/json"
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
		r := w.run("session", "revert", id)
		if r.code != 0 && !strings.Contains(r.stderr, "has no prompt") {
			t.Fatalf("%s: revert: exit code %d\n%s", what, r.code, r.stderr)
		}
		if got := tree(); got != start {
			t.Fatalf("%s: after revert:\n%swant:\n%sit said:\n%s%s", what, got, start, r.stdout, r.stderr)
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

// manyChanges has a session change many files, and returns the tree before and
// after that.
func manyChanges(t *testing.T, w *world) (id, start, done string) {
	t.Helper()
	for i := range 150 {
		w.write(fmt.Sprintf("f%03d.txt", i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 50))
	}
	const shell = `for f in f0*.txt; do echo more >> $f; done; rm f1[0-2]*.txt; chmod 600 f13*.txt; mkdir d; for i in $(seq 100); do echo $i > d/$i; done`
	w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":%q,"description":"changes"}`, shell)}}},
		{Blocks: []llmtest.Block{llmtest.Text("done")}},
	})
	start = treeOf(t, w.dir)
	w.must(w.run("run", "work"))
	id, _, _ = strings.Cut(w.must(w.run("session", "list")), " ")
	return id, start, treeOf(t, w.dir)
}

// treeOf is what the files of a directory are.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range filesIn(t, dir) {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(name)
		fmt.Fprintf(&b, "%s %v %q\n", name, info.Mode(), data)
	}
	return b.String()
}

// TestKillRevert kills reverts, unreverts and forks at random moments. What was
// begun can be gone on with or taken back; nothing is half a session.
func TestKillRevert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, start, done := manyChanges(t, w)
	tree := func() string { return treeOf(t, w.dir) }
	began := time.Now()
	w.must(w.run("session", "revert", id))
	span := time.Since(began)
	if tree() != start {
		t.Fatal("the revert does not lead to the start")
	}
	w.must(w.run("session", "unrevert", id))
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	killed := map[string]int{}
	forks := 0
	for n := range killRounds(15) {
		what := []string{"revert", "unrevert", "fork"}[n%3]
		if what == "unrevert" {
			w.must(w.run("session", "revert", id))
		}
		cmd := w.command("session", what, id)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(random.Int64N(int64(span))), func() { _ = cmd.Process.Kill() })
		if w.wait(cmd) < 0 {
			killed[what]++
		}
		kill.Stop()
		what = fmt.Sprintf("seed %d, round %d: %s", seed, n, what)
		sound(t, what, w)
		if n%3 == 2 {
			list := w.must(w.run("session", "list"))
			if now := strings.Count(list, "ses_") - 1; now != forks && now != forks+1 {
				t.Fatalf("%s: %d forks, were %d", what, now, forks)
			} else if now > forks {
				forks = now
				fork, _, _ := strings.Cut(list, " ")
				if r := w.must(w.run("session", "show", fork)); !strings.Contains(r, "done") {
					t.Fatalf("%s: half a fork:\n%s", what, r)
				}
			}
			continue
		}
		if random.IntN(2) == 0 { // on to the end first
			w.must(w.run("session", "revert", id, "--message", firstPrompt(t, w, id)))
			if tree() != start {
				t.Fatalf("%s: the revert cannot be completed", what)
			}
		}
		w.must(w.run("session", "unrevert", id))
		if tree() != done {
			t.Fatalf("%s: the tree did not come back", what)
		}
	}
	t.Logf("killed: %v", killed)
}

// firstPrompt is the first message of a session.
func firstPrompt(t *testing.T, w *world, id string) string {
	t.Helper()
	var doc struct {
		Messages []struct{ Info struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(w.must(w.run("export", id, "--reverted"))), &doc); err != nil || len(doc.Messages) == 0 {
		t.Fatal("no messages", err)
	}
	return doc.Messages[0].Info.ID
}
