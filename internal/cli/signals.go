package cli

import (
	"context"
	"os"
	"sync/atomic"
)

// signals are the interrupts of the program. The first cancels the context; the
// next ends the program at once, unless a command asked for one more.
type signals struct {
	from   <-chan os.Signal
	exit   func(code int)
	second atomic.Pointer[func()]
	keys   atomic.Pointer[func() bool]
}

// onSecond makes the second interrupt call f; the third then ends the program.
func (s *signals) onSecond(f func()) { s.second.Store(&f) }

// onKey lets f handle interrupts by key for as long as it returns true.
func (s *signals) onKey(f func() bool) { s.keys.Store(&f) }

// watch cancels on the first interrupt, until the returned function is called.
func (s *signals) watch(cancel context.CancelCauseFunc) (stop func()) {
	if s.from == nil {
		return func() {}
	}
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; {
			var sig os.Signal
			select {
			case <-done:
				return
			case sig = <-s.from:
			}
			if take := s.keys.Load(); take != nil && sig == os.Interrupt && (*take)() {
				continue
			}
			f := s.second.Load()
			switch {
			case n == 0:
				cancel(errInterrupted)
			case n == 1 && f != nil:
				(*f)()
			default:
				s.exit(ExitAborted)
			}
			n++
		}
	}()
	return func() { close(done); <-finished }
}
