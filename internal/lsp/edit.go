package lsp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/order"
	"lathe/internal/workspace"
)

// Edit is what a server wants done to a file: another text, or a file that is made,
// moved or removed.
type Edit struct {
	Path   string
	To     string // where it is moved; else empty
	Create bool
	Remove bool
	texts  []textEdit
	enc    encoding
}

// textEdit replaces a range.
type textEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// workspaceEdit is a server's edit of several files: in either of the protocol's forms.
type workspaceEdit struct {
	Changes   map[string][]textEdit `json:"changes"`
	Documents []documentEdit        `json:"documentChanges"`
}

type documentEdit struct {
	Kind     string     `json:"kind"` // create, rename or delete; otherwise it is a text edit
	URI      string     `json:"uri"`
	OldURI   string     `json:"oldUri"`
	NewURI   string     `json:"newUri"`
	Document docID      `json:"textDocument"`
	Edits    []textEdit `json:"edits"`
}

const mostEdits = 5000 // files of one edit

// edits returns the edits of single files, in the order in which the files are first
// named.
func (w workspaceEdit) edits(enc encoding) ([]Edit, error) {
	list := w.Documents
	if len(list) == 0 {
		for uri, edits := range w.Changes {
			list = append(list, documentEdit{Document: docID{URI: uri}, Edits: edits})
		}
		order.Stable(list, func(a, b documentEdit) int { return cmp.Compare(a.Document.URI, b.Document.URI) })
	}
	if len(list) > mostEdits {
		return nil, fmt.Errorf("the edit is of %d files; lathe makes at most %d", len(list), mostEdits)
	}
	var out []Edit
	at := func(uri string) (*Edit, error) {
		path := pathOf(uri)
		if path == "" {
			return nil, fmt.Errorf("the edit names something that is not a file: %q", uri)
		}
		path, err := workspace.Resolve(path)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(e Edit) bool { return e.Path == path || e.To == path })
		if i < 0 {
			i, out = len(out), append(out, Edit{Path: path, enc: enc})
		}
		return &out[i], nil
	}
	for _, d := range list {
		e, err := at(cmp.Or(d.URI, d.OldURI, d.Document.URI))
		if err != nil {
			return nil, err
		}
		switch d.Kind {
		case "create":
			e.Create = true
		case "delete":
			e.Remove = true
		case "rename":
			if e.To = pathOf(d.NewURI); e.To == "" {
				return nil, fmt.Errorf("the edit names something that is not a file: %q", d.NewURI)
			}
		default:
			e.texts = append(e.texts, d.Edits...)
		}
	}
	return out, nil
}

// Apply returns the text after the edit. It has the server's line ends, except that a
// text with only CRLF keeps CRLF.
func (e Edit) Apply(text string) (string, error) {
	type span struct {
		from, to int
		text     string
	}
	windows := strings.Contains(text, "\r\n") && strings.Count(text, "\n") == strings.Count(text, "\r\n")
	var spans []span
	for _, t := range e.texts {
		s := span{e.offset(text, t.Range.Start), e.offset(text, t.Range.End), t.NewText}
		if s.from > s.to {
			return "", errors.New("a range of the edit ends before it begins")
		}
		if windows {
			s.text = strings.ReplaceAll(strings.ReplaceAll(s.text, "\r\n", "\n"), "\n", "\r\n")
		}
		spans = append(spans, s)
	}
	order.Stable(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out strings.Builder
	end := 0
	for _, s := range spans {
		if s.from < end {
			return "", errors.New("ranges of the edit overlap")
		}
		out.WriteString(text[end:s.from])
		out.WriteString(s.text)
		end = s.to
	}
	out.WriteString(text[end:])
	return out.String(), nil
}

func (e Edit) offset(text string, p Position) int {
	if e.enc == utf16Units {
		return offsetIn(text, p)
	}
	line := offsetIn(text, Position{Line: p.Line})
	rest := text[line:]
	if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
		rest = rest[:i]
	}
	return line + e.enc.offset(rest, p.Character)
}

// Rename asks for the edits that rename the symbol at a place.
func (s *Servers) Rename(ctx context.Context, f File, at Position, name string) ([]Edit, error) {
	clients, err := s.serve(ctx, f)
	if err != nil {
		return nil, err
	}
	err = errors.New("the language servers of this file cannot rename")
	for _, c := range clients {
		if !c.caps.Rename {
			continue
		}
		c.ready(ctx)
		var edit *workspaceEdit
		err = c.request(ctx, "textDocument/rename", map[string]any{
			"textDocument": docID{URI: uriOf(f.Path)}, "position": linesOf(f.Text).position(at, utf16Units, c.enc), "newName": name,
		}, &edit)
		if err == nil && edit != nil {
			return edit.edits(c.enc)
		}
		if err == nil {
			err = errors.New("there is nothing that can be renamed at this place")
		}
	}
	return nil, err
}

