package tui

import (
	"testing"

	"lathe"
)

func TestNames(t *testing.T) {
	d := withHistory(t, Options{User: "ada\x1b[31m"}, question(1, "first"))
	d.hides("ada")
	d.typed("/usernames")
	d.press("esc", "enter")
	d.shows(" ▌ ada")
	d.typed("/timestamps")
	d.press("esc", "enter")
	d.shows(" ▌ ada · 1 Jan")
	d.typed("/usernames")
	d.press("esc", "enter")
	d.hides("ada")
}

// TestWholeNamesComeFirst holds that enter behind the whole name of a command runs that one.
func TestWholeNamesComeFirst(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "done"}))
	for _, c := range allCommands() {
		for _, n := range c.names {
			if !c.can(&d.app.view) {
				continue
			}
			if got := d.app.commandOffers(n); len(got) == 0 || got[0].Label != "/"+c.names[0] {
				t.Errorf("/%s: the first of %d is %+v", n, len(got), got[:min(1, len(got))])
			}
		}
	}
}
