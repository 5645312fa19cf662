package tui

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/store"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/prefs"
)

// startFake has sessions that were used before, and other programs' things.
type startFake struct {
	*fakeEngine
	found []api.Elsewhere
	news  []api.ImportNews
}

func (f *startFake) Can() engine.Capabilities {
	return engine.Capabilities{Undo: f, Keys: f, Elsewhere: f}
}

func (f *startFake) List(context.Context, string) ([]lathe.Session, error) {
	var out []lathe.Session
	for _, id := range []lathe.SessionID{"ses_stopped", "ses_done", "ses_child"} {
		if s, ok := f.sessions[id]; ok {
			out = append(out, s)
		}
	}
	return out, nil
}

func (f *startFake) Elsewhere(context.Context) ([]api.Elsewhere, error) {
	return f.found, f.note("elsewhere")
}

func (f *startFake) Import(_ context.Context, in api.Import) iter.Seq2[api.ImportNews, error] {
	_ = f.note("import %q %q", in.Path, in.Program)
	return func(yield func(api.ImportNews, error) bool) {
		for _, n := range f.news {
			if !yield(n, nil) {
				return
			}
		}
	}
}

func startPage(t *testing.T, o Options) (*driver, *startFake) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &startFake{fakeEngine: newFake()}
	f.sessions["ses_stopped"] = lathe.Session{ID: "ses_stopped", Title: "Greet in two languages", Updated: now.Add(-3 * time.Hour)}
	f.sessions["ses_done"] = lathe.Session{ID: "ses_done", Title: "Done long ago", Updated: now.Add(-72 * time.Hour)}
	f.sessions["ses_child"] = lathe.Session{ID: "ses_child", ParentID: "ses_done", Title: "A subagent"}
	stopped := reply(2, &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: []byte(`{"command": "go test ./..."}`), Error: "interrupted", Interrupted: true}})
	stopped.Info = &lathe.Assistant{}
	f.history["ses_stopped"] = []lathe.Message{
		question(1, "say hello"),
		stopped,
	}
	f.history["ses_done"] = []lathe.Message{question(1, "old"), reply(2, &lathe.Text{Text: "fine"})}
	f.found = []api.Elsewhere{
		{Program: api.OpenCode, Dir: "/home/me/.local/share/opencode", Sessions: 3, Servers: 1, Plugins: 2, Login: true},
		{Program: api.Codex, Dir: "/home/me/.codex", Sessions: 1},
	}
	o.Engine = f
	return drive(t, o), f
}

func TestStartPage(t *testing.T) {
	d, _ := startPage(t, Options{})
	d.shows("ctrl+x 1     Greet in two languages  3 hours ago  it was running $ go test .",
		"ctrl+x 2     Done long ago  3 days ago", "acme/big answers  ctrl+x m chooses another",
		"found on this machine  f4 imports, keeps or ignores it", "• OpenCode  3 sessions, 1 MCP server, 2 plugins, a login", "• Codex  1 session")
	d.hides("A subagent")
}

// TestWhereItStopped opens a session that was interrupted, and takes each of the answers.
func TestWhereItStopped(t *testing.T) {
	for _, tt := range []struct {
		key  string
		want []string
	}{
		{"g", []string{`prompt ses_stopped "Go on where you were interrupted. Look first at what was done and what was not."  `}},
		{"u", []string{"revert ses_stopped msg_1"}},
		{"l", nil},
		{"esc", nil},
	} {
		var kept prefs.Prefs
		d, f := startPage(t, Options{SavePrefs: func(p prefs.Prefs) error { kept = p; return nil }})
		f.noted()
		d.press("ctrl+x", "1")
		d.shows("where it stopped", "it was running $ go test ./...", "g  go on:", "u  undo ", "l  leave it as it is")
		d.press(tt.key)
		d.hides("where it stopped")
		if diff := cmp.Diff(tt.want, f.noted()); diff != "" {
			t.Errorf("%s does (-want +got):\n%s", tt.key, diff)
		}
		if left := tt.key == "l"; left != slices.Equal(kept.Left, []string{"ses_stopped msg_2"}) {
			t.Errorf("after %s these are left: %q", tt.key, kept.Left)
		}
	}
}

// TestContinueAfterACrash holds that a screen which begins with a session asks about its end if
// a process that died is why it stopped, and neither if the person stopped it nor when there is
// something to send.
func TestContinueAfterACrash(t *testing.T) {
	ended := func(f lathe.Failure) lathe.Message {
		m := reply(2, &lathe.Text{Text: "I beg"})
		m.Info.(*lathe.Assistant).Error = f
		return m
	}
	crash := &lathe.AbortedFailure{Message: store.AbortedMessage}
	d := withHistory(t, Options{}, question(1, "go"), ended(crash))
	d.shows("where it stopped", "its answer was cut off")
	d.press("l")
	d.hides("where it stopped")
	for _, d := range []*driver{
		withHistory(t, Options{}, question(1, "go"), ended(&lathe.AbortedFailure{Message: "The operation was aborted."})),
		withHistory(t, Options{Start: Start{Prompt: "more"}}, question(1, "go"), ended(crash)),
		withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "done"})),
	} {
		d.hides("where it stopped")
	}
}

// TestWordsAtAStoppedSession: a person begins to write at once in a session that was interrupted.
// Whatever the letters are, that goes on, undoes and leaves nothing: the question is for later.
func TestWordsAtAStoppedSession(t *testing.T) {
	for _, word := range []string{"good", "use the other one", "look", "what"} {
		d, f := startPage(t, Options{})
		f.noted()
		d.press("ctrl+x", "1")
		d.shows("where it stopped")
		d.typed(word)
		d.hides("where it stopped")
		if calls := f.noted(); calls != nil || d.app.input.Text() != word {
			t.Errorf("%q: calls %v, input %q", word, calls, d.app.input.Text())
		}
	}
}

