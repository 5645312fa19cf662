package cli

import (
	"context"
	"os"
	"sync/atomic"
)

// signals are the interrupts of the program. The first cancels the context; the
// next ends the program at once, unless a command asked to be told of one more.
type signals struct {
	from   <-chan os.Signal
	exit   func(code int)
	second atomic.Pointer[func()]
}

// onSecond makes the second interrupt call f; the third then ends the program.
func (s *signals) onSecond(f func()) { s.second.Store(&f) }

// watch cancels on the first interrupt, until the returned function is called.
func (s *signals) watch(cancel context.CancelCauseFunc) (stop func()) {
	if s.from == nil {
		return func() {}
	}
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case <-s.from:
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
		}
	}()
	return func() { close(done); <-finished }
}
