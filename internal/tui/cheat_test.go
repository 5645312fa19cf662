package tui

import (
	"fmt"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/tui/about"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
)

// sizes are the terminals that every sheet has to fit.
var sizes = [][2]int{{80, 24}, {200, 60}}

type notes engine.Notes

// eachSize sits down at each size, in each language.
func eachSize(t *testing.T, do func(t *testing.T, s *sitting, said say.Language)) {
	for _, size := range sizes {
		for _, said := range []say.Language{"", say.Chinese} {
			t.Run(fmt.Sprintf("%dx%d %s", size[0], size[1], said), func(t *testing.T) {
				s := sit(t, func() (int, int) { return size[0], size[1] })
				s.do(func(d *driver) { d.app.look.Say = said })
				do(t, s, said)
			})
		}
	}
}

// TestHelpBeginsWithWhatIsDoneNow holds that the keys of what the person is doing are all on
// the first screen of the help, whole, and that those of something else are not.
func TestHelpBeginsWithWhatIsDoneNow(t *testing.T) {
	eachSize(t, func(t *testing.T, s *sitting, said say.Language) {
		has := func(texts ...string) {
			t.Helper()
			shown := strings.Join(strings.Fields(strings.Join(s.e.Lines(), " ")), " ")
			for _, text := range texts {
				if !strings.Contains(shown, said.Text(text)) {
					t.Errorf("no %q in\n%s", said.Text(text), strings.Join(s.e.Lines(), "\n"))
				}
			}
			if strings.Contains(shown, "…") {
				t.Errorf("something is cut:\n%s", strings.Join(s.e.Lines(), "\n"))
			}
		}
		s.do(func(d *driver) { // with all that an engine can do
			d.app.access.Able = newAble().Can()
			d.app.access.Able.Notes, d.app.access.Able.Review = struct{ notes }{}, struct{ engine.Reviewer }{}
		})
		always := []string{"writing", "send the message", "a file or an agent", "next agent", "the screen", "all commands", "choose a session", "choose a model", "suspend lathe"}
		talk := []string{"the conversation", "page up", "find in the conversation", "undo the last message", "what the session changed", "compact the session"}
		s.press("f1")
		has(append(always, talk...)...)
		if shown := strings.Join(s.e.Lines(), "\n"); strings.Contains(shown, said.Text("a turn runs")) {
			t.Errorf("no turn runs:\n%s", shown)
		}
		s.press("esc")
		s.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
		s.press("f1")
		has(append(append([]string{"a turn runs", "stop the turn (twice)"}, always...), talk...)...)
		s.press("/")
		s.do(func(d *driver) { d.typed("/rename") })
		if shown := strings.Join(s.e.Lines(), "\n"); !strings.Contains(shown, said.Text("rename the session")) {
			t.Errorf("the search does not find /rename:\n%s", shown)
		}
		s.press("esc", "esc")
		s.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
		s.press("ctrl+x", "n", "f1")
		has(always...)
		first, _, _ := strings.Cut(strings.Join(s.e.Lines(), "\n"), "\n\n")
		if strings.Contains(first, said.Text("find in the conversation")) {
			t.Errorf("there is no conversation:\n%s", first)
		}
	})
}

// TestHelpInNarrowColumns holds that texts of the help wrap where they do not fit.
func TestHelpInNarrowColumns(t *testing.T) {
	s := sit(t, func() (int, int) { return 40, 60 })
	s.press("f1")
	for _, line := range s.e.Lines() {
		if styled.Width(line, styled.WcWidth) > 40 || strings.Contains(line, "…") {
			t.Errorf("cut: %q", line)
		}
	}
}

// TestHelpFitsWithEverythingThatCanBeDone holds that the first screen is enough at 80×24 even
// if every key would do something.
func TestHelpFitsWithEverythingThatCanBeDone(t *testing.T) {
	for _, said := range []say.Language{"", say.Chinese} {
		d := drive(t, Options{Say: said})
		d.do(d.app.apply(about.Help(d.app.keys, nil, nil, about.Now{Busy: true, Session: true, Can: func(keys.Action) bool { return true }})))
		first, _, _ := strings.Cut(d.text(), "\n\n")
		if n := strings.Count(first, "\n") + 1; n > 23 || !strings.Contains(first, said.Text("suspend lathe")) {
			t.Errorf("%d lines:\n%s", n, d.text())
		}
	}
}
