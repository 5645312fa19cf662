package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestSecretIsCounted holds that typing a key shows that it is taken, and nothing of it.
func TestSecretIsCounted(t *testing.T) {
	d := drive(t, Options{})
	d.typed("/connect")
	d.press("esc", "enter", "enter")
	d.shows("not shown as you type")
	key := "sk-" + strings.Repeat("漢", 60)
	d.send(tea.PasteMsg{Content: key})
	d.shows("•", "63 characters")
	d.hides("sk-", "漢")
}
