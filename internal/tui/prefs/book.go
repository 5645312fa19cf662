// Package prefs is what the screen remembers from one run to the next.
package prefs

import (
	"maps"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/dialog"
)

// Prefs is what the screen remembers from one run to the next.
type Prefs struct {
	Recent   []lathe.ModelRef // newest first, without variants
	Favorite []lathe.ModelRef // in the order they were marked
	Variant  map[string]string
	Theme    string
	Mode     string // "dark", "light", or "" for what the terminal says
	NoTips   bool
	Times    bool
	Guided   bool // the person chose to continue with the offline guide
	Offered  bool // what could answer was offered at a start; it is offered once

	NoSidebar bool
	Scrollbar bool
	Names     bool // prompts show who wrote them

	Vim     bool     // the input has the keys of vi
	Ignored []string // other programs that the start page does not name
	Left    []string // sessions that stopped early and are left so, each with its last message
}

// clone returns a copy that another goroutine may hold.
func (p Prefs) clone() Prefs {
	p.Recent, p.Favorite, p.Variant = slices.Clone(p.Recent), slices.Clone(p.Favorite), maps.Clone(p.Variant)
	p.Ignored, p.Left = slices.Clone(p.Ignored), slices.Clone(p.Left)
	return p
}

// Book holds the preferences while the screen runs. Only the screen's loop may
// touch it.
type Book struct {
	Prefs
	keep  func(Prefs) error
	asked int
	saved saved
}

// saved makes sure that the newest preferences are stored last, although
// commands run at the same time.
type saved struct {
	mu   sync.Mutex
	last int
}

// NewBook returns a book that begins with some preferences. keep stores them and
// may be nil.
func NewBook(p Prefs, keep func(Prefs) error) *Book { return &Book{Prefs: p.clone(), keep: keep} }

// Save keeps the preferences as they are now, if there is a place for them.
func (b *Book) Save() tea.Cmd {
	if b.keep == nil {
		return nil
	}
	b.asked++
	p, n := b.Prefs.clone(), b.asked
	return func() tea.Msg {
		b.saved.mu.Lock()
		defer b.saved.mu.Unlock()
		if n < b.saved.last {
			return nil
		}
		b.saved.last = n
		return dialog.Fail(b.keep(p))
	}
}
