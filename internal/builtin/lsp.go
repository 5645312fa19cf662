package builtin

import (
	"bytes"
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/lsp"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

//go:embed lsp.md
var lspText string

// Code answers what code means; *lsp.Servers does.
type Code interface {
	Ask(ctx context.Context, op lsp.Operation, f lsp.File, at lsp.Position, query string) ([]json.RawMessage, error)
	Rename(ctx context.Context, f lsp.File, at lsp.Position, name string) ([]lsp.Edit, error)
	Actions(ctx context.Context, f lsp.File, at lsp.Range, kind string) ([]lsp.Action, error)
}

type lspInput struct {
	Operation string `json:"operation"`
	FilePath  string `json:"filePath"`
	Line      int    `json:"line"`
	Character int    `json:"character"`
	Query     string `json:"query"`
	NewName   string `json:"newName"`
	Title     string `json:"title"`
}

// codeTools ask language servers, and make the edits that they propose.
type codeTools struct{ editTools }

const (
	opRename  = "rename"
	opActions = "codeActions"
	opImports = "organizeImports"
)

func (e codeTools) lspTool() tool.Tool {
	s := spec("lsp", lspText, `{"type":"object","properties":{`+
		`"operation":{"type":"string","enum":["goToDefinition","findReferences","hover","documentSymbol","workspaceSymbol","goToImplementation",`+
		`"prepareCallHierarchy","incomingCalls","outgoingCalls","rename","codeActions","organizeImports"]},`+
		`"filePath":{"type":"string"},"line":{"type":"integer","minimum":1},"character":{"type":"integer","minimum":1},`+
		`"query":{"type":"string"},"newName":{"type":"string"},"title":{"type":"string"}},`+
		`"required":["operation","filePath"],"additionalProperties":false}`)
	s.PathArg = "*"
	return typed(s, e.lsp)
}

func (e codeTools) lsp(ctx context.Context, call *tool.Call, in lspInput) (tool.Result, error) {
	path, err := e.resolve(in.FilePath)
	if err != nil {
		return tool.Result{}, err
	}
	if e.secret(call, path) {
		return tool.Result{}, failf("%s belongs to lathe itself and cannot be read.", path)
	}
	if err := e.external(ctx, call, path, false, nil); err != nil {
		return tool.Result{}, err
	}
	if err := e.mayRead(ctx, call, path); err != nil {
		return tool.Result{}, err
	}
	file, err := e.look(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	if !file.exists {
		return tool.Result{}, failf("File not found: %s%s", path, e.meant(ctx, call, path))
	}
	at := lsp.Position{Line: max(in.Line, 1) - 1, Character: max(in.Character, 1) - 1}
	place := fmt.Sprintf("%s %s:%d:%d", in.Operation, file.name, at.Line+1, at.Character+1)
	req := tool.Request{Permission: "lsp", Patterns: []string{"*"}, Always: []string{"*"}, Metadata: map[string]any{
		"operation": in.Operation, "filePath": path, "line": at.Line + 1, "character": at.Character + 1,
	}}
	if err := ask(ctx, call, req); err != nil {
		return tool.Result{}, err
	}
	progress(call, place, nil)
	var res tool.Result
	switch in.Operation {
	case opRename:
		if strings.TrimSpace(in.NewName) == "" {
			return tool.Result{}, failf("rename needs a newName.")
		}
		edits, err := e.Code.Rename(ctx, file.language(), at, in.NewName)
		res, err = e.make(ctx, call, edits, err)
		if err != nil {
			return tool.Result{}, err
		}
	case opActions, opImports:
		res, err = e.action(ctx, call, in, file, at)
	default:
		res, err = e.question(ctx, in, file, at)
	}
	if err == nil {
		res.Title = place
	}
	return res, err
}

func (e codeTools) question(ctx context.Context, in lspInput, file fileState, at lsp.Position) (tool.Result, error) {
	found, err := e.Code.Ask(ctx, lsp.Operation(in.Operation), file.language(), at, in.Query)
	if err != nil {
		return tool.Result{}, err
	}
	out := "No results found for " + in.Operation
	if len(found) > 0 {
		var pretty bytes.Buffer
		raw, err := json.Marshal(found)
		if err == nil {
			err = json.Indent(&pretty, raw, "", "  ")
		}
		if err != nil {
			return tool.Result{}, err
		}
		out = pretty.String()
	}
	return tool.Result{Output: out, Metadata: map[string]any{"result": len(found)}}, nil
}

// action lists what can be done at a place, or does what was chosen by its title.
func (e codeTools) action(ctx context.Context, call *tool.Call, in lspInput, file fileState, at lsp.Position) (tool.Result, error) {
	span, kind := lsp.Range{Start: at, End: at}, ""
	if in.Operation == opImports {
		text := LanguageText(file.data)
		span, kind = lsp.Range{End: lsp.Position{Line: strings.Count(text, "\n")}}, "source.organizeImports"
	}
	actions, err := e.Code.Actions(ctx, file.language(), span, kind)
	if err != nil {
		return tool.Result{}, err
	}
	i := 0
	if in.Operation == opActions {
		i = slices.IndexFunc(actions, func(a lsp.Action) bool { return in.Title != "" && a.Title == in.Title })
	}
	switch {
	case len(actions) == 0 && kind != "":
		return tool.Result{Output: "There is nothing to organise."}, nil
	case in.Title == "" && kind == "":
		return tool.Result{Output: listActions(actions)}, nil
	case i < 0:
		return tool.Result{}, failf("There is no action %q here. %s", in.Title, listActions(actions))
	}
	edits, err := actions[i].Edits(ctx)
	return e.make(ctx, call, edits, err)
}

func listActions(actions []lsp.Action) string {
	if len(actions) == 0 {
		return "No code actions are offered here."
	}
	lines := []string{"Code actions, of which one is carried out by calling again with its title:"}
	for _, a := range actions {
		line := "- " + a.Title
		if a.Kind != "" {
			line += " (" + a.Kind + ")"
		}
		if a.Disabled != "" {
			line += ": not now, " + a.Disabled
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// make carries out what a language server wants edited, as a patch.
func (e codeTools) make(ctx context.Context, call *tool.Call, edits []lsp.Edit, err error) (tool.Result, error) {
	switch {
	case err != nil && ctx.Err() == nil:
		return tool.Result{}, failf("The language server did not do it: %v", err)
	case err != nil:
		return tool.Result{}, err
	case len(edits) == 0:
		return tool.Result{Output: "There is nothing to change."}, nil
	}
	var paths []string
	for _, edit := range edits {
		for _, path := range []string{edit.Path, edit.To} {
			if path == "" {
				continue
			}
			real, err := e.target(path)
			if err != nil {
				return tool.Result{}, err
			}
			if slices.Contains(paths, real) {
				return tool.Result{}, failf("The language server wants %s changed twice.", path)
			}
			paths = append(paths, real)
		}
	}
	ticket, err := e.leave(ctx, call, paths...)
	if err != nil {
		return tool.Result{}, err
	}
	unlock, err := e.Locks.Lock(ctx, paths...)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	var changes []patchChange
	for _, edit := range edits {
		c, err := e.proposed(ctx, call, edit)
		if err != nil {
			return tool.Result{}, err
		}
		if c.kind != "" {
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return tool.Result{Output: "There is nothing to change."}, nil
	}
	return e.carryOut(ctx, call, ticket, changes)
}

// proposed is an edit as a change of a file. Its kind is empty where nothing changes.
func (e codeTools) proposed(ctx context.Context, call *tool.Call, edit lsp.Edit) (patchChange, error) {
	from, err := e.look(ctx, call, edit.Path)
	if err != nil {
		return patchChange{}, err
	}
	c := patchChange{change: change{from: from}}
	switch {
	case edit.Create && from.exists:
		return c, failf("The language server wants to create %s, which exists already.", from.path)
	case !edit.Create && !from.exists:
		return c, failf("The language server wants to change %s, which does not exist.", from.path)
	case edit.Remove:
		c.kind = "delete"
		return c, nil
	}
	if err := e.guessable(call, from); err != nil {
		return c, err
	}
	if c.after, err = editedBytes(from.data, edit); err != nil {
		return c, failf("%s: %v", from.path, err)
	}
	switch {
	case edit.Create:
		c.kind = "add"
	case edit.To != "" && filepath.Clean(edit.To) != from.path:
		to, err := e.resolve(edit.To)
		if err != nil {
			return c, err
		}
		state, err := e.look(ctx, call, to)
		if err == nil && state.exists {
			err = failf("%s exists already, so nothing can be moved there", to)
		}
		if err != nil {
			return c, err
		}
		c.kind, c.to = "move", &state
	case !bytes.Equal(c.after, from.data):
		c.kind = "update"
	}
	return c, nil
}

// editedBytes applies an edit to what a file holds and keeps its mark and encoding.
func editedBytes(data []byte, edit lsp.Edit) ([]byte, error) {
	raw, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	if LanguageText(data) == string(raw) {
		text, err := edit.Apply(string(raw))
		if err != nil {
			return nil, err
		}
		if marked {
			text = "\ufeff" + text
		}
		return []byte(text), nil
	}
	t, err := workspace.Decode(data)
	if err != nil || t.Encoding == workspace.Bytes {
		return nil, errors.New("it is not text that can be edited")
	}
	text, err := edit.Apply(t.Content)
	if err != nil {
		return nil, err
	}
	return workspace.Encode(t.With(text)), nil
}
