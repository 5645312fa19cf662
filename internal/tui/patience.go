package tui

import "time"

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
