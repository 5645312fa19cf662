package paint

import (
	"bytes"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// OwnShape leaves the caret in the shape that the person gave it in the terminal.
const OwnShape = tea.CursorShape(-1)

// caret knows the shape that the terminal was told last; zero: its own.
type caret struct{ style int }

// show tells the terminal a shape that differs from the one before. It does not blink: a screen
// in which nothing happens wakes nobody.
func (c *caret) show(out *bytes.Buffer, cursor *tea.Cursor, simple bool) {
	style := 0
	switch cursor.Shape {
	case tea.CursorBlock:
		style = 2
	case tea.CursorUnderline:
		style = 4
	case tea.CursorBar:
		style = 6
	}
	if simple || style == c.style {
		return
	}
	c.style = style
	out.WriteString(ansi.SetCursorStyle(style))
}

// reset gives the caret its own shape back.
func (c *caret) reset(out *bytes.Buffer) {
	if c.style != 0 {
		c.style = 0
		out.WriteString(ansi.SetCursorStyle(0))
	}
}
