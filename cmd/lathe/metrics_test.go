package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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

// What a worker does is counted there, for who has the password where one is needed, and not at
// the server that asked it.
func TestMetricsOfAWorker(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Call{Name: "read", Args: `{"filePath":"none"}`}}}, {Blocks: []llmtest.Block{llmtest.Text("counted")}}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.worker("worker", store, "--metrics", at, "--password-file", password)
	front := w.peer("front", store, "--workers-only", "--metrics")
	ses := front.session(`[]`)
	front.call("POST", "/session/"+ses+"/message", promptBody("go"))
	figures := func(password string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "worker-1:9464" // whatever Prometheus knows the machine by
		req.SetBasicAuth("opencode", password)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		out, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(out)
	}
	if status, text := figures("wrong"); status != http.StatusUnauthorized {
		t.Errorf("%d %s", status, text)
	}
	var text string
	for text = ""; !strings.Contains(text, "lathe_turns_total 1\n"); { // the answer is given before the turn is over
		_, text = figures("sesame")
	}
	for _, want := range []string{"lathe_turns_running 0", `lathe_tool_calls_total{tool="read",result="failed"} 1`, `lathe_steps_total{model="test/m"} 2`, "lathe_store_up 1"} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text := string(front.call("GET", "/metrics", "")); !strings.Contains(text, "\nlathe_turns_total 0\n") || !strings.Contains(text, "\nlathe_turns_running 0\n") || strings.Contains(text, "lathe_steps_total{") ||
		!strings.Contains(text, "\n"+`lathe_http_requests_total{route="POST /session/{sessionID}/message",status="200"} 1`+"\n") {
		t.Errorf("the server that asked counts more or less than its requests:\n%s", text)
	}
	for _, wrong := range []string{"9464", "0.0.0.0:9464"} {
		if r := w.run("worker", "--store", store, "--root", w.dir, "--metrics", wrong); r.code == 0 {
			t.Errorf("--metrics %s: %+v", wrong, r)
		}
	}
}
