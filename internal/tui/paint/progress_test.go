package paint

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestProgressIsTakenBack holds that the taskbar is told once of each change, and that
// nothing stays there when the screen ends.
func TestProgressIsTakenBack(t *testing.T) {
	busy := tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	for name, show := range map[string]func(out *strings.Builder){
		"screen": func(out *strings.Builder) {
			p := NewScreen(out, nil, 20, 2)
			check(t, p.Start())
			for range 2 {
				v := tea.NewView("x")
				v.ProgressBar = busy
				check(t, p.Paint(v))
			}
			check(t, p.Stop())
		},
		"inline": func(out *strings.Builder) {
			p := NewInline(out, nil, 20, 2)
			check(t, p.Start())
			for range 2 {
				check(t, p.Paint(nil, Region{Progress: busy}))
			}
			check(t, p.Stop())
		},
	} {
		var out strings.Builder
		show(&out)
		if on, off := strings.Count(out.String(), "\x1b]9;4;3"), strings.Count(out.String(), "\x1b]9;4;0"); on != 1 || off != 1 {
			t.Errorf("%s: told %d times that something runs, and %d times that nothing does: %q", name, on, off, out.String())
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
