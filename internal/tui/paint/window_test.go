package paint

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/paint/emulator"
)

// TestWindowIsGivenBack holds that the title of the window and the taskbar are those of the screen
// while it is shown, and as before when it ends, is suspended, or panics. What one left in the
// taskbar that was killed is taken back by the next.
func TestWindowIsGivenBack(t *testing.T) {
	type window struct{ Title, Progress string }
	busy, idle := tea.NewProgressBar(tea.ProgressBarIndeterminate, 0), tea.NewProgressBar(tea.ProgressBarNone, 0)
	for name, open := range map[string]func(e *emulator.Terminal) (start, stop func() error, paint func(title string, bar *tea.ProgressBar) error){
		"screen": func(e *emulator.Terminal) (func() error, func() error, func(string, *tea.ProgressBar) error) {
			p := NewScreen(e, nil, 20, 2)
			return p.Start, p.Stop, func(title string, bar *tea.ProgressBar) error {
				v := tea.NewView("x")
				v.WindowTitle, v.ProgressBar = title, bar
				return p.Paint(v)
			}
		},
		"inline": func(e *emulator.Terminal) (func() error, func() error, func(string, *tea.ProgressBar) error) {
			p := NewInline(e, nil, 20, 2)
			return p.Start, p.Stop, func(title string, bar *tea.ProgressBar) error {
				return p.Paint(nil, Region{Title: title, Progress: bar})
			}
		},
	} {
		e := emulator.New(20, 2)
		_, _ = e.Write([]byte("\x1b]2;~/code\a\x1b]9;4;3;0\a")) // the shell's title; a screen was killed
		var got []window
		see := func() { got = append(got, window{e.Title, e.Progress}) }
		start, stop, show := open(e)
		check(t, start())
		check(t, show("lathe", idle))
		see()
		check(t, show("● lathe", busy))
		see()
		check(t, stop()) // suspended
		see()
		check(t, start())
		check(t, show("● lathe", busy))
		see()
		func() {
			defer func() { _ = recover() }()
			defer func() { check(t, stop()) }()
			panic("in a room")
		}()
		see()
		want := []window{{"lathe", ""}, {"● lathe", "3"}, {"~/code", ""}, {"● lathe", "3"}, {"~/code", ""}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(e.Unknown) > 0 {
			t.Errorf("%s sends %s", name, strings.Join(e.Unknown, " "))
		}
	}
}
