package console

import (
	"context"
	"os"
	"sync/atomic"
)

// Interrupts are the interrupts of the program. The first cancels the context; the
// next ends the program at once, unless a command asked for one more.
type Interrupts struct {
	From   <-chan os.Signal
	Exit   func(code int)
	second atomic.Pointer[func()]
	keys   atomic.Pointer[func() bool]
}

// OnSecond makes the second interrupt call f; the third then ends the program.
func (s *Interrupts) OnSecond(f func()) { s.second.Store(&f) }

// OnKey lets f handle interrupts by key for as long as it returns true.
func (s *Interrupts) OnKey(f func() bool) { s.keys.Store(&f) }

// Watch cancels on the first interrupt, until the returned function is called.
func (s *Interrupts) Watch(cancel context.CancelCauseFunc) (stop func()) {
	if s.From == nil {
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
			case sig = <-s.From:
			}
			if take := s.keys.Load(); take != nil && sig == os.Interrupt && (*take)() {
				continue
			}
			f := s.second.Load()
			switch {
			case n == 0:
				cancel(ErrInterrupted)
			case n == 1 && f != nil:
				(*f)()
			default:
				s.Exit(ExitAborted)
			}
			n++
		}
	}()
	return func() { close(done); <-finished }
}
