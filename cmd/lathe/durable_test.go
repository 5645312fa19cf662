package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
)

// killRounds is how often a test of crashes tries; LATHE_KILL_ROUNDS=300 lets it
// try more often.
func killRounds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("LATHE_KILL_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return usual
}

// compactingScript is work that grows too long for the model, so that a
// compaction follows.
func compactingScript(w *world, n int) llmtest.Script {
	write := llmtest.Call{Name: "write", Args: fmt.Sprintf(`{"filePath":%q,"content":"round %d\n"}`, filepath.Join(w.dir, fmt.Sprintf("made%d.txt", n)), n)}
	log := llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"echo %d >> log; seq 1 6000","description":"log"}`, n)}
	words := llmtest.Text(strings.Repeat("many words stream by ", 100))
	return llmtest.Script{
		{Blocks: []llmtest.Block{words, write, log}},
		{Blocks: []llmtest.Block{log}},
		{Status: 400, Message: "prompt is too long: 250000 tokens > 200000 maximum"},
		{Blocks: []llmtest.Block{llmtest.Text("## Summary\nThe files were made.\n" + strings.Repeat("a fact. ", 50))}},
		{Blocks: []llmtest.Block{log}},
		{Blocks: []llmtest.Block{words}},
		{Blocks: []llmtest.Block{words}},
		{Blocks: []llmtest.Block{words}},
	}
}

// remembered fails the test unless all that a run told of its parts is stored.
func remembered(t *testing.T, what string, w *world, told string) {
	t.Helper()
	stored := map[string]string{}
	for line := range strings.Lines(told) {
		var ev struct {
			Type, SessionID string
			Part            struct {
				ID, MessageID, Type, Text string
				State                     struct{ Status string }
			}
		}
		if json.Unmarshal([]byte(line), &ev) != nil || ev.Part.ID == "" {
			continue // the last line may be cut off
		}
		if _, read := stored[ev.SessionID]; !read {
			stored[ev.SessionID] = w.must(w.run("export", ev.SessionID))
		}
		all := stored[ev.SessionID]
		text, _ := json.Marshal(ev.Part.Text)
		if !strings.Contains(all, `"id": "`+ev.Part.ID+`"`) || ev.Part.Text != "" && !strings.Contains(all, string(text)) {
			t.Errorf("%s: %s %s was told and is lost", what, ev.Type, ev.Part.ID)
		}
	}
}

// openCodeStore writes sessions as OpenCode keeps them in files.
func openCodeStore(t *testing.T, sessions, messages int) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, format string, args ...any) {
		path := filepath.Join(dir, "storage", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("project/pr.json", `{"id":"pr","worktree":"/w","vcs":"git","time":{"created":1,"updated":2}}`)
	for s := range sessions {
		ses := fmt.Sprintf("ses_%04d", s)
		put("session/pr/"+ses+".json", `{"id":%q,"slug":"s","version":"1.1.34","projectID":"pr","directory":"/w","title":"T %d","time":{"created":1000,"updated":4000}}`, ses, s)
		for m := range messages {
			id := fmt.Sprintf("msg_%04d_%04d", s, m)
			put("message/"+ses+"/"+id+".json", `{"id":%q,"sessionID":%q,"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"p","modelID":"m"}}`, id, ses, 1000+m)
			put("part/"+id+"/prt_"+id+".json", `{"id":%q,"sessionID":%q,"messageID":%q,"type":"text","text":%q}`, "prt_"+id, ses, id, strings.Repeat("said ", 200))
		}
	}
	return dir
}

// wholeImport imports again, after attempts that were cut off, and expects all.
func wholeImport(t *testing.T, w *world, dir string) {
	t.Helper()
	w.must(w.run("import", dir))
	if out := w.must(w.run("import", dir)); !strings.Contains(out, "stored: 0 added, 0 updated") {
		t.Errorf("the import was not complete:\n%s", out)
	}
}

