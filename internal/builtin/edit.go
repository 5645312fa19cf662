package builtin

import (
	"bytes"
	"context"
	_ "embed" // the descriptions
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/diff"
	"lathe/internal/say"
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

func (e editTools) editTool() tool.Tool {
	s := spec("edit", editText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file to change"},`+editProperties+`},`+
		`"required":["filePath","oldString","newString"],"additionalProperties":false}`)
	s.PathArg = "filePath"
	return typed(s, func(ctx context.Context, call *tool.Call, in editInput) (tool.Result, error) {
		return e.edit(ctx, call, in.FilePath, []replacement{in.replacement})
	})
}

func (e editTools) multieditTool() tool.Tool {
	s := spec("multiedit", multieditText, `{"type":"object","properties":{`+
		`"filePath":{"type":"string","description":"Path of the file to change"},`+
		`"edits":{"type":"array","minItems":1,"description":"The replacements, applied one after the other","items":{"type":"object","properties":{`+
		editProperties+`},"required":["oldString","newString"],"additionalProperties":false}}},`+
		`"required":["filePath","edits"],"additionalProperties":false}`)
	s.Permission, s.PathArg = "edit", "filePath"
	s.Quiet = true // several calls of edit do the same
	return typed(s, func(ctx context.Context, call *tool.Call, in multieditInput) (tool.Result, error) {
		return e.edit(ctx, call, in.FilePath, in.Edits)
	})
}

// edit applies the replacements to one file, all or none.
func (e editTools) edit(ctx context.Context, call *tool.Call, path string, edits []replacement) (tool.Result, error) {
	path, ticket, err := e.reserve(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	from, free, err := e.hold(ctx, call, path)
	if err != nil {
		return tool.Result{}, err
	}
	defer free()
	if err := e.editable(ctx, call, from, edits); err != nil {
		return tool.Result{}, err
	}
	stale := e.Seen.Since(call.SessionID, path, from.info, from.data)
	done, err := applyAll(from, edits)
	if err != nil {
		return tool.Result{}, err
	}
	c := change{from: from, after: done.data}
	patch := c.unified()
	watch := e.watch(from)
	defer watch.Drop()
	if err := e.approve(ctx, call, diff.Dedent(patch), ticket, c); err != nil {
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
	found := watch.After(ctx, final.language())
	meta["diagnostics"] = diagnosticsMeta(found.All)
	meta["truncated"] = false
	out := "Edit applied successfully." + done.told(bytes.Equal(done.data, final.data)) + since(stale, from.exists)
	out += formatted(done.data, final.data)
	return tool.Result{
		Title:    final.name,
		Output:   e.withReport(out, path, found),
		Metadata: meta,
	}, nil
}

// editable checks that the file can be edited as the model wants. A text that occurs
// once needs no earlier read. Replacing every occurrence does, since nobody says how
// many there are, and so does a file that must not be read without an ask: what
// matches in it would reveal its contents.
func (e editTools) editable(ctx context.Context, call *tool.Call, from fileState, edits []replacement) error {
	if !from.exists {
		if edits[0].OldString == "" {
			return nil
		}
		return failf("File %s not found%s", from.path, e.meant(ctx, call, from.path))
	}
	if edits[0].OldString == "" {
		return failf("oldString is empty, but %s exists already: give the exact text to replace, or use write to replace the whole file.", from.path)
	}
	if slices.ContainsFunc(edits, func(r replacement) bool { return r.ReplaceAll }) {
		return e.Seen.CompareAny(call.SessionID, from.path, from.info, from.data)
	}
	return e.guessable(call, from)
}

// guessable refuses a change whose success would reveal the contents of a file
// that the rules do not simply let the model read, unless it has read the file.
func (e editTools) guessable(call *tool.Call, from fileState) error {
	if from.exists && e.reading(call).Path(from.path).Action != lathe.Allow {
		return e.Seen.Compare(call.SessionID, from.path, from.info, from.data)
	}
	return nil
}

// applied is what edits made of a file.
type applied struct {
	data  []byte
	count int    // replacements of edits with replaceAll
	every bool   // there was such an edit
	loose string // differences that were ignored
	shown string // the resulting lines of an edit that was not matched exactly
}

// told says what is not obvious from the call: how many replacements were made, and the
// result of a text that was not matched exactly. Final says that this is what the file
// now holds.
func (a applied) told(final bool) string {
	var out string
	if a.every {
		out = fmt.Sprintf(" %s.", say.Plural(a.count, "replacement"))
	}
	if a.loose != "" {
		out += " The file has " + a.loose + " than oldString said"
		if strings.HasPrefix(a.loose, "no ") {
			out = strings.TrimSuffix(out, " than oldString said") + ", so these were left out"
		}
		if !final || a.shown == "" {
			return out + "."
		}
		out += "; it now reads:\n" + a.shown
	}
	return out
}

// applyAll makes the new content. An empty first oldString creates the file.
func applyAll(from fileState, edits []replacement) (applied, error) {
	out := applied{data: from.data}
	for i, r := range edits {
		var err error
		switch {
		case i == 0 && !from.exists:
			out.data = []byte(r.NewString)
		case r.OldString == r.NewString:
			err = failf("No changes to apply: oldString and newString are identical.")
		case r.OldString == "":
			err = failf("oldString is empty: give the exact text to replace.")
		default:
			err = out.apply(r)
		}
		if err != nil && len(edits) > 1 {
			return out, failf("Edit %d of %d does not apply, so the file was not changed. %v", i+1, len(edits), err)
		}
		if err != nil {
			return out, err
		}
	}
	if from.exists && bytes.Equal(out.data, from.data) {
		return out, failf("No changes to apply: the file would stay as it is.")
	}
	if len(edits) > 1 {
		out.shown = "" // line numbers may have changed
	}
	return out, nil
}

// apply makes one replacement. Encoding, byte order mark and the line ends of
// what is not replaced stay as they are.
func (a *applied) apply(r replacement) error {
	text, err := workspace.Decode(a.data)
	if err != nil {
		return failf("The file cannot be edited: %v", err)
	}
	m, err := locate(text.Content, withoutMark(r.OldString), withoutMark(r.NewString), r.ReplaceAll)
	if err != nil {
		return err
	}
	if r.ReplaceAll {
		a.every, a.count = true, a.count+len(m.spans)
	}
	if m.loose != "" {
		a.loose, a.shown = m.loose, m.result(text.Content)
	}
	if text.EOL == workspace.Mixed && (text.Encoding == workspace.UTF8 || text.Encoding == workspace.Bytes) {
		raw, marked := bytes.CutPrefix(a.data, []byte("\ufeff"))
		out := newEOLText(string(raw)).replace(m.spans, m.texts)
		if marked {
			out = "\ufeff" + out
		}
		a.data = []byte(out)
		return nil
	}
	a.data = workspace.Encode(text.With(eolText{lf: text.Content}.replace(m.spans, m.texts)))
	return nil
}

// withoutMark returns a text argument as it is compared with a file's text.
func withoutMark(s string) string { return toLF(strings.TrimPrefix(s, "\ufeff")) }
