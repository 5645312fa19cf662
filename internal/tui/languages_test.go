package tui

import (
	"encoding/json"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
)

// served is a wide screen of a directory whose language server is starting.
func served(t *testing.T) (*driver, *ableFake) {
	d, f := wide(t, Options{}, 200, 60)
	f.setup = &api.Setup{
		LSP:        []api.Configured{{Name: "gopls", Kind: "in web", State: "starting"}},
		Formatters: []api.Configured{{Name: "gofmt", Kind: ".go", State: "used"}},
	}
	d.event(lathe.LSPUpdated{})
	return d, f
}

// The sidebar follows what a language server is doing and how many errors it knows of.
func TestSidebarShowsLanguageServers(t *testing.T) {
	d, f := served(t)
	d.shows("LSP", "gopls  starting")
	f.setup.LSP[0].State = "connected, 9 MiB"
	d.event(lathe.LSPUpdated{})
	d.shows("gopls  connected, 9 MiB")
	f.setup.LSP[0].State = "connected, 2 errors"
	d.event(lathe.LSPDiagnosed{Server: "gopls", Path: "/a.go"})
	d.shows("gopls  connected, 2 errors")
	d.press("ctrl+x", "s")
	d.shows("gopls", "in web: connected, 2 errors", "gofmt", ".go: used")
}

// Many files that are told of at once are one reading, and one more for what came
// meanwhile. Without a sidebar nothing is read.
func TestSidebarReadsServersOnce(t *testing.T) {
	d, f := served(t)
	f.setups = 0
	var pending tea.Cmd
	for range 500 {
		_, cmd := d.app.Update(Events{List: []lathe.Envelope{{Event: lathe.LSPDiagnosed{Server: "gopls", Path: "/a.go"}}}})
		pending = tea.Batch(pending, cmd)
	}
	d.do(pending)
	if f.setups != 2 {
		t.Errorf("read %d times", f.setups)
	}
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.event(lathe.LSPDiagnosed{Server: "gopls", Path: "/a.go"})
	if f.setups != 2 {
		t.Errorf("read %d times, the last for nobody", f.setups)
	}
}

// Below a change stand the errors that language servers know of now, the first few; its
// head counts them.
func TestChangeShowsItsErrors(t *testing.T) {
	at := func(line, character int, severity any, message string) any {
		return map[string]any{"range": map[string]any{"start": map[string]any{"line": line, "character": character}}, "severity": severity, "message": message}
	}
	meta := map[string]any{"filepath": "/r/b.go", "diff": "--- a\n+++ b\n@@ -3 +3 @@\n-old\n+new\n", "diagnostics": map[string]any{
		"/r/a.go": []any{at(0, 0, float64(1), "cannot use \x1b[31mOld()")}, // as it comes over the network
		"/r/b.go": []any{at(4, 8, 1, "undefined: nothing"), at(5, 0, 2, "only a warning"), at(6, 0, 1, "two"), at(7, 0, 1, "three")},
	}}
	input, _ := json.Marshal(map[string]any{"filePath": "b.go"})
	rename, _ := json.Marshal(map[string]any{"operation": "rename", "filePath": "b.go"})
	d := withHistory(t, Options{}, question(1, "go"), reply(2,
		&lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: input, Metadata: meta}},
		&lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: input, Metadata: map[string]any{"diagnostics": map[string]any{"/r/b.go": []any{}}}}},
		&lathe.ToolCall{Tool: "lsp", State: &lathe.ToolDone{Input: rename, Title: "rename b.go:4:6"}}))
	want := []string{
		" ● edit b.go  4 errors  +1 −1", "   │    3 - old", "   │    3 + new",
		"   │ ✗ b.go:5:9 undefined: nothing", "   │ ✗ b.go:7:1 two", "   │ ✗ b.go:8:1 three", "   │ … 1 error more", "",
		" ● edit b.go", " ● lsp rename b.go:4:6",
	}
	if diff := cmp.Diff(want, d.lines()[3:3+len(want)]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
