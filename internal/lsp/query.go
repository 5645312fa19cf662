package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Operation is a question about a place, as the lsp tool names it.
type Operation string

// The questions.
const (
	Definition      Operation = "goToDefinition"
	References      Operation = "findReferences"
	Hover           Operation = "hover"
	DocumentSymbols Operation = "documentSymbol"
	WorkspaceSymbol Operation = "workspaceSymbol"
	Implementation  Operation = "goToImplementation"
	CallHierarchy   Operation = "prepareCallHierarchy"
	IncomingCalls   Operation = "incomingCalls"
	OutgoingCalls   Operation = "outgoingCalls"
)

// ErrNoServer means that no language server serves a file.
//
//lint:ignore ST1005 a sentence for the model, as OpenCode has it
var ErrNoServer = errors.New("No LSP server available for this file type.")

// startWait is how long somebody who asks waits for a server to start.
const startWait = initLimit

// serve makes sure that the servers of a file run and know it, and returns them. The
// error is that of the last one that does not work, if none does.
func (s *Servers) serve(ctx context.Context, f File) ([]*client, error) {
	wanted := s.serving(f.Path)
	if len(wanted) == 0 {
		return nil, ErrNoServer
	}
	s.pool.forgive(wanted)
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	var out []*client
	var failed error
	for _, w := range wanted {
		c, err := s.client(ctx, w)
		if err != nil {
			failed = fmt.Errorf("language server %s: %w", w.spec.ID, err)
			continue
		}
		c.check(ctx, s.wait, []File{f}) // several answer only once they have looked at a file
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, failed
	}
	return out, nil
}

// forgive makes lathe wait again for a start that took too long.
func (p *Pool) forgive(wishes []wanted) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range wishes {
		for _, e := range p.all {
			if e.base == w.base() {
				e.late = false
			}
		}
	}
}

// Ask asks the servers of a file and returns their answers in the protocol's format.
// Query is for symbols of the workspace. A server without the ability gives no answer.
func (s *Servers) Ask(ctx context.Context, op Operation, f File, at Position, query string) ([]json.RawMessage, error) {
	clients, err := s.serve(ctx, f)
	if err != nil {
		return nil, err
	}
	var out []json.RawMessage
	for _, c := range clients {
		out = append(out, c.inquireOf(ctx, op, f, at, query)...)
	}
	return out, ctx.Err()
}

func (c *client) inquireOf(ctx context.Context, op Operation, f File, at Position, query string) []json.RawMessage {
	place := placeParams{docID{URI: uriOf(f.Path)}, linesOf(f.Text).position(at, utf16Units, c.enc)}
	switch op {
	case Definition:
		return c.results(ctx, bool(c.caps.Definition), "textDocument/definition", place)
	case Implementation:
		return c.results(ctx, bool(c.caps.Implementation), "textDocument/implementation", place)
	case Hover:
		return c.results(ctx, bool(c.caps.Hover), "textDocument/hover", place)
	case References:
		return c.results(ctx, bool(c.caps.References), "textDocument/references", map[string]any{
			"textDocument": place.TextDocument, "position": place.Position, "context": map[string]bool{"includeDeclaration": true},
		})
	case DocumentSymbols:
		return c.results(ctx, bool(c.caps.DocumentSymbol), "textDocument/documentSymbol", docParams{place.TextDocument})
	case WorkspaceSymbol:
		return c.symbols(ctx, query)
	}
	items := c.results(ctx, bool(c.caps.CallHierarchy), "textDocument/prepareCallHierarchy", place)
	method := map[Operation]string{IncomingCalls: "callHierarchy/incomingCalls", OutgoingCalls: "callHierarchy/outgoingCalls"}[op]
	if method == "" || len(items) == 0 {
		return items
	}
	return c.results(ctx, true, method, map[string]any{"item": items[0]})
}

// results asks one thing and returns the answer as a list. An error is no answer.
func (c *client) results(ctx context.Context, can bool, method string, params any) []json.RawMessage {
	if !can {
		return nil
	}
	var raw json.RawMessage
	if c.request(ctx, method, params, &raw) != nil || len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	return []json.RawMessage{raw}
}

// Symbol is something that has a name in the workspace.
type Symbol struct {
	Name string `json:"name"`
	Kind int    `json:"kind"`
	URI  string `json:"-"`
	Path string `json:"-"`
	Range
}

// symbolKinds are the kinds that are searched: classes, methods, enums,
// interfaces, functions, variables, constants and structs.
var symbolKinds = []int{5, 6, 10, 11, 12, 13, 14, 23}

const mostSymbols = 10 // of one server

func (c *client) symbols(ctx context.Context, query string) []json.RawMessage {
	list := c.results(ctx, bool(c.caps.WorkspaceSymbol), "workspace/symbol", map[string]string{"query": query})
	list = slices.DeleteFunc(list, func(raw json.RawMessage) bool {
		var s struct {
			Kind int `json:"kind"`
		}
		return json.Unmarshal(raw, &s) != nil || !slices.Contains(symbolKinds, s.Kind)
	})
	return list[:min(len(list), mostSymbols)]
}

// Symbols looks for names in the workspace, with the servers that run. It starts none.
func (s *Servers) Symbols(ctx context.Context, query string) []Symbol {
	out := []Symbol{}
	if s == nil {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, c := range s.clients() {
		for _, raw := range c.symbols(ctx, query) {
			var w struct {
				Name     string
				Kind     int
				Location struct {
					URI   string
					Range Range
				}
			}
			if json.Unmarshal(raw, &w) == nil && within(s.place.Worktree, pathOf(w.Location.URI)) {
				out = append(out, Symbol{w.Name, w.Kind, w.Location.URI, pathOf(w.Location.URI), w.Location.Range})
			}
		}
	}
	return out
}

// SymbolAt returns the range of the symbol that begins in a line of a file, whose name
// may be on a later line. Only servers that run are asked.
func (s *Servers) SymbolAt(ctx context.Context, f File, line int) (Range, bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if s == nil {
		return Range{}, false
	}
	for _, w := range s.serving(f.Path) {
		c, err := s.client(ctx, w)
		if err != nil {
			continue
		}
		c.touch([]File{f})
		for _, raw := range c.results(ctx, bool(c.caps.DocumentSymbol), "textDocument/documentSymbol", docParams{docID{URI: uriOf(f.Path)}}) {
			if r, ok := beginning(raw, line, 0); ok {
				return linesOf(f.Text).span(r, c.enc, utf16Units), true
			}
		}
	}
	return Range{}, false
}

// beginning looks for the symbol that begins in a line, among one and those in it.
func beginning(raw json.RawMessage, line, depth int) (Range, bool) {
	const deepest = 50
	var s struct {
		Range     *Range
		Selection Range `json:"selectionRange"`
		Location  struct{ Range Range }
		Children  []json.RawMessage
	}
	if depth > deepest || json.Unmarshal(raw, &s) != nil {
		return Range{}, false
	}
	r := s.Location.Range
	if s.Range != nil {
		r = *s.Range
		if s.Selection.Start.Line == line {
			return r, true
		}
	}
	if r.Start.Line == line {
		return r, true
	}
	for _, child := range s.Children {
		if r, ok := beginning(child, line, depth+1); ok {
			return r, true
		}
	}
	return Range{}, false
}
