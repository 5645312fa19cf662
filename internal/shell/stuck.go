package shell

import (
	"sync"
	"time"
)

// How long a command may be silent before it is looked at, and how long after that it
// must be as idle as before to count as stuck.
const (
	defaultPatience = 2 * time.Second
	maxPatience     = 10 * time.Second
)

// watch looks at a command that has become silent, because one that waits for keys on
// a terminal where nobody is would wait until its timeout. While a command prints, or
// if it is short, it costs only a timer.
type watch struct {
	p     *process
	found chan string // gets what the command waits for

	mu     sync.Mutex
	timer  *time.Timer
	every  time.Duration
	before idle
	ended  bool
}

// idle describes a command that does nothing.
type idle struct {
	waiting string // what it waits for; empty if it is not known to wait
	used    uint64 // processor time
	read    int64  // bytes of output
}

func (p *process) watch(patience time.Duration) *watch {
	w := &watch{p: p, found: make(chan string, 1), every: patience}
	if canSeeWaiting {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = time.AfterFunc(w.every, w.look)
	}
	return w
}

// look compares the command's state with its previous one.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	now := idle{read: w.p.read.Load()}
	speaks := now.read != w.before.read
	if !speaks {
		now.waiting, now.used = w.p.waiting()
	}
	if now.waiting != "" && now == w.before {
		w.found <- now.waiting
		return
	}
	next := w.every
	switch {
	case speaks, now.waiting != "":
		next /= 2
	default:
		w.every = min(2*w.every, max(maxPatience, w.every))
	}
	w.before = now
	w.timer.Reset(next)
}

// stop ends the watch and waits for a look in progress.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
