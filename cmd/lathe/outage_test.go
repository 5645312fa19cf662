package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// health returns the status of the server and what it says.
func (p *peer) health() (int, string) {
	p.w.t.Helper()
	res, err := http.Get(p.address("/global/health"))
	if err != nil {
		p.w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// A database that goes away costs turns no more than a wait, also when it is away for longer than a server
// counts as living: those that want to store something wait for it, and the first server that is back takes
// none from another. Requests are told meanwhile that it is away.
func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	w := newWorld(t)
	call := func(name string) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"echo x >> at-%s; until [ -e go-%[1]s ]; do sleep 0.02; done; echo done","description":"wait"}`, name)}}}
	}
	answer := func(name string) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("the answer to " + name)}}
	}
	w.model("anthropic", llmtest.Script{call("short"), answer("short"), call("stores"), call("waits"), answer("stores"), answer("waits")})
	a, b := w.peer("a", server.URL()), w.peer("b", server.URL())
	heard := a.listen()
	begin := func(p *peer, name string) string { // a turn, up to its command
		t.Helper()
		var ses struct{ ID string }
		if err := json.Unmarshal(p.call("POST", "/session", `{"title":"outage","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`), &ses); err != nil {
			t.Fatal(err)
		}
		p.call("POST", "/session/"+ses.ID+"/prompt_async", `{"parts":[{"type":"text","text":"go"}]}`)
		w.await("at-" + name)
		return ses.ID
	}
	goesOn := func(id, name string) {
		t.Helper()
		hears(t, heard, `"session.idle"`, id)
		messages := string(a.call("GET", "/session/"+id+"/message", ""))
		if !strings.Contains(messages, "the answer to "+name) || strings.Count(messages, `"callID"`) != 1 || strings.Contains(messages, `"error"`) {
			t.Errorf("the turn did not go on: %s", messages)
		}
		if runs, err := os.ReadFile(filepath.Join(w.dir, "at-"+name)); string(runs) != "x\n" {
			t.Errorf("its command ran: %q, %v", runs, err)
		}
	}

	short := begin(a, "short")
	server.Stop()
	w.write("go-short", "")
	server.Restart(t)
	goesOn(short, "short")

	stores, waits := begin(a, "stores"), begin(b, "waits")
	server.Stop()
	w.write("go-stores", "")
	end := time.Now().Add(patience)
	for status := 0; status != http.StatusServiceUnavailable; time.Sleep(50 * time.Millisecond) {
		if status, _ = a.health(); time.Now().After(end) {
			t.Fatal("nobody is told that it is away") // which is so for as long as a server counts as living
		}
	}
	server.Restart(t)
	goesOn(stores, "stores")
	w.write("go-waits", "")
	goesOn(waits, "waits")
	for _, p := range []*peer{a, b} {
		if status, body := p.health(); status != http.StatusOK {
			t.Errorf("its health is %d %s", status, body)
		}
	}
}
