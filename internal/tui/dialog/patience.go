package dialog

import "time"

const (
	// Quiet is how long the person must have paused typing, or using a dialog,
	// before an ask takes keys, so that nobody approves something in the middle of
	// a word.
	Quiet = 700 * time.Millisecond
	// Haste is how long after the reply to an ask further keys still count as meant
	// for it. A person who replies to several in a row looks at each.
	Haste = 300 * time.Millisecond
	// Reaction is how long an ask is on screen before it takes keys: nobody can read
	// and answer it faster. Keys that come sooner were not meant for it.
	Reaction = 400 * time.Millisecond
	// Alone is how long nothing may be typed after a letter before it counts as an
	// answer: it may be the first one of a word.
	Alone = 350 * time.Millisecond
)

// Patience is what keeps an ask from taking keys that were not meant for it.
type Patience struct {
	Came  time.Time // when it was asked
	Drawn time.Time // when it could first be read; zero: not yet
}

func (p *Patience) Patient() *Patience { return p }

// shown notes that it is on screen.
func (p *Patience) shown(now time.Time) {
	if p.Drawn.IsZero() {
		p.Drawn = now
	}
}

// ready reports whether keys count. typed is when the person last typed elsewhere.
func (p *Patience) ready(now, typed time.Time) bool {
	return !p.Drawn.IsZero() && now.Sub(p.Drawn) >= Reaction && !p.interrupts(now, typed)
}

// interrupts reports whether it came while the person was typing, and they have
// not paused since.
func (p *Patience) interrupts(now, typed time.Time) bool {
	return !typed.IsZero() && typed.After(p.Came.Add(-Quiet)) && now.Sub(typed) < Quiet
}

// Patient is a sheet that the engine opens, whatever the person is doing.
type Patient interface{ Patient() *Patience }
