package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

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
