package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/prefs"
)

func TestScrollbar(t *testing.T) {
	var list []lathe.Message
	for i := range 40 {
		list = append(list, question(2*i+1, fmt.Sprint("question ", i)), reply(2*i+2, &lathe.Text{Text: strings.Repeat("words ", 60)}))
	}
	d := withHistory(t, Options{}, list...)
	d.hides("┃")
	d.typed("/scrollbar")
	d.press("esc", "enter")
	handle := func() (from, to int) {
		from = -1
		for i, line := range d.lines() {
			if strings.HasSuffix(line, "┃") {
				if from < 0 {
					from = i
				}
				to = i
			}
		}
		return from, to
	}
	if _, to := handle(); to != d.app.conv.Height()-1 {
		t.Errorf("the handle ends at %d of %d:\n%s", to, d.app.conv.Height(), d.text())
	}
	d.press("home", "home", "home")
	d.shows("question 0")
	if from, _ := handle(); from != 0 {
		t.Errorf("at the top it begins at %d:\n%s", from, d.text())
	}
	at := func(y int) (tea.Mouse, tea.Mouse) {
		m := tea.Mouse{X: 79, Y: y, Button: tea.MouseLeft}
		return m, m
	}
	press, _ := at(10)
	d.send(tea.MouseClickMsg(press))
	if from, to := handle(); from > 10 || to < 9 {
		t.Errorf("dragged to 10 it goes from %d to %d", from, to)
	}
	_, end := at(d.app.conv.Height())
	d.send(tea.MouseMotionMsg(end))
	d.send(tea.MouseReleaseMsg(end))
	if !d.app.conv.Following() || d.app.mouse.Held() {
		t.Error("dragged to its end, it does not show the newest text")
	}
	d.typed("/scrollbar")
	d.press("esc", "enter")
	d.hides("┃")
}

// TestScrollbarAndSidebar holds that one line stands between the conversation and
// the sidebar, also where there is nothing to scroll.
func TestScrollbarAndSidebar(t *testing.T) {
	d, _ := wide(t, Options{Prefs: prefs.Prefs{Scrollbar: true}}, 130, 30)
	for _, line := range d.lines()[:d.app.conv.Height()] {
		if got := strings.Count(line, "│") + strings.Count(line, "┃"); got != 1 {
			t.Fatalf("%d lines in %q", got, line)
		}
	}
}
