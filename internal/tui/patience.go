package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// quiet is how long the person must not have typed, or used a dialog, before an
	// ask takes keys, so that nobody approves in the middle of a word.
	quiet = 700 * time.Millisecond
	// haste is how long after the reply to an ask further keys are held to belong to
	// it. Who replies to several in a row looks at them.
	haste = 300 * time.Millisecond
	// reaction is how long an ask is on screen before it takes keys: nobody answers
	// faster what they have to read first. Keys that come before it were typed blind.
	reaction = 400 * time.Millisecond
)

// patience is what keeps an ask from taking keys that were not meant for it.
type patience struct {
	came  time.Time // when it was asked
	drawn time.Time // when it could be read first; zero: not yet
}

func (p *patience) patient() *patience { return p }

// shown notes that it is on screen.
func (p *patience) shown(now time.Time) {
	if p.drawn.IsZero() {
		p.drawn = now
	}
}

// ready reports whether keys count. typed is when the person last typed elsewhere.
func (p *patience) ready(now, typed time.Time) bool {
	return !p.drawn.IsZero() && now.Sub(p.drawn) >= reaction && !p.interrupts(now, typed)
}

// interrupts reports whether it came while the person was typing, and they have
// not stopped since.
func (p *patience) interrupts(now, typed time.Time) bool {
	return !typed.IsZero() && typed.After(p.came.Add(-quiet)) && now.Sub(typed) < quiet
}

// patient is a sheet that the engine opens, whatever the person does meanwhile.
type patient interface{ patient() *patience }

// holds reports whether a sheet must not take keys yet, since it appeared while
// the person was typing, or before they could have read it. What the person
// opened takes keys at once.
func (a *App) holds(s sheet) bool {
	p, ok := s.(patient)
	return ok && len(a.sheets) == 0 && !p.patient().ready(a.opts.Now(), a.typedAt)
}

// interrupted reports whether a sheet came while the person was typing: what they
// type goes on into the input, which stays on screen.
func (a *App) interrupted(s sheet) bool {
	p, ok := s.(patient)
	return ok && len(a.sheets) == 0 && p.patient().interrupts(a.opts.Now(), a.typedAt)
}

// lookMsg says that the person may have stopped typing, so that an ask takes keys.
type lookMsg struct{}

// lookLater draws the screen anew once an ask that was held takes keys.
func (a *App) lookLater() tea.Cmd {
	wait := a.after(quiet)
	if s := a.top(); s == nil || !a.holds(s) || wait == nil {
		return nil
	}
	return func() tea.Msg {
		if wait() == nil {
			return nil
		}
		return lookMsg{}
	}
}

// belated reports whether a key is held to belong to what stood where an ask
// stands now.
func (a *App) belated(s sheet) bool {
	_, ok := s.(patient)
	return ok && len(a.sheets) == 0 && a.opts.Now().Before(a.deaf)
}
