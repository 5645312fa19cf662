package shell

import "sync"

// starting knows of the processes that are being started. One that ends at once must not be
// collected as a stray before it is known as the leader of its call: how it ended would be
// lost.
type starting struct {
	mu    sync.Mutex
	under int    // starts under way
	begun uint64 // starts so far
}

// begin notes a start; done is to be called when the leader is known, or there is none.
func (s *starting) begin() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.under++
	s.begun++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.under--
	}
}

// at returns how many starts there were, and whether all are over.
func (s *starting) at() (begun uint64, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, s.under == 0
}
