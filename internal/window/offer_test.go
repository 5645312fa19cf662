package window

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/mcp"
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
