package builtin

import (
	"bytes"
	"context"
	_ "embed" // the descriptions
	"maps"
	"strings"

	"lathe/internal/diff"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

//go:embed edit.md
var editText string

//go:embed multiedit.md
var multieditText string

const editProperties = `"oldString":{"type":"string","description":"The text to replace, exactly as it is in the file"},` +
	`"newString":{"type":"string","description":"The text to put in its place"},` +
	`"replaceAll":{"type":"boolean","description":"Replace every occurrence; false if left out"}`

type replacement struct {
	OldString  string `json:"oldString"`
	NewString  string `json:"newString"`
	ReplaceAll bool   `json:"replaceAll"`
}

type editInput struct {
	FilePath string `json:"filePath"`
	replacement
}

type multieditInput struct {
	FilePath string        `json:"filePath"`
	Edits    []replacement `json:"edits"`
}

func (e *Env) editTool() tool.Tool {
	s := spec("edit", editText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file to change"},`+editProperties+`},`+
		`"required":["filePath","oldString","newString"],"additionalProperties":false}`)
	s.PathArg = "filePath"
	return typed[editInput]{s, func(ctx context.Context, call *tool.Call, in editInput) (tool.Result, error) {
		return e.edit(ctx, call, in.FilePath, []replacement{in.replacement})
	}}
}

func (e *Env) multieditTool() tool.Tool {
	s := spec("multiedit", multieditText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file to change"},`+
		`"edits":{"type":"array","minItems":1,"description":"The replacements, applied one after the other","items":{"type":"object","properties":{`+
		editProperties+`},"required":["oldString","newString"],"additionalProperties":false}}},`+
		`"required":["filePath","edits"],"additionalProperties":false}`)
	s.Permission, s.PathArg = "edit", "filePath"
	return typed[multieditInput]{s, func(ctx context.Context, call *tool.Call, in multieditInput) (tool.Result, error) {
		return e.edit(ctx, call, in.FilePath, in.Edits)
	}}
}

// edit applies the replacements to one file, all or none.
func (e *Env) edit(ctx context.Context, call *tool.Call, path string, edits []replacement) (tool.Result, error) {
	path, err := e.reserve(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	unlock, err := e.Locks.Lock(ctx, path)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	from, err := e.look(path)
	if err != nil {
		return tool.Result{}, err
	}
	if err := e.editable(call, from, edits); err != nil {
		return tool.Result{}, err
	}
	after, err := applyAll(from, edits)
	if err != nil {
		return tool.Result{}, err
	}
	c := change{from: from, after: after}
	patch := c.unified()
	if err := e.approve(ctx, call, diff.Dedent(patch), c); err != nil {
		return tool.Result{}, err
	}
	final, err := e.store(ctx, call, c)
	if err != nil {
		return tool.Result{}, err
	}
	if !bytes.Equal(c.after, final.data) { // a formatter changed it
		c.after = final.data
		patch = c.unified()
	}
	meta := c.describe(patch)
	meta["diagnostics"] = map[string]any{}
	progress(call, final.name, maps.Clone(meta)) // who was told reads it while we go on
	found := e.diagnose(ctx, path)
	meta["diagnostics"] = diagnosticsMeta(found)
	meta["truncated"] = false
	return tool.Result{
		Title:    final.name,
		Output:   withErrors("Edit applied successfully.", diagnosticsThisFile, errorBlock(path, found[path])),
		Metadata: meta,
	}, nil
}

// editable checks that the file is one the model knows, or is to be created.
func (e *Env) editable(call *tool.Call, from fileState, edits []replacement) error {
	if !from.exists {
		if edits[0].OldString == "" {
			return nil
		}
		if near := suggestions(from.path); len(near) > 0 {
			return failf("File %s not found\n\nDid you mean one of these?\n%s", from.path, strings.Join(near, "\n"))
		}
		return failf("File %s not found", from.path)
	}
	if edits[0].OldString == "" {
		return failf("oldString is empty, but %s exists already: give the exact text to replace, or use write to replace the whole file.", from.path)
	}
	return e.Seen.Compare(call.SessionID, from.path, from.info, from.data)
}

// applyAll makes the new content. An empty first oldString creates the file.
func applyAll(from fileState, edits []replacement) ([]byte, error) {
	data := from.data
	for i, r := range edits {
		var err error
		switch {
		case i == 0 && !from.exists:
			data = []byte(r.NewString)
		case r.OldString == r.NewString:
			err = failf("No changes to apply: oldString and newString are identical.")
		case r.OldString == "":
			err = failf("oldString is empty: give the exact text to replace.")
		default:
			data, err = r.apply(data)
		}
		if err != nil && len(edits) > 1 {
			return nil, failf("Edit %d of %d does not apply, so the file was not changed. %v", i+1, len(edits), err)
		}
		if err != nil {
			return nil, err
		}
	}
	if from.exists && bytes.Equal(data, from.data) {
		return nil, failf("No changes to apply: the file would stay as it is.")
	}
	return data, nil
}

// apply makes one replacement. Encoding, byte order mark and the line ends of
// what is not replaced stay as they are.
func (r replacement) apply(data []byte) ([]byte, error) {
	text, err := workspace.Decode(data)
	if err != nil {
		return nil, failf("The file cannot be edited: %v", err)
	}
	m, err := locate(text.Content, withoutMark(r.OldString), withoutMark(r.NewString), r.ReplaceAll)
	if err != nil {
		return nil, err
	}
	if text.EOL == workspace.Mixed && (text.Encoding == workspace.UTF8 || text.Encoding == workspace.Bytes) {
		raw, marked := bytes.CutPrefix(data, []byte("\ufeff"))
		out := newEOLText(string(raw)).replace(m.spans, m.text)
		if marked {
			out = "\ufeff" + out
		}
		return []byte(out), nil
	}
	return workspace.Encode(text.With(eolText{lf: text.Content}.replace(m.spans, m.text))), nil
}

// withoutMark returns a text argument as it is compared with a file's text.
func withoutMark(s string) string { return toLF(strings.TrimPrefix(s, "\ufeff")) }
