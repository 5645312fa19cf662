package compose

import (
	"errors"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
)

// past is what was sent before.
type past struct {
	memory  *memory.Memory // of earlier runs; nil: none
	history edit.History
}

// Remember adds what was sent earlier and is not known yet.
func (p *past) Remember(sent []string) {
	if len(p.history.Items()) > 0 {
		return
	}
	for _, text := range sent {
		p.history.Add(text)
	}
}

// Forget forgets what was sent in the session being left, unless it is
// remembered for later runs.
func (p *past) Forget() {
	if p.memory == nil {
		p.history = edit.History{}
	}
}

// sent remembers a prompt, here and for later runs, and forgets its draft.
func (p *past) sent(id lathe.SessionID, text string) tea.Msg {
	p.history.Add(text)
	m := p.memory
	if m == nil {
		return nil
	}
	return func() tea.Msg { return dialog.Done{Err: errors.Join(m.Sent(text), m.Keep(string(id), edit.Draft{}))} }
}

// recall takes what earlier runs sent.
func (p *past) recall() {
	if p.memory == nil {
		return
	}
	for _, text := range p.memory.History() {
		p.history.Add(text)
	}
}
