package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
)

// withLanguages is a rig whose .fake files a language server serves and a formatter
// formats. The server is this test itself.
func withLanguages(t *testing.T, how string) *rig {
	r := newRig(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.dir, "opencode.json"), fmt.Sprintf(`{
		"permission": "allow",
		"lsp": {"mine": {"command": [%q], "extensions": [".fake"], "env": {"LSP_FAKE": %q}}},
		"formatter": {"gofmt": {"disabled": true}, "shout": {"command": ["sed", "-i", "s/loud/LOUD/", "$FILE"], "extensions": [".fake"]}}
	}`, self, how))
	return r
}

// get returns what a route answers, as text that can be compared.
func (r *rig) get(path string) string {
	r.t.Helper()
	res := r.do(http.MethodGet, path, "")
	if res.status != http.StatusOK {
		r.t.Errorf("%s: %d", path, res.status)
	}
	return string(res.body)
}

// After a change of a file clients are told of the server that serves it and of what it
// found, and the routes answer in OpenCode's shapes.
func TestLanguagesOverTheAPI(t *testing.T) {
	r := withLanguages(t, "push")
	notes := filepath.Join(r.dir, "sub", "notes.fake")
	for path, want := range map[string]string{"/lsp": `[]`, "/find/symbol?query=sym": `[]`} {
		if got := r.get(path); got != want {
			t.Errorf("%s before anything was changed: %s", path, got)
		}
	}
	events := r.listen("/event")
	name := r.script("w.txt", fmt.Sprintf("tool write {\"filePath\":%q,\"content\":\"loud\\nbad\\npoor\\n\"}\n---\ntext done\n", notes))
	r.ok("POST", r.session()+"/message", promptBody(name, "go"))

	for _, f := range events.until("lsp.client.diagnostics") {
		switch f.kind {
		case "lsp.updated":
			if diff := cmp.Diff(map[string]any{}, f.props); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.kind, diff)
			}
		case "lsp.client.diagnostics":
			if diff := cmp.Diff(map[string]any{"serverID": "mine", "path": notes}, f.props); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.kind, diff)
			}
		}
	}
	if got, want := r.get("/lsp"), `[{"id":"mine","name":"mine","root":"","status":"connected"}]`; got != want {
		t.Errorf("/lsp: %s, want %s", got, want)
	}
	var formatters []map[string]any
	if err := json.Unmarshal([]byte(r.get("/formatter")), &formatters); err != nil {
		t.Fatal(err)
	}
	last := formatters[len(formatters)-1]
	if diff := cmp.Diff(map[string]any{"name": "shout", "extensions": []any{".fake"}, "enabled": true}, last); diff != "" {
		t.Errorf("/formatter (-want +got):\n%s", diff)
	}
	for _, f := range formatters {
		if f["name"] == "gofmt" {
			t.Error("/formatter has one that is switched off")
		}
	}
	var symbols []api.Symbol
	if err := json.Unmarshal([]byte(r.get("/find/symbol?query=sym")), &symbols); err != nil {
		t.Fatal(err)
	}
	want := api.Symbol{Name: "sym2", Kind: 12, Location: api.SymbolLocation{
		URI: "file://" + notes, Range: api.SymbolRange{Start: api.SymbolPlace{Line: 2}, End: api.SymbolPlace{Line: 2}},
	}}
	if len(symbols) != 8 || symbols[1] != want {
		t.Errorf("/find/symbol: %+v", symbols)
	}
	var setup api.Setup
	if err := json.Unmarshal([]byte(r.get("/lathe/setup")), &setup); err != nil {
		t.Fatal(err)
	}
	if len(setup.LSP) != 1 || setup.LSP[0].Name != "mine" || !strings.HasPrefix(setup.LSP[0].State, "connected, 1 error, 1 warning, ") {
		t.Errorf("/lathe/setup: %+v", setup.LSP)
	}
	if diff := cmp.Diff([]api.Configured{{Name: "shout", Kind: ".fake", State: "used"}}, used(setup.Formatters, "shout")); diff != "" {
		t.Errorf("/lathe/setup (-want +got):\n%s", diff)
	}
}

