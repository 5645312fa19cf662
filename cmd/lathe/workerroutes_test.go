package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres/pgtest"
)

// endless are the routes whose answers do not end by themselves.
var endless = []string{"/event", "/global/event", "/lathe/event", "/tui/control/next"}

// queries are what routes need to be asked.
var queries = map[string]string{
	"/file": "path=", "/file/content": "path=here.txt", "/find": "pattern=found", "/find/file": "query=here", "/find/symbol": "query=main",
	"/api/fs/find": "query=here", "/lathe/find": "pattern=found", "/lathe/file": "path=here.txt", "/lathe/file/text": "path=here.txt",
}

// What a server without files answers about a directory that a worker has is what a server
// answers that is there: on every route that reads and is about no single thing. What is refused
// there is not answered by way of the worker.
func TestServerWithoutFilesAnswersAlike(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.write("here.txt", "found by the worker\n")
	w.write("AGENTS.md", "Be brief.\n")
	w.git("init", "-q")
	w.model("anthropic", llmtest.Script{})
	w.worker("worker", store)
	near := w.peer("near", store)
	front := w.peer("front", store, "--workers-only")
	front.call("POST", "/session", `{"title":"one"}`)

	home := func(name string) string { return filepath.Join(filepath.Dir(w.home), name) }
	routes, err := os.ReadFile("../../internal/server/roles.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(routes)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[1] != "GET" || strings.Contains(f[2], "{") || slices.Contains(endless, f[2]) {
			continue
		}
		t.Run(f[2], func(t *testing.T) {
			path := f[2]
			if q := queries[path]; q != "" {
				path += "?" + q
			}
			status, want := near.try("GET", path, "")
			got, body := front.try("GET", path, "")
			if got != status {
				t.Fatalf("%d %s, want %d %s", got, body, status, want)
			}
			if diff := cmp.Diff(plain(want, home("near")), plain(body, home("worker"))); diff != "" {
				t.Errorf("(-there +without files):\n%s", diff)
			}
		})
	}
}

// plain is an answer to be compared: of a machine whose home is elsewhere.
func plain(body []byte, home string) any {
	var v any
	body = bytes.ReplaceAll(body, []byte(home), []byte("HOME"))
	if json.Unmarshal(bytes.TrimSpace(body), &v) != nil {
		return string(body)
	}
	return v
}
