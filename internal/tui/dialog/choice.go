package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/say"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Choice is a text that a person reads and the answers below it. A sheet embeds it, and
// says what an answer does.
type Choice struct {
	Answers [][2]string // key and words
	At      int         // the answer that is marked
	// Given returns what an answer does, Left what it does to go without one.
	Given func(answer int) tea.Msg
	Left  func() tea.Msg
	// Yes is how many of the first answers allow something: with them stands how much of
	// the text was not shown yet.
	Yes int

	first int // the line of the first answer, as of the last drawing
	body  Reader
}

// Tall reports whether the text fills the screen.
func (c *Choice) Tall() bool { return c.body.Full }

// Wheel scrolls the text.
func (c *Choice) Wheel(by int) bool { return c.body.Wheel(by) }

// Paste does nothing.
func (c *Choice) Paste(string) {}

// Key goes through the answers and the text, gives an answer, or leaves.
func (c *Choice) Key(_ Host, k tea.KeyPressMsg) tea.Msg {
	stroke := Stroke(k)
	if stroke == "esc" || stroke == "ctrl+c" {
		return c.Left()
	}
	if stroke == "enter" {
		return c.Given(c.At)
	}
	if c.move(stroke) || c.body.Key(stroke) {
		return nil
	}
	for i, a := range c.Answers {
		if a[0] == stroke {
			c.At = i
			return Answer{Text: k.Text, Give: func() tea.Msg { return c.Given(i) }}
		}
	}
	if text := strings.TrimSpace(k.Text); text != "" {
		return Words{text}
	}
	return nil
}

// Click marks an answer, and gives the one that is marked.
func (c *Choice) Click(_ Host, y int) tea.Msg {
	if i, given := c.hit(y); given {
		return c.Given(i)
	}
	return nil
}

// move goes through the answers, and reports whether the key does that.
func (c *Choice) move(stroke string) bool {
	n := len(c.Answers)
	switch stroke {
	case "up", "shift+tab", "left":
		c.At = (c.At + n - 1) % n
	case "down", "tab", "right":
		c.At = (c.At + 1) % n
	default:
		return false
	}
	return true
}

// hit marks the answer that was clicked; it reports the one that was marked already.
func (c *Choice) hit(y int) (answer int, given bool) {
	i := y - c.first
	if i < 0 || i >= len(c.Answers) {
		return 0, false
	}
	given, c.At = c.At == i, i
	return i, given
}

// Show draws a title, the text and the answers. Note says what stands behind an answer;
// it may be nil.
func (c *Choice) Show(l look.Look, height int, title styled.Line, text []styled.Line, note func(i int) string) ([]styled.Line, int, int) {
	out := []styled.Line{title}
	for _, line := range c.body.Window(l, text, max(1, height-1-len(c.Answers))) {
		out = append(out, l.Row(line, false))
	}
	c.first = len(out)
	for i, a := range c.Answers {
		line := styled.Line{{Text: a[0] + "  ", Style: l.FG(theme.Accent, styled.Bold)}, {Text: l.T(a[1]), Style: l.FG(theme.Text)}}
		what := ""
		if note != nil {
			what = note(i)
		}
		if n := c.body.Unread(); what == "" && i < c.Yes && n > 0 {
			what = "  not shown to its end: " + say.Plural(n, "line") + " below"
		}
		if what != "" {
			line = append(line, styled.Span{Text: l.T(what), Style: l.FG(theme.Warning)})
		}
		out = append(out, l.Row(line, i == c.At))
	}
	return out, -1, 0
}
