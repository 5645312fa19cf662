package compose

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/vim"
)

// Vi switches the keys of vi on or off.
func (c *Composer) Vi(on bool) {
	c.vi = vim.Vim{On: on}
	c.Unselect()
}

// ViMode returns what keys do, and what was written of a command; the mode is empty while the
// keys of vi are off.
func (c *Composer) ViMode() (mode vim.Mode, pending string) { return c.vi.Mode(), c.vi.Pending() }

// ViKey takes a keystroke if it is one of vi's now, and reports whether it is.
func (c *Composer) ViKey(stroke, text string) (tea.Msg, bool) {
	before := c.vi.Mode()
	if !c.vi.Key(&c.Editor, stroke, text, vim.Room{Width: c.width, Method: c.method}) {
		if earlier := map[string]keys.Action{"k": keys.HistoryPrevious, "j": keys.HistoryNext}[text]; before == vim.Normal && earlier != "" {
			return c.UpDown(earlier), true
		}
		return nil, false
	}
	if c.vi.Mode() == vim.Insert {
		return dialog.All{Writing{}, c.Changed()}, true
	}
	c.offer = offer{}
	return dialog.All{Writing{}, c.draftLater()}, true
}

// Words types a text, whatever the keys of vi do now.
func (c *Composer) Words(text string) tea.Msg {
	c.vi.Writes()
	return c.Write(text)
}
