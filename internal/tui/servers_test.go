package tui

import (
	"context"
	"testing"

	"lathe"
	"lathe/internal/api"
)

// serverFake is an engine with MCP servers.
type serverFake struct {
	switched []string
	seen     bool
}

func (f *serverFake) Servers(context.Context, bool) ([]api.MCPServer, error) {
	return []api.MCPServer{
		{Name: "docs", Where: "docs-server", State: "connected", Known: true, Tools: 2, Changed: []string{"a"}},
		{Name: "off", Where: "x", State: "disabled"}, {Name: "bad\x1b[2J", State: "failed", Why: "no such program"},
	}, nil
}

func (f *serverFake) Server(context.Context, string, bool) (api.MCPDetail, error) {
	return api.MCPDetail{MCPServer: api.MCPServer{Known: true}, List: []api.MCPTool{{Key: "docs_search", Description: "finds pages", Hints: "only reads, it says"}}}, nil
}

func (f *serverFake) SwitchServer(_ context.Context, name string, on bool) error {
	f.switched = append(f.switched, name)
	return nil
}

func (f *serverFake) SeenServer(context.Context, string) error { f.seen = true; return nil }

func (f *serverFake) RefreshServers(context.Context, lathe.SessionID) (api.MCPRefreshed, error) {
	return api.MCPRefreshed{Added: []string{"x"}, Resent: 1200}, nil
}

// TestServersAreShownAndSwitched looks at the servers, their tools, and switches one.
func TestServersAreShownAndSwitched(t *testing.T) {
	f := &serverFake{}
	d, _ := ableTo(t, Options{}, question(1, "Start it."))
	d.app.access.Able.Servers = f
	open := func() { d.typed("/mcps"); d.press("esc", "enter") }
	open()
	d.shows("MCP servers", "docs", "connected, 2 tools, changed", "off", "no such program")
	d.press("ctrl+k")
	if len(f.switched) != 1 || f.switched[0] != "docs" {
		t.Errorf("switched %q", f.switched)
	}
	d.press("esc")
	open()
	d.press("enter")
	d.shows("docs_search", "finds pages", "only reads, it says")
	if !f.seen {
		t.Error("it is not noted that the person looked")
	}
}