// TestLeftSessionIsNotAskedAgain holds that what was left is not named as stopped.
func TestLeftSessionIsNotAskedAgain(t *testing.T) {
	d, _ := startPage(t, Options{Prefs: prefs.Prefs{Left: []string{"ses_stopped msg_2"}}})
	d.shows("Greet in two languages")
	d.hides("it was running")
	d.press("ctrl+x", "1")
	d.hides("where it stopped")
	d.press("ctrl+x", "1") // the one that was used last, other than this
	if d.app.session.ID != "ses_done" {
		t.Errorf("on screen is %s", d.app.session.ID)
	}
	d.press("ctrl+x", "7")
	d.shows("there is no session number 7 here")
}

func TestClickOpensARecentSession(t *testing.T) {
	d, _ := startPage(t, Options{})
	d.lines()
	d.send(tea.MouseClickMsg{Button: tea.MouseLeft, X: 20, Y: 5})
	if d.app.session.ID != "ses_done" {
		t.Errorf("on screen is %q", d.app.session.ID)
	}
}

// TestFoundElsewhere imports, keeps and ignores what other programs have.
func TestFoundElsewhere(t *testing.T) {
	var kept prefs.Prefs
	d, f := startPage(t, Options{SavePrefs: func(p prefs.Prefs) error { kept = p; return nil }})
	f.news = []api.ImportNews{{Session: &api.ImportedSession{ID: "ses_x"}}, {Sum: &api.ImportSum{Outcomes: map[string]int{api.ImportAdded: 3, api.ImportSame: 1}}}}
	d.press("f4")
	d.shows("OpenCode", "3 sessions, 1 MCP server, 2 plugins, a login")
	d.press("enter")
	d.shows("/home/me/.local/share/opencode", "Only its sessions have to be copied", "i  import its sessions", "k  keep it for later", "n  ignore it")
	f.noted()
	d.press("i")
	if calls := f.noted(); !slices.Contains(calls, `import "" ""`) {
		t.Errorf("calls: %q", calls)
	}
	d.shows("3 sessions imported, already here: 1")
	d.hides("• OpenCode")
	d.press("f4")
	d.shows("❯   Codex", "decided")
	d.press("enter", "n")
	d.hides("found on this machine")
	if diff := cmp.Diff([]string{"OpenCode", "Codex"}, kept.Ignored); diff != "" {
		t.Errorf("ignored (-want +got):\n%s", diff)
	}
	d.press("f4", "enter", "k")
	d.shows("found on this machine", "• OpenCode")
	f.fail = errors.New("nothing can be read")
	d.press("ctrl+x", "n")
	d.shows("last here")
}

// TestImportOfFiles copies what a person made for another program, tells what was not, and goes
// on to what is used only once the person agrees.
func TestImportOfFiles(t *testing.T) {
	var kept prefs.Prefs
	d, f := startPage(t, Options{SavePrefs: func(p prefs.Prefs) error { kept = p; return nil }})
	f.found = []api.Elsewhere{{Program: api.ClaudeCode, Dir: "/home/me/.claude", Commands: 2, Agents: 1, Hooks: 1}, {Program: api.Codex, Dir: "/home/me/.codex", Told: true}}
	d.press("f4")
	d.shows("2 commands, 1 agent", "instructions")
	f.noted()
	d.press("esc", "f4", "enter")
	d.shows("1 hook, 2 commands, 1 agent", "Its commands and agents are", "i  import: copy its commands")
	f.news = []api.ImportNews{
		{File: &api.ImportedFile{Kind: "command", Name: "fix", Outcome: api.ImportAdded}},
		{File: &api.ImportedFile{Kind: "command", Name: "mine", Outcome: api.ImportKept}},
		{File: &api.ImportedFile{Kind: "agent", Name: "build", Outcome: api.ImportFailed}},
		{Sum: &api.ImportSum{Outcomes: map[string]int{api.ImportAdded: 1, api.ImportKept: 1, api.ImportFailed: 1}}},
	}
	d.press("i")
	d.shows("1 file copied; you have others of the name mine; left out: build (lathe import", "says why)")
	if calls := f.noted(); !slices.Contains(calls, `import "" "Claude Code"`) {
		t.Errorf("calls: %q", calls)
	}
	if diff := cmp.Diff([]string{"Claude Code"}, kept.Ignored); diff != "" {
		t.Errorf("it is named again (-want +got):\n%s", diff)
	}
}

// TestNothingElseIsRun holds that the whole name of a command that cannot be used now is told to be
// that: enter runs no other command that it fits.
func TestNothingElseIsRun(t *testing.T) {
	d, _ := startPage(t, Options{})
	fit := 0
	for _, c := range allCommands() {
		for _, name := range c.names {
			if c.can(&d.app.view) {
				continue
			}
			if got := d.app.commandOffers(name); len(got) > 0 {
				t.Errorf("/%s offers %v", name, got)
			}
			for _, other := range allCommands() {
				if len(other.names) > 0 && other.can(&d.app.view) {
					if _, ok := dialog.Match(name, other.names[0]); ok {
						fit++
					}
				}
			}
		}
	}
	if fit == 0 {
		t.Error("no name fits another, so that nothing was tried")
	}
	d.typed("/compact")
	d.press("enter")
	d.shows("/compact cannot be used now")
}
