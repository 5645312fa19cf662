package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
)

// held is a letter that answers a sheet and may yet be the first one of a word.
type held struct {
	sheet dialog.Sheet // nil: none is held
	text  string
	give  func() tea.Msg
	n     int // counts letters, so that the pause after an earlier one gives nothing
}

// aloneMsg says that nothing was typed for a while after a letter.
type aloneMsg int

// hold keeps an answer until the pause after its letter is over.
func (h *held) hold(a *App, m dialog.Answer) tea.Cmd {
	h.sheet, h.text, h.give = a.sheets.Top(), m.Text, m.Give
	h.n++
	return a.soon(dialog.Soon{After: dialog.Alone, Then: aloneMsg(h.n)})
}

// alone gives the answer, if its sheet still has the keys.
func (h *held) alone(a *App, n int) tea.Cmd {
	if h.sheet == nil || n != h.n || a.sheets.Top() != h.sheet {
		return nil
	}
	h.sheet = nil
	return a.apply(h.give())
}

// next takes the key after a letter that is held, and reports whether it needs nothing
// else: another letter makes a word of the two, enter and the same letter change nothing.
// Any other key is looked at, and the answer is not given.
func (h *held) next(a *App, stroke, text string) (tea.Cmd, bool) {
	s := h.sheet
	switch {
	case s == nil:
		return nil, false
	case s != a.sheets.Top():
	case stroke == "enter" || text == h.text:
		return nil, true
	case text != "":
		h.sheet = nil
		return a.words(s, h.text+text), true
	}
	h.sheet = nil
	return nil, false
}

// words takes letters that answer nothing to where the person means them: to a field of the
// sheet, else to the input.
func (a *App) words(s dialog.Sheet, text string) tea.Cmd {
	if w, ok := s.(dialog.Worded); ok {
		return a.apply(w.Words(text))
	}
	return a.write(text)
}

// write types a text into the input, although a sheet that waits for an answer is open. A
// sheet that the person opened takes it, and does nothing with it.
func (a *App) write(text string) tea.Cmd {
	if a.sheets.Opened() || text == "" {
		return nil
	}
	a.sheets.Write()
	return tea.Batch(a.apply(a.input.Words(text)), a.lookLater())
}

// writes reports whether the person writes in the input while an ask waits. Then keys
// belong to the text.
func (v *view) writes() bool { return v.sheets.Beside() && !v.input.Empty() }

// turn handles the keys that lead from the input to the ask that waits, and those that
// scroll what it asks for. It reports whether the key was one.
func (k *keyboard) turn(a *App, press tea.KeyPressMsg, stroke string) (tea.Cmd, bool) {
	switch stroke {
	case "tab", "shift+tab", "esc":
		a.sheets.Turn()
		return nil, true
	case "up", "down":
		a.sheets.Turn()
	case "pgup", "pgdown", "shift+up", "shift+down", dialog.FillKey:
	default:
		return nil, false
	}
	return a.apply(a.sheets.Top().Key(a, press)), true
}
