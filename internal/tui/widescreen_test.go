package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestDialogsOnAWideScreen draws every dialog at 200×60, painted as it is for people: it fills
// the screen, knows its keys, and says the same as at 80×24, where less of it may fit.
func TestDialogsOnAWideScreen(t *testing.T) {
	for name, steps := range dialogs() {
		if name == "sidebar" { // it chooses a size of its own
			continue
		}
		t.Run(name, func(t *testing.T) {
			small, wide := practised(t, Options{}), practised(t, Options{})
			wide.send(tea.WindowSizeMsg{Width: 200, Height: 60})
			for _, s := range steps {
				s(small)
				s(wide)
			}
			head := func(shot string) (out string) {
				for line := range strings.Lines(shot) {
					if title, ok := strings.CutPrefix(line, "── "); ok {
						out, _, _ = strings.Cut(title, " ─")
						break
					}
				}
				return strings.TrimSpace(out)
			}
			a, b := small.shot(), wide.shot()
			if n := strings.Count(b, "\n"); n != 60 {
				t.Errorf("%d lines", n)
			}
			if head(a) != head(b) {
				t.Errorf("the title is %q at 80×24 and %q at 200×60:\n%s", head(a), head(b), b)
			}
		})
	}
}
