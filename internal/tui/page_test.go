package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestPagesTurnByPages holds that a page turns by what is on screen, and that a menu
// grows with the screen.
func TestPagesTurnByPages(t *testing.T) {
	for _, height := range []int{24, 36, 60} {
		d := withHistory(t, Options{})
		d.send(tea.WindowSizeMsg{Width: 100, Height: height})
		d.press("f1")
		before := d.lines()
		d.press("pgdown")
		if after := d.lines(); after[1] != before[height-2] {
			t.Errorf("%d lines: after a page it begins with %q, not with what was last: %q", height, after[1], before[height-2])
		}
		d.press("esc")
		d.typed("/")
		n := 0
		for _, line := range d.lines() {
			if strings.HasPrefix(strings.TrimLeft(line, "❯ "), "/") {
				n++
			}
		}
		if n < height/3 {
			t.Errorf("%d lines: the menu has %d", height, n)
		}
	}
}
