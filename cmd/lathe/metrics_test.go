package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// What one of several servers does is counted there and nowhere else, and only where it was
// asked for.
func TestMetrics(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Call{Name: "read", Args: `{"filePath":"none"}`}}}, {Blocks: []llmtest.Block{llmtest.Text("counted")}}})
	a, b, quiet := w.peer("a", store, "--metrics"), w.peer("b", store, "--metrics"), w.peer("c", store)
	var ses struct{ ID string }
	if err := json.Unmarshal(a.call("POST", "/session", `{}`), &ses); err != nil {
		t.Fatal(err)
	}
	heard := b.listen()
	a.call("POST", "/session/"+ses.ID+"/message", `{"parts":[{"type":"text","text":"go"}]}`)
	hears(t, heard, `"session.idle"`, ses.ID)
	text := string(a.call("GET", "/metrics", ""))
	for _, want := range []string{
		"lathe_turns_total 1", "lathe_turns_running 0", `lathe_tool_calls_total{tool="read",result="failed"} 1`, `lathe_steps_total{model="test/m"} 2`,
		`lathe_http_requests_total{route="POST /session/{sessionID}/message",status="200"} 1`, "lathe_store_up 1", "lathe_queue_waiting 0", "lathe_leases 0",
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if installed(t, "promtool") {
		cmd := exec.Command("promtool", "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("Prometheus finds fault: %v\n%s", err, out)
		}
	}
	if text := string(b.call("GET", "/metrics", "")); !strings.Contains(text, "\nlathe_turns_total 0\n") {
		t.Errorf("it was counted twice:\n%s", text)
	}
	res, err := http.Get(quiet.address("/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("who was not asked to counts: %s", res.Status)
	}
	accepted(t, model)
}
