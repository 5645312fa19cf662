package look

import (
	"strings"
	"testing"

	"lathe/internal/tui/theme"
)

// TestTitleKeepsTheFirstKeys holds that a narrow screen shows the keys that fit, not none.
func TestTitleKeepsTheFirstKeys(t *testing.T) {
	for width, want := range map[int]string{
		60: "enter tools · ctrl+k on · esc close",
		50: "enter tools · ctrl+k on",
		36: "enter tools",
		24: "",
	} {
		l := Look{Width: width, Theme: theme.Default(true)}
		got := strings.Trim(strings.TrimPrefix(l.Title("MCP servers", "enter tools · ctrl+k on · esc close").Text(), "── MCP servers "), "─ ")
		if got != want {
			t.Errorf("at %d the keys are %q, want %q", width, got, want)
		}
	}
}
