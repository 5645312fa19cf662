package keyring

import (
	"sync"
	"time"
)

// source is where secrets come from. It is asked until it has some, and again for one that
// they lack: a running server then opens what was sealed with a secret that is newer than it.
type source struct {
	find func() (*Secrets, error)
	now  func() time.Time

	mu    sync.Mutex
	found *Secrets
	again time.Time // when it was last asked for one that was lacking
}

// get returns the secrets that are known.
func (s *source) get() (*Secrets, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known()
}

// with returns the secrets, which hold the one of this name if it can be found.
func (s *source) with(id string) (*Secrets, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, err := s.known()
	if err != nil || known.has(id) || !s.again.IsZero() && s.now().Sub(s.again) < fresh {
		return known, err
	}
	s.again = s.now()
	if found, err := s.find(); err == nil { // else what is known still opens what it did
		s.found = found
	}
	return s.found, nil
}

func (s *source) known() (*Secrets, error) {
	if s.found != nil {
		return s.found, nil
	}
	found, err := s.find()
	if err == nil {
		s.found = found
	}
	return found, err
}
