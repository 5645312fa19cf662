package tui

import (
	"testing"
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
