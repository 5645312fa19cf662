package tui

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/api"
	"lathe/internal/say"
)

// languageFake is an engine with language servers.
type languageFake struct {
	all     api.LanguageServers
	stopped []api.LanguageServerName
}

func (f *languageFake) Languages(context.Context) (api.LanguageServers, error) { return f.all, nil }

func (f *languageFake) StopLanguage(_ context.Context, name api.LanguageServerName) error {
	f.stopped = append(f.stopped, name)
	f.all.Servers = f.all.Servers[:1]
	return nil
}

// screen is what the terminal shows.
func (s *sitting) screen() string { return strings.Join(s.e.Lines(), "\n") }

func (s *sitting) sees(said say.Language, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), said.Text(text)) {
			s.t.Errorf("no %q in\n%s", said.Text(text), s.screen())
		}
	}
}

// run types a command of the screen and runs it.
func (s *sitting) run(command string) {
	s.t.Helper()
	s.do(func(d *driver) { d.typed(command) })
	s.press("esc", "enter")
}

// TestLanguageServersAreShownAndStopped looks at the language servers, at why one failed,
// and starts it anew.
func TestLanguageServersAreShownAndStopped(t *testing.T) {
	eachSize(t, func(t *testing.T, s *sitting, said say.Language) {
		f := &languageFake{}
		s.d.app.access.Able.Languages = f
		s.run("/languages")
		s.sees(said, "language servers", `switched off; "lsp": true in the configuration switches them on`)
		s.press("esc")
		f.all.On = true
		s.run("/lsp")
		s.sees(said, "none was started yet: they start with the first file they are for")
		s.press("esc")
		f.all.Servers = []api.LanguageServer{
			{ID: "gopls", Root: "/p/漢字", State: "connected", Errors: 2, Warnings: 1, Memory: 300 << 20},
			{ID: "rust\x1b[2J", Root: "/p/r", State: "error", Why: "exit status 1", Log: []string{"loading /p/r", "cannot find \x1b[2Jits library"}},
		}
		s.run("/languages")
		s.sees(said, "enter more", "ctrl+k start anew", "esc close")
		s.sees("", "gopls", "/p/漢字", "exit status 1")
		s.sees(said, "running, 2 errors", "failed")
		s.press("down", "enter")
		s.sees(said, "failed", "why it failed", "what it printed last")
		s.sees("", "/p/r", "exit status 1", "loading /p/r", "its library")
		s.d.harmless()
		s.press("esc")
		s.run("/languages")
		s.press("enter")
		s.sees(said, "state", "running", "errors", "warnings", "memory")
		s.sees("", "300 MiB")
		s.press("esc")
		s.run("/languages")
		s.press("down", "ctrl+k")
		if diff := cmp.Diff([]api.LanguageServerName{{ID: "rust\x1b[2J", Root: "/p/r"}}, f.stopped); diff != "" {
			t.Errorf("stopped (-want +got):\n%s", diff)
		}
		s.sees("", "gopls")
		if strings.Contains(s.screen(), "exit status 1") {
			t.Errorf("the list is not new:\n%s", s.screen())
		}
	})
}
