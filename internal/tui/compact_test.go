package tui

import "testing"

// TestCompactTakesTheModelThatAnswers holds that /compact needs no model to be
// chosen first.
func TestCompactTakesTheModelThatAnswers(t *testing.T) {
	d, _ := ableTo(t, Options{}, question(1, "go"))
	d.typed("/compact")
	d.press("esc", "enter")
	d.calls("compact ses_1 acme/big")
}
