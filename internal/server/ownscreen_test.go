package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/llm/llmtest"
)

func TestKeyTest(t *testing.T) {
	script, err := llmtest.Parse([]byte("status 401 bad key\n---\nstatus 403 not yours\n---\nstatus 402 pay\n---\nstatus 429 slow\n---\nstatus 500 oh\n---\ntext ok\n"))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.New(t, script, llmtest.Scripted())
	closed := llmtest.New(t, nil)
	closed.Close()
	r := newRig(t)
	provider := func(url string) map[string]any {
		return map[string]any{
			"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": url + "/v1"},
			"models": map[string]any{
				"big":   map[string]any{"cost": map[string]any{"input": 3, "output": 15}},
				"small": map[string]any{"cost": map[string]any{"input": 1, "output": 2}},
			},
		}
	}
	conf, err := json.Marshal(map[string]any{"provider": map[string]any{"acme": provider(model.URL), "gone": provider(closed.URL)}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.dir, "opencode.json"), string(conf))
	for _, id := range []string{"acme", "gone"} {
		r.ok("PUT", "/auth/"+id, `{"type":"api","key":"sk-the-key"}`)
	}
	r.ok("POST", "/instance/dispose", "")
	test := func(id string) (out api.KeyTest) {
		t.Helper()
		res := r.do("POST", "/lathe/provider/"+id+"/test", "")
		if err := json.Unmarshal(res.body, &out); err != nil || res.status != 200 {
			t.Fatalf("%s: %d %s", id, res.status, res.body)
		}
		if strings.Contains(string(res.body), "sk-the-key") {
			t.Errorf("the answer holds the key: %s", res.body)
		}
		return out
	}
	for _, want := range []string{"refused", "refused", "unknown", "accepted", "unknown", "accepted"} {
		if got := test("acme"); got.Outcome != want || got.Model != "acme/small" || (want != "accepted") != (got.Hint != "" && got.Detail != "") && got.Detail == "" {
			t.Errorf("want %s: %+v", want, got)
		}
	}
	if got := test("gone"); got.Outcome != "unknown" || !strings.Contains(got.Hint, "network") {
		t.Errorf("nobody there: %+v", got)
	}
	// A key that is given is tried, and not stored.
	key := ""
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer asked.Close()
	conf, err = json.Marshal(map[string]any{"provider": map[string]any{"acme": provider(asked.URL), "gone": provider(closed.URL)}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.dir, "opencode.json"), string(conf))
	r.ok("POST", "/instance/dispose", "")
	for body, want := range map[string]string{`{"key":"sk-another"}`: "Bearer sk-another", "": "Bearer sk-the-key", `{}`: "Bearer sk-the-key"} {
		if res := r.do("POST", "/lathe/provider/acme/test", body); res.status != 200 || key != want || strings.Contains(string(res.body), "sk-") {
			t.Errorf("%s: the provider is asked with %q, %d %s", body, key, res.status, res.body)
		}
	}
	if res := r.do("POST", "/lathe/provider/nobody/test", ""); res.status != 404 {
		t.Errorf("a provider that is not connected: %d %s", res.status, res.body)
	}
	var found api.Found
	if err := json.Unmarshal(r.do("GET", "/lathe/found", "").body, &found); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"acme", "gone"}, found.Stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestSetupAndWeight(t *testing.T) {
	r := newRig(t)
	write(t, filepath.Join(r.dir, "opencode.json"), `{"mcp":{"docs":{"type":"remote","url":"https://example.com"},"off":{"type":"local","command":["x"],"enabled":false}},"lsp":{"gopls":{"command":["gopls"],"extensions":[".go"]}}}`)
	var s api.Setup
	if err := json.Unmarshal(r.do("GET", "/lathe/setup", "").body, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.MCP) != 2 || len(s.LSP) != 1 || s.MCP[1].State != "switched off" || s.Snapshots != "on" || s.Version != lathe.Version {
		t.Errorf("setup: %+v", s)
	}
	var checks []api.Check
	if err := json.Unmarshal(r.do("GET", "/lathe/check", "").body, &checks); err != nil {
		t.Fatal(err)
	}
	state := map[string]bool{}
	for _, c := range checks {
		state[c.Name] = c.OK
	}
	want := map[string]bool{
		"data": true, "credentials": true, "git": true, "sandbox": true, "undo": true, "model": false, "repository": true, "configuration": true,
	}
	if diff := cmp.Diff(want, state); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	name := r.script("w.txt", "text hello")
	path := r.session()
	r.ok("POST", path+"/message", promptBody(name, "say hello"))
	var w api.Window
	if err := json.Unmarshal(r.do("GET", "/lathe"+path+"/weight", "").body, &w); err != nil {
		t.Fatal(err)
	}
	if w.Used == 0 || len(w.Kinds) == 0 || len(w.ByModel) != 1 || w.ByModel[0].Answers != 1 || w.ByModel[0].Model != "script/w.txt" {
		t.Errorf("weight: %+v", w)
	}
}
