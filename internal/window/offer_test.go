package window

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/mcp"
	"lathe/internal/prompt"
)

// TestDifferences tells what servers offer now that they did not when a window began.
func TestDifferences(t *testing.T) {
	named := func(key, text string) mcp.Named {
		return mcp.Named{Key: key, Server: "s", Tool: mcp.Tool{Name: key, Description: text, Schema: []byte(`{}`)}}
	}
	before := &mcp.Offer{Tools: []mcp.Named{named("same", "a"), named("other", "a"), named("gone", "a")}}
	now := &mcp.Offer{Tools: []mcp.Named{named("same", "a"), named("other", "b"), named("new", "a")}}
	want := api.MCPRefreshed{Added: []string{"new"}, Gone: []string{"gone"}, Changed: []string{"other"}}
	if diff := cmp.Diff(want, differences(before, now)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(api.MCPRefreshed{Added: []string{}, Gone: []string{}, Changed: []string{}}, differences(nil, nil)); diff != "" {
		t.Errorf("of nothing (-want +got):\n%s", diff)
	}
}

// TestTakenOffer holds that an offer is known by its content, and that none is none.
func TestTakenOffer(t *testing.T) {
	var f frozen
	f.take(mcp.Offer{})
	if f.MCP != "" || f.offer != nil {
		t.Errorf("nothing was frozen as %q", f.MCP)
	}
	o := mcp.Offer{Servers: []mcp.Offered{{Name: "s"}}}
	f.take(o)
	if f.MCP != o.ID() || f.offer == nil {
		t.Errorf("frozen as %q", f.MCP)
	}
}

// TestToldServers tells of servers by what the model knows of them: what it was told last,
// which need not be what its window began with.
func TestToldServers(t *testing.T) {
	one := mcp.Named{Key: "a_x", Server: "a", Tool: mcp.Tool{Name: "x", Schema: []byte(`{}`)}}
	two := mcp.Named{Key: "b_y", Server: "b", Tool: mcp.Tool{Name: "y", Schema: []byte(`{}`)}}
	began, both := &mcp.Offer{Tools: []mcp.Named{one}}, &mcp.Offer{Servers: []mcp.Offered{{Name: "a"}, {Name: "b"}}, Tools: []mcp.Named{one, two}}
	f := &frozen{MCP: began.ID(), offer: began}
	w := &Window{}
	if got := w.lastTold(t.Context(), f); got != began {
		t.Errorf("at first the model knows of %+v", got)
	}
	f.ToldMCP, f.told = both.ID(), both
	if got := w.lastTold(t.Context(), f); got != both {
		t.Errorf("after it was told it knows of %+v", got)
	}
	want := prompt.Reminder("MCP servers offer other tools than before. They are gone: b_y.")
	if diff := cmp.Diff(want, tellServers(both, began)); diff != "" {
		t.Errorf("one has gone again (-want +got):\n%s", diff)
	}
	want = prompt.Reminder("MCP servers offer other tools than before. They can be called from now on, and mcp_search tells their arguments: b_y.")
	if diff := cmp.Diff(want, tellServers(began, both)); diff != "" {
		t.Errorf("one has come (-want +got):\n%s", diff)
	}
	if got := tellServers(both, both); got != "" {
		t.Errorf("nothing has changed, and the model is told %q", got)
	}
	f.take(*both)
	if got := w.lastTold(t.Context(), f); f.ToldMCP != "" || got.ID() != both.ID() {
		t.Errorf("after a new prompt it knows of %+v, told %q", got, f.ToldMCP)
	}
}