// ready waits for a server that is still reading the project: it would know only some of
// the uses of a name.
func (c *client) ready(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	defer context.AfterFunc(c.live, cancel)()
	c.works.wait(ctx)
}

// Action is a change that a server offers for a place.
type Action struct {
	Title    string
	Kind     string // quickfix, refactor.extract, source.organizeImports …
	Disabled string // why it cannot be done now

	client *client
	raw    json.RawMessage
}

// Actions lists what the servers of a file offer for a range, of one kind, or all.
func (s *Servers) Actions(ctx context.Context, f File, at Range, kind string) ([]Action, error) {
	clients, err := s.serve(ctx, f)
	if err != nil {
		return nil, err
	}
	var out []Action
	for _, c := range clients {
		if !c.caps.CodeAction.Can {
			continue
		}
		about := map[string]any{"diagnostics": c.wireIn(f.Path, at), "triggerKind": 1}
		if kind != "" {
			about["only"] = []string{kind}
		}
		for _, raw := range c.results(ctx, true, "textDocument/codeAction", map[string]any{
			"textDocument": docID{URI: uriOf(f.Path)}, "range": linesOf(f.Text).span(at, utf16Units, c.enc), "context": about,
		}) {
			var a struct {
				Title    string
				Kind     string
				Disabled struct{ Reason string }
			}
			if json.Unmarshal(raw, &a) == nil && a.Title != "" && (kind == "" || a.Kind == kind || strings.HasPrefix(a.Kind, kind+".")) {
				out = append(out, Action{a.Title, a.Kind, a.Disabled.Reason, c, raw})
			}
		}
	}
	return out, ctx.Err()
}

// wireIn returns the diagnostics of a range, as the server wrote them.
func (c *client) wireIn(path string, at Range) []wireDiagnostic {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := []wireDiagnostic{}
	if f := c.files[path]; f != nil {
		for _, d := range f.all() {
			if d.Range.Start.Line <= at.End.Line && d.Range.End.Line >= at.Start.Line {
				out = append(out, *d.wire)
			}
		}
	}
	return out
}

// Edits returns what an action does. If the action is a command of the server, the
// command is run, and the edits that it wants are returned but not made.
func (a Action) Edits(ctx context.Context) ([]Edit, error) {
	if a.Disabled != "" {
		return nil, fmt.Errorf("the action %q cannot be done: %s", a.Title, a.Disabled)
	}
	raw := a.raw
	var action struct {
		Edit    *workspaceEdit
		Command json.RawMessage // an object, or the name if the action itself is a command
		Args    []any           `json:"arguments"`
	}
	if err := json.Unmarshal(raw, &action); err != nil {
		return nil, err
	}
	if action.Edit == nil && action.Command == nil && a.client.caps.CodeAction.Resolve {
		if err := a.client.request(ctx, "codeAction/resolve", raw, &action); err != nil {
			return nil, err
		}
	}
	if action.Edit == nil && action.Command == nil {
		return nil, fmt.Errorf("the action %q changes nothing", a.Title)
	}
	var all []Edit
	if action.Edit != nil {
		edits, err := action.Edit.edits(a.client.enc)
		if err != nil {
			return nil, err
		}
		all = edits
	}
	if len(action.Command) > 0 && !bytes.Equal(action.Command, []byte("null")) {
		more, err := a.client.run(ctx, action.Command, action.Args)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// run carries out a command of the server and collects the edits that it wants made.
// One command runs at a time.
func (c *client) run(ctx context.Context, command json.RawMessage, args []any) ([]Edit, error) {
	var name string
	if json.Unmarshal(command, &name) != nil {
		var object struct {
			Command   string
			Arguments []any
		}
		if err := json.Unmarshal(command, &object); err != nil {
			return nil, err
		}
		name, args = object.Command, object.Arguments
	}
	c.commands.Lock()
	defer c.commands.Unlock()
	var wanted []workspaceEdit
	c.mu.Lock()
	c.applied = &wanted
	c.mu.Unlock()
	err := c.request(ctx, "workspace/executeCommand", map[string]any{"command": name, "arguments": args}, nil)
	c.mu.Lock()
	c.applied = nil
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var out []Edit
	for _, w := range wanted {
		edits, err := w.edits(c.enc)
		if err != nil {
			return nil, err
		}
		out = append(out, edits...)
	}
	return out, nil
}

// NewEdit returns an edit that replaces one range of a file, in UTF-16 units.
func NewEdit(path string, fromLine, from, toLine, to int, text string) Edit {
	r := Range{Position{fromLine, from}, Position{toLine, to}}
	return Edit{Path: path, texts: []textEdit{{r, text}}, enc: utf16Units}
}
