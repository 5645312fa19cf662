package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// A turn whose database goes away waits for it and goes on. One whose database stays away
// ends; when it is back what the turn left open is closed, everybody is told, and the
// session goes on.
func TestDatabaseOutage(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	w := newWorld(t)
	wait := func(n int) llmtest.Step {
		return llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: fmt.Sprintf(`{"command":"touch at%d; until [ -e go%d ]; do sleep 0.02; done; echo done","description":"wait"}`, n, n)}}}
	}
	w.model("anthropic", llmtest.Script{
		wait(1), {Blocks: []llmtest.Block{llmtest.Text("after a short outage")}},
		wait(2), {Blocks: []llmtest.Block{llmtest.Text("after a long one")}}, {Blocks: []llmtest.Block{llmtest.Text("after a long one")}},
	})
	a := w.peer("a", server.URL())
	var ses struct{ ID string }
	if err := json.Unmarshal(a.call("POST", "/session", `{"title":"outage","permission":[{"permission":"bash","pattern":"*","action":"allow"}]}`), &ses); err != nil {
		t.Fatal(err)
	}
	heard := a.listen()
	prompt := func(text string) {
		a.call("POST", "/session/"+ses.ID+"/prompt_async", fmt.Sprintf(`{"parts":[{"type":"text","text":%q}]}`, text))
	}
	prompt("go")
	w.await("at1")
	server.Stop()
	w.write("go1", "")
	server.Restart(t)
	hears(t, heard, `"session.idle"`, ses.ID)
	if messages := string(a.call("GET", "/session/"+ses.ID+"/message", "")); !strings.Contains(messages, "after a short outage") || strings.Count(messages, `"callID"`) != 1 {
		t.Errorf("the turn did not go on: %s", messages)
	}

	prompt("again")
	w.await("at2")
	server.Stop()
	w.write("go2", "")
	for status := 0; status != http.StatusServiceUnavailable; time.Sleep(50 * time.Millisecond) {
		status, _ = a.health()
	}
	server.Restart(t)
	hears(t, heard, `"session.idle"`, ses.ID)
	prompt("on")
	hears(t, heard, `"message.part.updated"`, "after a long one")
	hears(t, heard, `"session.idle"`, ses.ID)
	messages := string(a.call("GET", "/session/"+ses.ID+"/message", ""))
	if strings.Contains(messages, `"status":"running"`) || strings.Contains(messages, `"status":"pending"`) {
		t.Errorf("something is still open: %s", messages)
	}
	if status, body := a.health(); status != http.StatusOK {
		t.Errorf("its health is %d %s", status, body)
	}
}
