package compose

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// names is what a language server finds.
type names struct{ asked []string }

func (n *names) Dir() string { return "/work" }
func (n *names) Symbols(_ context.Context, query string) ([]api.Symbol, error) {
	n.asked = append(n.asked, query)
	at := func(uri string, line int) api.Symbol {
		return api.Symbol{Name: "Parse", Location: api.SymbolLocation{URI: uri, Range: api.SymbolRange{Start: api.SymbolPlace{Line: line}}}}
	}
	return []api.Symbol{at("file:///work/d/a%20b.go", 4), at("file:///else/c.go", 0)}, nil
}

func TestSymbolsAreOffered(t *testing.T) {
	found := &names{}
	c := &Composer{access: &engine.Access{Able: engine.Capabilities{Symbols: found}}}
	want := []Completion{
		{Insert: "@d/a b.go#5-5 ", Label: "Parse", Detail: "d/a b.go:5"},
		{Insert: "@/else/c.go#1-1 ", Label: "Parse", Detail: "/else/c.go:1"},
	}
	if diff := cmp.Diff(want, c.symbols("Par")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, query := range []string{"P", "d/Parse", "a.go"} { // too short, or a path
		if got := c.symbols(query); got != nil {
			t.Errorf("%q: %v", query, got)
		}
	}
	if diff := cmp.Diff([]string{"Par"}, found.asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}
