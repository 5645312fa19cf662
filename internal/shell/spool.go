package shell

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// DefaultSpoolCap is how much output a [Spool] writes to its file.
const DefaultSpoolCap = 64 << 20

// SpoolOptions set up a [Spool].
type SpoolOptions struct {
	Head, Tail int // bytes of the beginning and the end that stay in memory
	// Create makes the file for the full output. It is called once, when the
	// output no longer fits in Head bytes; the Spool closes what it returns.
	// Nil means that no file is wanted.
	Create func() (io.WriteCloser, error)
	Cap    int64 // bytes the file may take; 0 means DefaultSpoolCap
}

// Spool takes any amount of output in bounded memory. It is safe for concurrent
// use, so that a preview can be shown while output still arrives.
type Spool struct {
	opts SpoolOptions

	mu    sync.Mutex
	head  []byte
	ring  []byte // the last bytes, oldest at pos once it is full
	pos   int
	total int64
	file  io.WriteCloser
	saved int64
	err   error
}

// NewSpool returns an empty Spool.
func NewSpool(opts SpoolOptions) *Spool {
	if opts.Cap <= 0 {
		opts.Cap = DefaultSpoolCap
	}
	return &Spool{opts: opts}
}

// Write takes output. It never fails: Close reports what went wrong with the
// file, and the previews still work.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total+int64(len(p)) > int64(s.opts.Head) {
		s.save(p)
	}
	if room := s.opts.Head - len(s.head); room > 0 {
		s.head = append(s.head, p[:min(room, len(p))]...)
	}
	s.remember(p)
	s.total += int64(len(p))
	return len(p), nil
}

func (s *Spool) remember(p []byte) {
	if len(p) > s.opts.Tail {
		p = p[len(p)-s.opts.Tail:]
	}
	if room := s.opts.Tail - len(s.ring); room > 0 {
		n := min(room, len(p))
		s.ring, p = append(s.ring, p[:n]...), p[n:]
	}
	for len(p) > 0 {
		n := copy(s.ring[s.pos:], p)
		s.pos, p = (s.pos+n)%len(s.ring), p[n:]
	}
}

// save writes to the file, first what came before it was needed.
func (s *Spool) save(p []byte) {
	if s.err != nil || s.opts.Create == nil {
		return
	}
	if s.file == nil {
		file, err := s.opts.Create()
		if err != nil {
			s.err = fmt.Errorf("save full output: %w", err)
			return
		}
		s.file = file
		s.put(s.head) // everything so far fitted in the head
	}
	s.put(p)
}

func (s *Spool) put(p []byte) {
	p = p[:min(int64(len(p)), s.opts.Cap-s.saved)]
	n, err := s.file.Write(p)
	s.saved += int64(n)
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("save full output: %w", err)
	}
}

// Head returns a copy of the first bytes.
func (s *Spool) Head() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.head)
}

// Tail returns a copy of the last bytes.
func (s *Spool) Tail() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(append(make([]byte, 0, len(s.ring)), s.ring[s.pos:]...), s.ring[:s.pos]...)
}

// Total returns how many bytes came in.
func (s *Spool) Total() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Saved returns how many bytes the file holds; 0 means there is no file. Less
// than Total means that the file was cut at the cap, or failed.
func (s *Spool) Saved() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved
}

// Close closes the file and returns what went wrong with it. The previews stay.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		if err := s.file.Close(); err != nil && s.err == nil {
			s.err = fmt.Errorf("save full output: %w", err)
		}
		s.file = nil
		s.opts.Create = nil
	}
	return s.err
}
