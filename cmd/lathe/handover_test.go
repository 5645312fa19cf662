package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// slowStep is a command that says when it runs, and ends when the file "go" is there.
const slowStep = `{"command":"echo once >> runs; touch began; until [ -e go ]; do sleep 0.02; done","description":"wait"}`

// handing is a world with a model that needs two steps.
func handing(t *testing.T, conf string) (*world, *llmtest.Server) {
	t.Helper()
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: slowStep}}},
		{Blocks: []llmtest.Block{llmtest.Text("gone on with it")}},
	})
	path := filepath.Join(w.home, "config", "lathe.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.write(path, `{"sandbox":"off",`+conf+strings.TrimPrefix(strings.TrimSpace(string(raw)), "{"))
	return w, model
}

// soon waits for an answer.
func soon(t *testing.T, answers <-chan string) string {
	t.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(patience):
		t.Fatal("not answered")
		return ""
	}
}

// asks sends a prompt and returns what will be answered; "" if the server goes before that.
func (p *peer) asks(id string) <-chan string {
	answers := make(chan string, 1)
	go func() {
		res, err := http.Post(p.address("/session/"+id+"/message"), "application/json", strings.NewReader(promptBody("go")))
		if err != nil {
			answers <- ""
			return
		}
		defer res.Body.Close()
		out, _ := io.ReadAll(res.Body) // what came of it
		answers <- string(out)
	}()
	return answers
}

func (w *world) ranOnce() {
	w.t.Helper()
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); string(runs) != "once\n" {
		w.t.Errorf("the command ran: %q, %v", runs, err)
	}
}

// A worker that is told to stop ends the step that it is at, and another goes on with the
// turn: whoever waits gets its answer, what steered it is not lost, and nothing is told to
// be interrupted or idle in between.
func TestStoppingWorkerHandsOver(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w, model := handing(t, "")
	first := w.worker("first", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
	heard := front.listen()
	answer := front.asks(id)
	w.await("began")
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("and this"))
	hears(t, heard, `"message.part.updated"`, "and this") // the turn has it
	first.signal(syscall.SIGTERM)
	waitFor(t, func() bool { return strings.Contains(string(front.call("GET", "/lathe/workers", "")), `"stopping"`) })
	w.worker("second", store)
	w.write("go", "")
	told := strings.Join(hears(t, heard, "gone on with it"), "\n")
	if strings.Contains(told, "MessageAbortedError") || strings.Contains(told, `"idle"`) {
		t.Errorf("told in between:\n%s", told)
	}
	hears(t, heard, `"session.status"`, id, `"idle"`)
	if got := soon(t, answer); strings.Contains(got, "Error") {
		t.Errorf("answered %s", got)
	}
	if err := first.ended(); err != nil {
		t.Errorf("the worker that stopped: %v", err)
	}
	requests := asked(t, model)
	if last := requests[len(requests)-1]; !strings.Contains(string(last.Body), "and this") {
		t.Errorf("what steered the turn is not in %s", last.Body)
	}
	w.ranOnce()
}

// What nobody can take at once waits, also for the same worker; on files that are others by
// then the turn ends as interrupted.
func TestHandedOverTurnWaits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"same files": "gone on with it", "other files": "MessageAbortedError"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := pgtest.Schema(t)
			w, model := handing(t, "")
			first := w.worker("first", store)
			front := w.peer("front", store, "--workers-only")
			id := front.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
			answer := front.asks(id)
			w.await("began")
			first.signal(syscall.SIGTERM)
			w.write("go", "")
			if err := first.ended(); err != nil {
				t.Errorf("the worker that stopped: %v", err)
			}
			if status := string(front.call("GET", "/session/status", "")); !strings.Contains(status, id) {
				t.Errorf("a session whose turn waits is %s", status)
			}
			if name == "other files" {
				w.write("runs", "once\nmore\n")
			}
			w.worker("first", store)
			if got := soon(t, answer); !strings.Contains(got, want) {
				t.Errorf("answered %s", got)
			}
			accepted(t, model)
		})
	}
}

// A server that works in its own directories hands its turns over to the next one that has
// them; who waits at it, or asks at another what became of the prompt, gets the answer.
func TestStoppingServerHandsOver(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w, model := handing(t, "")
	a, b := w.peer("a", store), w.peer("b", store)
	id := a.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
	heard := b.listen()
	answer := a.asks(id)
	w.await("began")
	a.signal(syscall.SIGTERM)
	waitFor(t, func() bool {
		status, out := a.try("GET", "/global/health", "")
		return status == 503 && strings.Contains(string(out), "draining")
	})
	w.write("go", "")
	hears(t, heard, "gone on with it")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	var all []struct{ Info struct{ Error any } }
	if err := json.Unmarshal(b.call("GET", "/session/"+id+"/message", ""), &all); err != nil || len(all) != 3 {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	for _, m := range all {
		if m.Info.Error != nil {
			t.Errorf("a message failed: %v", m.Info.Error)
		}
	}
	if got := soon(t, answer); got != "" && !strings.Contains(got, "gone on with it") && !strings.Contains(got, "stops") {
		t.Errorf("who waited at the server that stops is answered %s", got)
	}
	if err := a.ended(); err != nil {
		t.Errorf("the server that stopped: %v", err)
	}
	w.ranOnce()
	accepted(t, model)
}

// A step that takes longer than a worker has to stop is cut. With "resume": "auto" another
// goes on from the last stored step, if the files are as that left them; else the turn is
// aborted.
func TestStepIsTooLongToHandOver(t *testing.T) {
	t.Parallel()
	for conf, want := range map[string]string{`"resume":"auto",`: "gone on with it", ``: "MessageAbortedError"} {
		t.Run(conf, func(t *testing.T) {
			t.Parallel()
			store := pgtest.Schema(t)
			w := newWorld(t)
			outside := t.TempDir()
			model := w.model("anthropic", llmtest.Script{
				{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"touch ` + outside + `/began; sleep 1000","description":"wait"}`}}},
				{Blocks: []llmtest.Block{llmtest.Text("gone on with it")}},
			})
			path := filepath.Join(w.home, "config", "lathe.json")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w.write(path, `{"sandbox":"off",`+conf+strings.TrimPrefix(strings.TrimSpace(string(raw)), "{"))
			first := w.worker("first", store, "--drain", "100ms")
			front := w.peer("front", store, "--workers-only")
			id := front.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
			answer := front.asks(id)
			waitFor(t, func() bool { _, err := os.Stat(filepath.Join(outside, "began")); return err == nil })
			w.worker("second", store)
			first.signal(syscall.SIGTERM)
			if got := soon(t, answer); !strings.Contains(got, want) {
				t.Errorf("answered %s", got)
			}
			accepted(t, model)
		})
	}
}
