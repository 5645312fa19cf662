package session

import (
	"sync"

	"lathe"
)

// losses counts how often another server took over a session whose turn ran here.
type losses struct {
	mu sync.Mutex
	of map[lathe.SessionID]int
}

func (l *losses) add(id lathe.SessionID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[lathe.SessionID]int{}
	}
	l.of[id]++
}

func (l *losses) count(id lathe.SessionID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id]
}

// Losses returns how often a turn of a session ended here because another server had taken the
// session over. What that turn was to answer may have no answer when the count has changed.
func (t *Turns) Losses(id lathe.SessionID) int { return t.s.losses.count(id) }