// used are the formatters of a name.
func used(list []api.Configured, name string) (out []api.Configured) {
	for _, c := range list {
		if c.Name == name {
			out = append(out, c)
		}
	}
	return out
}

// A server that fails is told as an error, not left out.
func TestBrokenServerOverTheAPI(t *testing.T) {
	r := withLanguages(t, "exit")
	name := r.script("w.txt", fmt.Sprintf("tool write {\"filePath\":%q,\"content\":\"bad\\n\"}\n---\ntext done\n", filepath.Join(r.dir, "a.fake")))
	r.ok("POST", r.session()+"/message", promptBody(name, "go"))
	if got, want := r.get("/lsp"), `[{"id":"mine","name":"mine","root":"","status":"error"}]`; got != want {
		t.Errorf("/lsp: %s, want %s", got, want)
	}
}

// A file part that names one line, as clients name symbols, brings the whole symbol that
// begins there; one that names several lines brings those.
func TestSymbolPartIsTheWholeSymbol(t *testing.T) {
	r := withLanguages(t, "push")
	path := filepath.Join(r.dir, "a.fake")
	write(t, path, "class Outer\ninner\nend\nlast of Outer\nbehind\n")
	name := r.script("w.txt", fmt.Sprintf("tool edit {\"filePath\":%q,\"oldString\":\"behind\",\"newString\":\"beyond\"}\n---\ntext done\n", path))
	s := r.session()
	r.ok("POST", s+"/message", promptBody(name, "go"))
	for query, want := range map[string][]string{
		"?start=2&end=2": {"2: inner", "3: end"},
		"?start=1&end=1": {"1: class Outer", "2: inner", "3: end", "4: last of Outer"},
		"?start=4&end=5": {"4: last of Outer", "5: beyond"},
		"?start=5&end=5": {"5: beyond"},
	} {
		name := r.script("s.txt", "text seen\n")
		body, err := json.Marshal(map[string]any{
			"model": map[string]string{"providerID": "script", "modelID": name},
			"parts": []any{
				map[string]any{"type": "text", "text": "what is it?"},
				map[string]any{"type": "file", "mime": "text/plain", "filename": "a.fake", "url": "file://" + path + query},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.ok("POST", s+"/message", string(body))
		if diff := cmp.Diff(want, r.lastRead(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// lastRead returns the numbered lines that the last prompt of a session brought.
func (r *rig) lastRead(session string) (out []string) {
	r.t.Helper()
	var messages []struct {
		Info  struct{ Role string }
		Parts []struct{ Type, Text string }
	}
	if err := json.Unmarshal(r.do(http.MethodGet, session+"/message", "").body, &messages); err != nil {
		r.t.Fatal(err)
	}
	for _, m := range messages {
		if m.Info.Role != "user" {
			continue
		}
		out = nil
		for _, p := range m.Parts {
			for line := range strings.Lines(p.Text) {
				if n, _, ok := strings.Cut(line, ": "); ok && len(n) == 1 {
					out = append(out, strings.TrimSpace(line))
				}
			}
		}
	}
	return out
}

// What a change left broken is still known after a compaction, what it mended is not.
func TestCompactionKeepsOpenErrors(t *testing.T) {
	r := withLanguages(t, "push")
	name := r.script("w.txt", `tool write {"filePath":"a.fake","content":"bad\n"}
---
tool write {"filePath":"b.fake","content":"bad\n"}
---
tool edit {"filePath":"b.fake","oldString":"bad","newString":"well"}
---
text done
`)
	s := r.session()
	r.ok("POST", s+"/message", promptBody(name, "go"))
	summary := r.script("s.txt", "times 9\ntext "+strings.Repeat("A summary of what was said and done. ", 9)+"\n")
	r.ok("POST", s+"/summarize", `{"providerID":"script","modelID":"`+summary+`"}`)
	told := string(r.do(http.MethodGet, s+"/message", "").body)
	if !strings.Contains(told, "Open errors") || !strings.Contains(told, "a.fake: 1, first: bad word") || strings.Contains(told, "b.fake: 1, first") {
		t.Errorf("after the compaction: %s", told)
	}
}
