package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// worker starts a worker that offers the working directory.
func (w *world) worker(name, store string, more ...string) *peer {
	w.t.Helper()
	p, line := w.machine(name, append([]string{"worker", "--store", store, "--root", w.dir}, more...)...)
	if !strings.Contains(line, "offers "+w.dir) {
		w.t.Fatalf("the worker says %q", line)
	}
	return p
}

func (p *peer) session(rules string) string {
	p.w.t.Helper()
	var ses struct{ ID string }
	if err := json.Unmarshal(p.call("POST", "/session", `{"title":"shared","permission":`+rules+`}`), &ses); err != nil {
		p.w.t.Fatal(err)
	}
	return ses.ID
}

func promptBody(text string) string {
	return fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, text)
}

const (
	allowBash = `[{"permission":"bash","pattern":"*","action":"allow"}]`
	askBash   = `[{"permission":"bash","pattern":"*","action":"ask"}]`
)

// A server without files answers for a directory that a worker has: its files and
// configuration, sessions, prompts, asks, streamed text and aborts.
func TestWorkerRunsTurns(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.write("here.txt", "found by the worker\n")
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"cat here.txt; echo $LATHE_HOME > who","description":"look"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("the worker has read it")}},
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"touch began; sleep 1000","description":"wait"}`}}},
	})
	w.worker("worker", store)
	front, other := w.peer("front", store, "--workers-only"), w.peer("other", store, "--workers-only")
	id := front.session(askBash)
	heard := other.listen()
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	var ask struct{ Properties struct{ ID string } }
	if err := json.Unmarshal([]byte(hearsNext(t, heard, `"permission.asked"`, "cat here.txt")), &ask); err != nil {
		t.Fatal(err)
	}
	other.call("POST", "/permission/"+ask.Properties.ID+"/reply", `{"reply":"once"}`)
	hears(t, heard, "the worker has read it")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	if messages := string(front.call("GET", "/session/"+id+"/message", "")); !strings.Contains(messages, "found by the worker") {
		t.Errorf("the tool's output is not in %s", messages)
	}
	if files := string(front.call("GET", "/file/content?path=here.txt", "")); !strings.Contains(files, "found by the worker") {
		t.Errorf("the file is shown as %s", files)
	}
	if list := string(other.call("GET", "/session", "")); !strings.Contains(list, id) {
		t.Errorf("the sessions are %s", list)
	}

	front.call("POST", "/session/"+id+"/prompt_async", promptBody("wait"))
	if err := json.Unmarshal([]byte(hearsNext(t, heard, `"permission.asked"`, "touch began")), &ask); err != nil {
		t.Fatal(err)
	}
	other.call("POST", "/permission/"+ask.Properties.ID+"/reply", `{"reply":"once"}`)
	w.await("began")
	if state := string(other.call("GET", "/lathe/workers", "")); !strings.Contains(state, `"running":1`) || !strings.Contains(state, id) {
		t.Errorf("the workers are %s", state)
	}
	front.call("POST", "/session/"+id+"/abort", "")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	accepted(t, model)
}

// What is asked while there is no worker waits for one; what was aborted meanwhile is not begun.
func TestPromptsWaitForAWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("late, but here")}}})
	first := w.worker("first", store)
	front := w.peer("front", store, "--workers-only")
	stopped, id := front.session(allowBash), front.session(allowBash)
	heard, told := front.listen(), front.listen()
	first.kill()
	waitFor(t, func() bool { return strings.Contains(string(front.call("GET", "/lathe/workers", "")), `"gone"`) })
	front.call("POST", "/session/"+stopped+"/prompt_async", promptBody("never"))
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("when you can"))
	if status := string(front.call("GET", "/session/status", "")); !strings.Contains(status, id) {
		t.Errorf("a session whose prompt waits is %s", status)
	}
	front.call("POST", "/session/"+stopped+"/abort", "")
	hears(t, heard, `"session.status"`, stopped, `"idle"`)
	hears(t, told, `"tui.toast.show"`, "it waits for a worker: none that has "+w.dir+" is there now")
	w.worker("second", store)
	hears(t, heard, "late, but here")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	if messages := string(front.call("GET", "/session/"+stopped+"/message", "")); strings.Contains(messages, "never") {
		t.Errorf("what was aborted is begun: %s", messages)
	}
	accepted(t, model)
}

// A worker that is killed in a turn: the turn is closed as interrupted, who waits is
// answered, no tool runs twice, and another worker goes on with the session.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo once >> runs; touch began; sleep 1000","description":"wait"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("resumed elsewhere")}},
	})
	first := w.worker("first", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(allowBash)
	heard := front.listen()
	answered := make(chan string, 1)
	go func() { answered <- string(front.call("POST", "/session/"+id+"/message", promptBody("go"))) }()
	w.await("began")
	w.worker("second", store)
	first.kill()
	before := strings.Join(hears(t, heard, `"session.status"`, id, `"idle"`), "\n")
	if !strings.Contains(before, "MessageAbortedError") {
		t.Errorf("what was left open is not closed:\n%s", before)
	}
	select {
	case answer := <-answered:
		if !strings.Contains(answer, "MessageAbortedError") {
			t.Errorf("who waited is answered %s", answer)
		}
	case <-time.After(patience):
		t.Fatal("who waited is not answered")
	}
	if answer := string(front.call("POST", "/session/"+id+"/message", promptBody("go on"))); !strings.Contains(answer, "resumed elsewhere") {
		t.Errorf("the next prompt is answered %s", answer)
	}
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); string(runs) != "once\n" {
		t.Errorf("the command ran: %q, %v", runs, err)
	}
	accepted(t, model)
}

// What was accepted while a turn ran is answered though the turn's worker is killed before it
// came to that.
func TestSteeringPromptOutlivesTheWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo once >> runs; touch began; sleep 1000","description":"wait"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("both are seen")}},
	})
	first := w.worker("first", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(allowBash)
	heard := front.listen()
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	w.await("began")
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("and this too"))
	hears(t, heard, `"message.part.updated"`, "and this too") // the first worker has it
	w.worker("second", store)
	first.kill()
	hears(t, heard, "both are seen")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); string(runs) != "once\n" {
		t.Errorf("the command ran: %q, %v", runs, err)
	}
	accepted(t, model)
}

// loseSessions takes its sessions from who has them, as another server does that takes it for dead.
func loseSessions(t *testing.T, store string) {
	t.Helper()
	database, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(t.Context())
	if _, err := database.Exec(t.Context(), "DELETE FROM lease"); err != nil {
		t.Fatal(err)
	}
}

// A worker that was taken for dead while its turn waited for a person ends that turn when it
// is back, and the session goes on.
func TestTurnOfALostSessionEnds(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo never >> runs","description":"wait"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("gone on without it")}},
	})
	w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(askBash)
	heard := front.listen()
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	hears(t, heard, `"permission.asked"`)
	loseSessions(t, store)
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go on"))
	hears(t, heard, "gone on without it")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	if list := strings.TrimSpace(string(front.call("GET", "/permission", ""))); list != "[]" {
		t.Errorf("what waits is %s", list)
	}
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); err == nil {
		t.Errorf("the command ran: %q", runs)
	}
	accepted(t, model)
}

// What steered a turn whose session was lost is answered, though the worker that had both lives:
// nobody finds it gone and takes its work over.
func TestWhatSteeredALostTurnIsAnswered(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo never >> runs","description":"wait"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("answered after all")}},
	})
	w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	id := front.session(askBash)
	heard := front.listen()
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	hears(t, heard, `"permission.asked"`)
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("and this"))
	hears(t, heard, `"message.part.updated"`, "and this") // it is stored, and steers the turn
	loseSessions(t, store)
	hears(t, heard, "answered after all")
	hears(t, heard, `"session.status"`, id, `"idle"`)
	waitFor(t, func() bool { return !strings.Contains(string(front.call("GET", "/lathe/workers", "")), id) })
	if runs, err := os.ReadFile(filepath.Join(w.dir, "runs")); err == nil {
		t.Errorf("the command ran: %q", runs)
	}
	accepted(t, model)
}

// With "resume": "auto" a turn whose worker is killed goes on with another, on the same
// files; what was being called is not called again. Where the files differ it does not.
func TestKilledTurnGoesOn(t *testing.T) {
	t.Parallel()
	for name, changed := range map[string]bool{"same files": false, "other files": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := pgtest.Schema(t)
			w := newWorld(t)
			outside := t.TempDir()
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
			first := w.worker("first", store)
			front := w.peer("front", store, "--workers-only")
			id := front.session(`[{"permission":"*","pattern":"*","action":"allow"}]`)
			answered := make(chan string, 1)
			go func() { answered <- string(front.call("POST", "/session/"+id+"/message", promptBody("go"))) }()
			waitFor(t, func() bool { _, err := os.Stat(filepath.Join(outside, "began")); return err == nil })
			w.worker("second", store)
			first.kill()
			if changed {
				w.write("one", "somebody else's")
			}
			want := "gone on with it"
			if changed {
				want = "MessageAbortedError"
			}
			select {
			case answer := <-answered:
				if !strings.Contains(answer, want) {
					t.Errorf("answered %s", answer)
				}
			case <-time.After(patience):
				t.Fatal("not answered")
			}
			if runs, err := os.ReadFile(filepath.Join(outside, "runs")); string(runs) != "x\n" {
				t.Errorf("the command ran: %q, %v", runs, err)
			}
			accepted(t, model)
		})
	}
}

// A session that a worker makes for a person belongs to that person, and so does what is
// queued; an ask in it is answered by nobody else.
func TestPeopleAndWorkers(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{
		{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"echo asked","description":"ask"}`}}},
		{Blocks: []llmtest.Block{llmtest.Text("answered")}},
	})
	ann, bob := w.person(store, "ann"), w.person(store, "bob")
	w.worker("worker", store)
	front := w.peer("front", store, "--workers-only")
	other := *front
	front.token, other.token = ann, bob
	id := front.session(askBash)
	front.call("POST", "/session/"+id+"/prompt_async", promptBody("go"))
	var asks []struct{ ID string }
	waitFor(t, func() bool {
		return json.Unmarshal(front.call("GET", "/permission", ""), &asks) == nil && len(asks) > 0
	})
	if state := string(other.call("GET", "/lathe/workers", "")); !strings.Contains(state, `"person":"ann"`) {
		t.Errorf("the workers are %s", state)
	}
	reply := "/permission/" + asks[0].ID + "/reply"
	for _, path := range []string{reply, "/session/" + id + "/abort", "/session/" + id + "/prompt_async"} {
		if status, out := other.try("POST", path, `{"reply":"once","parts":[]}`); status != http.StatusForbidden || !strings.Contains(string(out), "belongs to ann") {
			t.Errorf("%s of somebody else: %d %s", path, status, out)
		}
	}
	front.call("POST", reply, `{"reply":"once"}`)
	waitFor(t, func() bool {
		return strings.Contains(string(other.call("GET", "/session/"+id+"/message", "")), "answered")
	})
	accepted(t, model)
}

// waitFor waits until something that another process does is done.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass")
		}
	}
}
