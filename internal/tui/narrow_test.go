package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lathe"
)

// TestNoUnicode holds that what the screen itself draws is ASCII where that is asked.
func TestNoUnicode(t *testing.T) {
	input, _ := json.Marshal(map[string]any{"command": strings.Repeat("long ", 40)})
	d := withHistory(t, Options{ASCII: true}, question(1, "first"), reply(2,
		&lathe.Reasoning{Text: "I think", Time: lathe.Span{Start: time.Unix(0, 0), End: time.Unix(4, 0)}},
		&lathe.Text{Text: "# Head\n\n- one\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n---\n\n```go\nx := 1\n```"},
		&lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: input, Output: strings.Repeat("x\n", 30)}}))
	for _, keys := range [][]string{{}, {"ctrl+p"}, {"f1"}, {"ctrl+x", "l"}, {"ctrl+x", "m"}, {"ctrl+x", "g"}, {"ctrl+x", "t"}} {
		d.press(keys...)
		for _, line := range strings.Split(ansi.Strip(d.app.View().Content), "\n") {
			if i := strings.IndexFunc(line, func(r rune) bool { return r > 126 }); i >= 0 {
				t.Errorf("after %q: %q", keys, line)
			}
		}
		d.press("esc")
	}
}

// TestResizeKeepsThePlace holds that what is read stays on screen in a long answer.
func TestResizeKeepsThePlace(t *testing.T) {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "- line %03d of the answer, with enough words to need several rows where it is narrow\n", i)
	}
	d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: text.String()}))
	for range 10 {
		d.press("pgup")
	}
	middle := func() (n int) {
		for _, l := range d.lines() {
			if _, err := fmt.Sscanf(strings.TrimSpace(l), "• line %d", &n); err == nil {
				return n
			}
		}
		return -1
	}
	was := middle()
	for _, w := range []int{30, 200, 80} {
		d.send(tea.WindowSizeMsg{Width: w, Height: 24})
		if now := middle(); max(now-was, was-now) > 12 {
			t.Errorf("at %d columns line %d is on top, before %d", w, now, was)
		}
	}
}
