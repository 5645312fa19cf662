package server

import (
	"path/filepath"

	"lathe/internal/api"
	"lathe/internal/lsp"
)

// serverStatus is a language server as OpenCode's clients know it.
type serverStatus struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Root   string `json:"root"`   // relative to the directory; empty: the directory itself
	Status string `json:"status"` // connected or error
}

// formatterStatus is a formatter as they know it.
type formatterStatus struct {
	Name       string   `json:"name"`
	Extensions []string `json:"extensions"`
	Enabled    bool     `json:"enabled"`
}

// lsp lists the language servers that were started. One that starts is not told yet:
// clients know no such state, and hear of it when it runs.
func (c equipment) lsp() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := []serverStatus{}
	for _, s := range inst.Languages.Servers.Status() {
		if s.State == "starting" {
			continue
		}
		root, err := filepath.Rel(inst.Root.Dir, s.Root)
		switch {
		case err != nil:
			root = s.Root
		case root == ".":
			root = ""
		}
		out = append(out, serverStatus{s.ID, s.ID, filepath.ToSlash(root), s.State})
	}
	return out, nil
}

// formatters lists the formatters, and which of them the directory uses.
func (c equipment) formatters() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := []formatterStatus{}
	for _, f := range inst.Languages.Formatters.Status() {
		out = append(out, formatterStatus(f))
	}
	return out, nil
}

// findSymbols looks for names with the language servers that run. None is started: a
// client asks with each key that the person types.
func (c files) findSymbols() (any, error) {
	if !c.r.URL.Query().Has("query") {
		return nil, badQuery("query", "expected a text")
	}
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	below := inst.Readable.Usual()
	out := []api.Symbol{}
	for _, s := range inst.Languages.Servers.Symbols(c.ctx(), c.query("query")) {
		if below.Path(s.Path).Action != "deny" {
			out = append(out, api.Symbol{Name: s.Name, Kind: s.Kind, Location: api.SymbolLocation{URI: s.URI, Range: symbolRange(s.Range)}})
		}
	}
	return out, nil
}

func symbolRange(r lsp.Range) api.SymbolRange {
	return api.SymbolRange{Start: api.SymbolPlace(r.Start), End: api.SymbolPlace(r.End)}
}
