package console

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
)

// Sink is standard output. It remembers the first write that failed, so that no
// command can lose its output unnoticed, and ends work whose output nobody
// reads.
type Sink struct {
	To   io.Writer
	Stop func(cause error)

	mu  sync.Mutex
	err error
}

// Write passes data on until a write fails.
func (s *Sink) Write(p []byte) (int, error) {
	return s.pass(func() (int, error) { return s.To.Write(p) })
}

// WriteString is Write without a copy of a text that may be long.
func (s *Sink) WriteString(text string) (int, error) {
	return s.pass(func() (int, error) { return io.WriteString(s.To, text) })
}

func (s *Sink) pass(write func() (int, error)) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := write()
	if err != nil {
		s.err = fmt.Errorf("write to standard output: %w", err)
		s.Stop(s.err)
	}
	return n, s.err
}

// Unread reports whether a write failed because nobody reads any more: that is not
// our failure, and need not be reported to someone who wanted only one line.
func Unread(err error) bool {
	const noData = syscall.Errno(232) // of a pipe that is being closed, on Windows
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && (errors.Is(err, noData) || errors.Is(err, syscall.Errno(109)))
}

// Failed returns the first error of a write.
func (s *Sink) Failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// TerminalOf returns the terminal that output goes to, which the screen has to
// ask for its size.
func TerminalOf(w io.Writer) io.Writer {
	if s, ok := w.(*Sink); ok {
		return s.To
	}
	return w
}