// TestKillDurable kills processes that compact, import and make the database, at
// random moments, and reads what they had told until then.
func TestKillDurable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	foreign := openCodeStore(t, 40, 6)
	w.model("anthropic", compactingScript(w, 0))
	began := time.Now()
	r := w.run("run", "--format", "json", "work")
	w.must(r)
	span := time.Since(began)
	id, _, _ := strings.Cut(w.must(w.run("session", "list")), " ")
	if !strings.Contains(w.must(w.run("export", id)), `"type": "compaction"`) {
		t.Fatalf("the script does not lead to a compaction:\n%s%s", r.stdout, r.stderr)
	}
	remembered(t, "whole run", w, r.stdout)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	killed := map[string]int{}
	for n := range killRounds(48) {
		work, at := "compact", w
		args := []string{"run", "--format", "json", "work"}
		switch n % 4 {
		case 2:
			work, at, args = "import", newWorld(t), []string{"import", foreign}
		case 3:
			work, at, args = "migrate", newWorld(t), []string{"session", "list"}
		}
		moment := time.Duration(random.Int64N(int64(span)))
		if work == "migrate" {
			moment /= 8
		}
		what := fmt.Sprintf("seed %d, round %d: %s killed after %s", seed, n, work, moment)
		at.model("anthropic", compactingScript(at, n))
		cmd := at.command(args...)
		var told bytes.Buffer
		cmd.Stdout = &told
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
		if at.wait(cmd) < 0 {
			killed[work]++
		}
		kill.Stop()
		at.must(at.run("session", "list"))
		sound(t, what, at)
		switch work {
		case "compact":
			remembered(t, what, at, told.String())
		case "import":
			wholeImport(t, at, foreign)
		}
		s := at.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
		if r := at.run("run", "-c", "go on"); r.code != 0 || r.stdout != "resumed\n" {
			t.Fatalf("%s: the next run: exit code %d, answer %q\n%s", what, r.code, r.stdout, r.stderr)
		}
		accepted(t, s)
	}
	t.Logf("killed: %v", killed)
}

// TestFirstStartsAtOnce holds that several processes can make the database at the same moment.
func TestFirstStartsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("anthropic", nil)
	for range 40 {
		if err := os.RemoveAll(filepath.Join(w.home, "data")); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if r := w.run("session", "list"); r.code != 0 {
					t.Errorf("exit code %d\n%s", r.code, r.stderr)
				}
			})
		}
		wg.Wait()
	}
}

// TestTwoAtOnce lets two processes work on one data directory, each with runs of
// its own; then one meets a session that the other has.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model("anthropic", nil)
	script := filepath.Join(w.dir, "play.txt")
	w.write("play.txt", "text hello\n")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 10 {
				if r := w.run("run", "-q", "-m", "script/"+script, "say"); r.code != 0 {
					t.Errorf("exit code %d\n%s", r.code, r.stderr)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.Count(w.must(w.run("session", "list", "-n", "100")), "ses_"); n != 20 {
		t.Errorf("%d sessions of 20", n)
	}
	sound(t, "two at once", w)

	w.write("wait.txt", "tool bash {\"command\":\"touch began; while [ ! -e go ]; do sleep 0.01; done\",\"description\":\"waits\"}\n---\ntext hello\n")
	owner := w.command("run", "--permission", "allow", "-m", "script/"+filepath.Join(w.dir, "wait.txt"), "wait")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	w.await("began")
	r := w.run("run", "-c", "-m", "script/"+script, "me too")
	if want := fmt.Sprintf("is busy in process %d", owner.Process.Pid); r.code != 5 || !strings.Contains(r.stderr, want) {
		t.Errorf("exit code %d, want 5 and %q\n%s", r.code, want, r.stderr)
	}
	w.write("go", "")
	if code := w.wait(owner); code != 0 {
		t.Errorf("the owner ended with %d", code)
	}
}
