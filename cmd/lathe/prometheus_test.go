package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// panel is one of the dashboard.
type panel struct {
	Title   string
	Targets []struct{ Expr string }
}

func dashboard(t *testing.T) []panel {
	t.Helper()
	var board struct{ Panels []panel }
	if err := json.Unmarshal([]byte(deployed(t, "grafana.json")), &board); err != nil {
		t.Fatal(err)
	}
	return board.Panels
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// prometheus is a Prometheus that runs.
type prometheus struct {
	t   *testing.T
	url string
}

// startPrometheus starts one with what deploy/ says, but for where servers and workers are, and how
// often they are asked. Files that the configuration names are beside it.
func startPrometheus(t *testing.T, server, worker string, secrets map[string]string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	config := "global: {scrape_interval: 200ms, scrape_timeout: 200ms}\n" + deployed(t, "prometheus.yml")
	for was, is := range map[string]string{
		"dns_sd_configs: [{names: [server], type: A, port: 4096}]": "static_configs: [{targets: ['" + server + "']}]",
		"dns_sd_configs: [{names: [worker], type: A, port: 9464}]": "static_configs: [{targets: ['" + worker + "']}]",
	} {
		if strings.Count(config, was) != 1 {
			t.Fatalf("prometheus.yml has no %q", was)
		}
		config = strings.Replace(config, was, is, 1)
	}
	secrets["prometheus.yml"] = config
	for name, text := range secrets {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := free(t)
	cmd := exec.CommandContext(t.Context(), "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+at, "--storage.tsdb.retention.time=1h", "--log.level=warn")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &said, &said, 10*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		if t.Failed() {
			t.Logf("Prometheus: %s", &said)
		}
	})
	return &prometheus{t, "http://" + at}
}

// get asks its API for something, and reports whether it was answered.
func (p *prometheus) get(path string, query url.Values, out any) bool {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", p.url+path+"?"+query.Encode(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	var answer struct {
		Error string
		Data  json.RawMessage
	}
	if json.NewDecoder(res.Body).Decode(&answer) != nil { // it is starting
		return false
	}
	if answer.Error != "" {
		p.t.Fatalf("%s %v: %s", path, query, answer.Error)
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		p.t.Fatal(err)
	}
	return true
}

// values are what a query has now, by what tells its series apart.
func (p *prometheus) values(query string) map[string]string {
	p.t.Helper()
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if !p.get("/api/v1/query", url.Values{"query": {query}}, &data) {
		return nil
	}
	all := map[string]string{}
	for _, r := range data.Result {
		name, err := json.Marshal(r.Metric)
		if err != nil {
			p.t.Fatal(err)
		}
		all[string(name)], _ = r.Value[1].(string)
	}
	return all
}

// A Prometheus that is set up as deploy/ says asks a server and a worker, and shows something for
// each query of the dashboard: while turns run, wait and ask, and when one of them has failed.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	if !installed(t, "prometheus") {
		t.Skip("there is no Prometheus here")
	}
	store := pgtest.Schema(t)
	w := newWorld(t)
	call := llmtest.Step{Blocks: []llmtest.Block{llmtest.Call{Name: "bash", Args: `{"command":"true","description":"nothing"}`}}}
	said := llmtest.Step{Blocks: []llmtest.Block{llmtest.Text("counted")}}
	w.model("anthropic", llmtest.Script{call, said, call, said, {Status: http.StatusBadRequest}})
	secrets := map[string]string{"lathe-password": "sesame\n", "metrics-password": "poppy\n"}
	password := func(name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(secrets[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := free(t)
	w.worker("worker", store, "--turns", "1", "--metrics", at, "--password-file", password("metrics-password"))
	front := w.peer("front", store, "--workers-only", "--metrics", "--password-file", password("lathe-password"))
	address := strings.TrimPrefix(front.url, "http://")
	front.url = "http://opencode:sesame@" + address
	prom := startPrometheus(t, address, at, secrets)
	waitFor(t, func() bool { return prom.values(`count(up == 1)`)["{}"] == "2" })

	shown := map[string]bool{} // queries, and whether they have shown anything but 0
	for _, panel := range dashboard(t) {
		for _, target := range panel.Targets {
			shown[target.Expr] = false
		}
	}
	shows := func(queries ...string) {
		t.Helper()
		for _, query := range queries {
			if _, known := shown[query]; !known {
				t.Errorf("the dashboard does not ask %s", query)
			}
			for end := time.Now().Add(patience); !shown[query]; time.Sleep(50 * time.Millisecond) {
				front.try("GET", "/session/ses_none", "") // fails
				values := prom.values(query)
				for _, v := range values {
					shown[query] = shown[query] || v != "0" && v != "NaN"
				}
				if time.Now().After(end) {
					t.Fatalf("%s shows %v", query, values)
				}
			}
		}
	}
	heard := front.listen()
	asks, waits := front.session(askBash), front.session(allowBash)
	front.call("POST", "/session/"+asks+"/prompt_async", promptBody("go"))
	var ask struct{ Properties struct{ ID string } }
	if err := json.Unmarshal([]byte(hearsNext(t, heard, `"permission.asked"`)), &ask); err != nil {
		t.Fatal(err)
	}
	front.call("POST", "/session/"+waits+"/prompt_async", promptBody("go, too"))
	shows("sum(lathe_turns_running)", "sum(lathe_asks_waiting)", "sum(lathe_leases)", "max(lathe_queue_waiting)", "max(lathe_queue_working)", "max(lathe_queue_oldest_seconds)")
	front.call("POST", "/permission/"+ask.Properties.ID+"/reply", `{"reply":"once"}`)
	hears(t, heard, `"session.idle"`, waits)
	front.call("POST", "/session/"+asks+"/prompt_async", promptBody("fail"))
	hears(t, heard, `"session.error"`, asks)
	for _, query := range slices.Sorted(maps.Keys(shown)) {
		switch query {
		case "max(lathe_event_lag)": // all is read
			if values := prom.values(query); len(values) != 1 {
				t.Errorf("%s shows %v", query, values)
			}
		default:
			shows(query)
		}
	}
}
