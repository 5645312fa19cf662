package cli

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"syscall"
)

// sink is standard output. It remembers the first write that failed, so that no
// command can lose its output unnoticed, and ends work whose output nobody
// reads.
type sink struct {
	to   io.Writer
	stop func(cause error)

	mu  sync.Mutex
	err error
}

// Write passes data on until a write fails.
func (s *sink) Write(p []byte) (int, error) {
	return s.pass(func() (int, error) { return s.to.Write(p) })
}

// WriteString is Write without a copy of a text that may be long.
func (s *sink) WriteString(text string) (int, error) {
	return s.pass(func() (int, error) { return io.WriteString(s.to, text) })
}

func (s *sink) pass(write func() (int, error)) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := write()
	if err != nil {
		s.err = fmt.Errorf("write to standard output: %w", err)
		s.stop(s.err)
	}
	return n, s.err
}

// unread reports whether a write failed because nobody reads any more: that is not
// our failure, and need not be reported to someone who wanted only one line.
func unread(err error) bool {
	const noData = syscall.Errno(232) // of a pipe that is being closed, on Windows
	return errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && (errors.Is(err, noData) || errors.Is(err, syscall.Errno(109)))
}

// failed returns the first error of a write.
func (s *sink) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
