package dialog

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

// Stack is the sheets that are open: what the person opened, the newest on top, and
// below them what waits for an answer, oldest first. The zero value needs a clock.
type Stack struct {
	Now func() time.Time

	opened  []Sheet
	waiting []Sheet
	words   string    // written after a command, for the sheet that it opens
	typed   time.Time // when the person last typed elsewhere
	turned  bool      // the person turned to what waits, although there is a text in the input
	deaf    time.Time // until then keys count as meant for what was on screen before the ask
}

// Open puts a sheet on top and returns what it wants done.
func (s *Stack) Open(o Sheet) tea.Msg {
	s.opened = append(s.opened, o)
	return s.give(o)
}

// Close removes a sheet wherever it is in the stack.
func (s *Stack) Close(o Sheet) {
	gone := func(x Sheet) bool { return x == o }
	s.opened = slices.DeleteFunc(s.opened, gone)
	s.waiting = slices.DeleteFunc(s.waiting, gone)
	s.turned = s.turned && len(s.waiting) > 0
}

// Clear closes what the person opened.
func (s *Stack) Clear() { s.opened = nil }

// Wait queues a sheet that waits for an answer.
func (s *Stack) Wait(o Sheet) { s.waiting = append(s.waiting, o) }

// Waiting returns what waits for an answer, oldest first.
func (s *Stack) Waiting() []Sheet { return s.waiting }

// Top returns the sheet that has the keys: what the person opened, else what
// waits for an answer, else nil.
func (s *Stack) Top() Sheet {
	if n := len(s.opened); n > 0 {
		return s.opened[n-1]
	}
	if len(s.waiting) > 0 {
		return s.waiting[0]
	}
	return nil
}

// Opened reports whether the person opened a sheet.
func (s *Stack) Opened() bool { return len(s.opened) > 0 }

// Draw draws the sheet on top, if there is one, on a screen of the given height,
// and returns where in it the caret stands.
func (s *Stack) Draw(l look.Look, height int) (lines []styled.Line, x, y int) {
	top := s.Top()
	if top == nil {
		return nil, -1, 0
	}
	most := max(4, height*2/3)
	if t, ok := top.(Tall); ok && t.Tall() {
		most = max(4, height-1)
	}
	lines, x, y = top.Draw(l, most)
	if p, ok := top.(Patient); ok {
		p.Patient().shown(s.Now())
	}
	return lines, x, y
}

// Give keeps the words that were written after a command for the sheet that it
// opens: a list searches them, a field holds them. The next key drops them.
func (s *Stack) Give(words string) { s.words = words }

// Took takes those words if they are these, and reports whether they were.
func (s *Stack) Took(words string) bool {
	same := s.words == words
	if same {
		s.words = ""
	}
	return same
}

// Take returns the words that wait for a sheet, and drops them.
func (s *Stack) Take() string {
	words := s.words
	s.words = ""
	return words
}

func (s *Stack) give(o Sheet) tea.Msg {
	words := s.Take()
	if words == "" {
		return nil
	}
	switch o := o.(type) {
	case *List:
		o.Paste(words)
		return o.tell()
	case *Field:
		if !o.Secret {
			o.Edit.Set(styled.OneLine(words))
		}
	case *Page:
		o.search = &edit.Editor{}
		o.Paste(words)
	}
	return nil
}

// Typed notes that the person writes elsewhere.
func (s *Stack) Typed() { s.typed = s.Now() }

// Write notes that the person is typing a text elsewhere, so that what they type
// next belongs to that.
func (s *Stack) Write() { s.typed, s.deaf, s.turned = s.Now(), time.Time{}, false }

// Beside reports whether an ask is on top to which the person has not turned: while there is a
// text in the input, keys belong to that.
func (s *Stack) Beside() bool {
	_, asks := s.Top().(Patient)
	return asks && len(s.opened) == 0 && !s.turned
}

// Turn notes that the person turns to what waits for an answer: it takes keys as soon as
// they could have read it.
func (s *Stack) Turn() { s.typed, s.turned = time.Time{}, true }

// Deafen makes keys that come within the given time count as meant for what was
// on screen before the ask.
func (s *Stack) Deafen(d time.Duration) { s.deaf = s.Now().Add(d) }

// Holds reports whether the sheet on top must not take keys yet, since it appeared
// while the person was typing, or before they could have read it. What the person
// opened takes keys at once.
func (s *Stack) Holds() bool {
	p, ok := s.Top().(Patient)
	return ok && len(s.opened) == 0 && !p.Patient().ready(s.Now(), s.typed)
}

// Interrupted reports whether the sheet on top came while the person was typing:
// what they type continues to go into the input, which stays on screen.
func (s *Stack) Interrupted() bool {
	p, ok := s.Top().(Patient)
	return ok && len(s.opened) == 0 && p.Patient().interrupts(s.Now(), s.typed)
}

// Belated reports whether a key counts as meant for what was on screen before
// the ask.
func (s *Stack) Belated() bool {
	_, ok := s.Top().(Patient)
	return ok && len(s.opened) == 0 && s.Now().Before(s.deaf)
}

// Taking returns the sheet that a key goes to, or nil if none takes keys now.
func (s *Stack) Taking() Sheet {
	if s.Holds() {
		return nil
	}
	return s.Top()
}
