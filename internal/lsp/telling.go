package lsp

import (
	"sync"
	"time"
)

// often is the least time between two reports about one file.
const often = 100 * time.Millisecond

// telling keeps a server's reports about a file from coming too often. One that comes too soon is
// made a moment later, together with those after it, so that the last word is never lost.
// The zero value is ready.
type telling struct {
	mu   sync.Mutex
	last map[string]time.Time // when a file was last reported
	due  map[string]bool      // files that will be reported soon
}

// tell calls report now or soon.
func (t *telling) tell(path string, report func()) {
	t.mu.Lock()
	if t.last == nil || len(t.last) > maxFiles {
		t.last = map[string]time.Time{}
	}
	if t.due == nil {
		t.due = map[string]bool{}
	}
	now := time.Now()
	wait := often - now.Sub(t.last[path])
	switch {
	case t.due[path]:
		t.mu.Unlock()
	case wait > 0:
		t.due[path] = true
		t.mu.Unlock()
		time.AfterFunc(wait, func() {
			t.mu.Lock()
			delete(t.due, path)
			t.last[path] = time.Now()
			t.mu.Unlock()
			report()
		})
	default:
		t.last[path] = now
		t.mu.Unlock()
		report()
	}
}

// diagnosed reports that what is known about a file has changed.
func (s *Servers) diagnosed(server, path string) {
	if s.opts.Diagnosed == nil || !within(s.place.Dir, path) {
		return
	}
	s.telling.tell(server+"\x00"+path, func() {
		if s.ctx.Err() == nil {
			s.opts.Diagnosed(server, path)
		}
	})
}
