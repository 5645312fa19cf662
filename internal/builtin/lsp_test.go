package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/lsp"
	"lathe/internal/tool"
)

// answers is what a language server knows.
type answers struct {
	asked []any
	found []json.RawMessage
	edits []lsp.Edit
	err   error
}

func (a *answers) Ask(_ context.Context, op lsp.Operation, f lsp.File, at lsp.Position, query string) ([]json.RawMessage, error) {
	a.asked = []any{op, f, at, query}
	return a.found, a.err
}

func (a *answers) Rename(_ context.Context, f lsp.File, at lsp.Position, name string) ([]lsp.Edit, error) {
	a.asked = []any{f, at, name}
	return a.edits, a.err
}

func (a *answers) Actions(_ context.Context, f lsp.File, at lsp.Range, kind string) ([]lsp.Action, error) {
	a.asked = []any{f, at, kind}
	return []lsp.Action{{Title: "Add import", Kind: "quickfix"}, {Title: "Extract", Disabled: "nothing is selected"}}, a.err
}

func TestLSPAsks(t *testing.T) {
	code := &answers{found: []json.RawMessage{json.RawMessage(`{"a":1}`)}}
	r := newRig(t, func(e *Env) { e.Code = code })
	r.put("d/a.go", "package a\n")
	res := r.ok("lsp", m{"operation": "hover", "filePath": "d/a.go", "line": 2, "character": 5})
	if want := "[\n  {\n    \"a\": 1\n  }\n]"; res.Output != want || res.Title != "hover d/a.go:2:5" {
		t.Errorf("%q: %q", res.Title, res.Output)
	}
	want := []any{lsp.Hover, lsp.File{Path: r.path("d/a.go"), Text: "package a\n"}, lsp.Position{Line: 1, Character: 4}, ""}
	if diff := cmp.Diff(want, code.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	last := r.asks[len(r.asks)-1]
	if last.Permission != "lsp" || last.Metadata["operation"] != "hover" {
		t.Errorf("%+v", last)
	}
	code.found = nil
	if res := r.ok("lsp", m{"operation": "workspaceSymbol", "filePath": "d/a.go", "query": "x"}); res.Output != "No results found for workspaceSymbol" {
		t.Errorf("%q", res.Output)
	}
	r.fails("lsp", m{"operation": "hover", "filePath": "none.go"}, "File not found")
	code.err = lsp.ErrNoServer
	r.fails("lsp", m{"operation": "hover", "filePath": "d/a.go"}, "No LSP server available for this file type.")
}

// What a language server edits goes the way of every edit: one ask with the diff, all
// files or none, told to the servers, known as read.
func TestLSPEdits(t *testing.T) {
	servers := &said{}
	code := &answers{}
	r := newRig(t, func(e *Env) { e.Code, e.Languages = code, servers })
	r.put("a.go", "\ufeffold\r\n")
	r.put("b.go", "package b\n")
	edit := func(name, text string) lsp.Edit { return lsp.NewEdit(r.path(name), 0, 0, 0, 3, text) }
	code.edits = []lsp.Edit{edit("a.go", "new"), edit("b.go", "pac")}
	res := r.ok("lsp", m{"operation": "rename", "filePath": "a.go", "line": 1, "character": 1, "newName": "new"})
	if r.get("a.go") != "\ufeffnew\r\n" || !strings.HasPrefix(res.Output, "Success. Updated the following files:\nM a.go") || strings.Contains(res.Output, "b.go") {
		t.Errorf("%q, %q", r.get("a.go"), res.Output)
	}
	last := r.asks[len(r.asks)-1]
	if last.Permission != "edit" || !strings.Contains(last.Metadata["diff"].(string), "-old\n+new\n") {
		t.Errorf("asked %+v", last)
	}
	if diff := cmp.Diff([]lsp.File{{Path: r.path("a.go"), Text: "new\r\n"}}, servers.after); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	r.deny = func(req tool.Request) error {
		if req.Permission == "edit" {
			return &lathe.Error{Msg: "no"}
		}
		return nil
	}
	code.edits = []lsp.Edit{edit("a.go", "bad")}
	if _, err := r.run("lsp", m{"operation": "rename", "filePath": "a.go", "newName": "x"}); err == nil || r.get("a.go") != "\ufeffnew\r\n" {
		t.Errorf("%v, %q", err, r.get("a.go"))
	}
	r.deny = nil
	code.err = errors.New("cannot rename a keyword")
	r.fails("lsp", m{"operation": "rename", "filePath": "a.go", "newName": "x"}, "The language server did not do it: cannot rename a keyword")
	r.fails("lsp", m{"operation": "rename", "filePath": "a.go"}, "rename needs a newName.")
}

func TestLSPActions(t *testing.T) {
	r := newRig(t, func(e *Env) { e.Code = &answers{} })
	r.put("a.go", "package a\n")
	res := r.ok("lsp", m{"operation": "codeActions", "filePath": "a.go", "line": 1, "character": 1})
	want := "Code actions, of which one is carried out by calling again with its title:\n- Add import (quickfix)\n- Extract: not now, nothing is selected"
	if res.Output != want {
		t.Errorf("%q", res.Output)
	}
	r.fails("lsp", m{"operation": "codeActions", "filePath": "a.go", "title": "None"}, `There is no action "None" here.`)
	r.fails("lsp", m{"operation": "codeActions", "filePath": "a.go", "title": "Extract"}, "cannot be done: nothing is selected")
}
