package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
)

// serverFake is an engine with MCP servers.
type serverFake struct {
	switched []string
	seen     bool
	files    []api.MCPImport
	answers  []api.MCPImportAnswer
}

func (f *serverFake) Resources(context.Context) ([]api.MCPResource, error) {
	return []api.MCPResource{
		{Name: "page", URI: "docs://page", Description: "the page 漢字", Server: "docs"}, {Name: "other", URI: "docs://other", Server: "docs"}, {Name: "evil\x1b[2J", URI: "docs://a b", Server: "docs"},
	}, nil
}

func (f *serverFake) Imports(context.Context) ([]api.MCPImport, error) { return f.files, nil }

func (f *serverFake) AnswerImport(_ context.Context, in api.MCPImportAnswer) error {
	f.answers = append(f.answers, in)
	return nil
}

func (f *serverFake) Servers(context.Context, bool) ([]api.MCPServer, error) {
	return []api.MCPServer{
		{Name: "docs", Where: "docs-server", State: "connected", Known: true, Tools: 2, Changed: []string{"a"}},
		{Name: "off", Where: "x", State: "disabled"}, {Name: "bad\x1b[2J", State: "failed", Why: "no such program"},
	}, nil
}

func (f *serverFake) Server(context.Context, string, bool) (api.MCPDetail, error) {
	return api.MCPDetail{MCPServer: api.MCPServer{Known: true, Notes: []string{"the prompt a\x1b[2Jb is called /a_b"}}, List: []api.MCPTool{{Key: "docs_search", Description: "finds pages", Hints: "only reads, it says"}}}, nil
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
	d.shows("docs_search", "finds pages", "only reads, it says", "is called /a_b", "note")
	if !f.seen {
		t.Error("it is not noted that the person looked")
	}
}

// named is a file of a repository that names a server.
func named(state string) api.MCPImport {
	return api.MCPImport{
		ID: "project:/p:/p/.mcp.json", Path: "/p/.mcp.json", Scope: "project", Dir: "/p", State: state, Digest: "d1",
		Servers: []api.MCPImported{{Name: "hall", Where: "node ./漢字\x1b[2J.js", Given: []string{"TOKEN"}}}, Skipped: []string{"x: its type \"ws\" is not supported"},
	}
}

// TestImportsAreAskedOnce asks at the start about a file that names servers, and not about
// one that was answered; the list of servers asks again.
func TestImportsAreAskedOnce(t *testing.T) {
	for key, use := range map[string]bool{"y": true, "n": false, "esc": false, "enter": false, "up enter": true} {
		f := &serverFake{files: []api.MCPImport{named("new")}}
		d, _ := ableTo(t, Options{}, question(1, "Start it."))
		d.app.access.Able.Imports = f
		d.do(d.app.servers.Ask(d.app.opts.Now))
		d.shows("use these MCP servers?", "/p/.mcp.json of this repository names these", "hall  node ./漢字", "with TOKEN", `cannot be used: x: its type "ws"`)
		d.harmless()
		d.press(strings.Fields(key)...)
		d.hides("use these MCP servers?")
		if diff := cmp.Diff([]api.MCPImportAnswer{{ID: "project:/p:/p/.mcp.json", Digest: "d1", Use: use}}, f.answers); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	f := &serverFake{files: []api.MCPImport{named("refused")}}
	d, _ := ableTo(t, Options{}, question(1, "Start it."))
	d.app.access.Able.Servers, d.app.access.Able.Imports = f, f
	d.do(d.app.servers.Ask(d.app.opts.Now))
	d.hides("use these MCP servers?")
	d.typed("/mcps")
	d.press("esc", "enter")
	d.shows("named by other programs' files", "hall", "not used")
	d.typed("hall")
	d.press("enter")
	d.shows("use these MCP servers?")
	d.press("y")
	if len(f.answers) != 1 || !f.answers[0].Use {
		t.Errorf("answers: %+v", f.answers)
	}
}

// TestRefreshByName takes up what servers offer now, and says what that costs.
func TestRefreshByName(t *testing.T) {
	d, _ := ableTo(t, Options{}, question(1, "Start it."))
	d.app.access.Able.Servers = &serverFake{}
	d.typed("/mcp refresh")
	d.press("enter")
	d.shows("tools taken up: 1 new; sent uncached once: about 1200 tokens")
}

// TestResourcesAndPromptsComplete completes "@" to resources of servers and "/" to their
// prompts, as the terminal shows it.
func TestResourcesAndPromptsComplete(t *testing.T) {
	s := sit(t, func() (int, int) { return 100, 24 })
	s.d.app.access.Able.Servers = &serverFake{}
	s.d.engine.commands = []api.Command{{Name: "docs:greet", Description: "greets 漢字 (who)", Source: "mcp"}}
	s.do(func(d *driver) { d.event(lathe.MCPToolsChanged{Server: "docs"}) })
	s.do(func(d *driver) { d.typed("look at @pag") })
	if shown := strings.Join(s.e.Lines(), "\n"); !strings.Contains(shown, "docs:docs://page") || !strings.Contains(shown, "resource: page, the page 漢字") || strings.Contains(shown, "docs://a b") {
		t.Errorf("the terminal shows:\n%s", shown)
	}
	s.press("enter", "enter")
	s.do(func(d *driver) { d.typed("/docs:gr") })
	if shown := strings.Join(s.e.Lines(), "\n"); !strings.Contains(shown, "/docs:greet") || !strings.Contains(shown, "greets 漢字 (who)") {
		t.Errorf("the terminal shows:\n%s", shown)
	}
	s.press("enter")
	s.do(func(d *driver) { d.typed("Ada 漢") })
	s.press("enter")
	s.d.calls(`prompt ses_1 "look at @docs:docs://page"  `, `command ses_1 docs:greet "Ada 漢"`)
}
