package window

import (
	"lathe"
	"lathe/internal/api"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/store"
)

// Reasons of a miss.
const (
	missAnnounced = "prune or compaction"
	missOurs      = "lathe"
	missTheirs    = "provider"
)

const (
	maxCacheSteps = 20
	// leastCached is the shortest prefix that providers cache.
	leastCached = 1024
)

// sentRequest is a request that has not been answered yet.
type sentRequest struct {
	first     bool
	expected  int64
	differs   string
	announced bool
}

// announced notes that the next request breaks the prefix deliberately. The
// caller holds mu.
func (w *Window) announced() {
	if w.sent == nil {
		w.sent = &sentRequest{}
	}
	w.sent.announced = true
}

// Sent notes a request that is about to be made.
func (w *Window) Sent(req *llm.Request) {
	prints := compact.Prints(req, w.prints)
	shared, differs := compact.Shared(w.prints, prints)
	w.mu.Lock()
	defer w.mu.Unlock()
	announced := w.sent != nil && w.sent.announced
	w.sent = &sentRequest{first: w.prints == nil, expected: shared, differs: differs, announced: announced}
	w.prints = prints
}

// answered adds an entry for the request that was answered.
func (w *Window) answered(used lathe.Tokens) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sent
	w.sent = nil
	if s == nil {
		return
	}
	st := api.CacheStep{Expected: s.expected, Read: used.CacheRead, Written: used.CacheWrite, Fresh: used.Input, Differs: s.differs}
	t := &w.stats.Cache
	if !s.first {
		t.Requests++
		switch {
		case s.differs != "" && s.announced:
			st.Reason = missAnnounced
			t.Announced++
		case s.differs != "":
			st.Reason = missOurs
			t.Ours++
		case s.expected >= leastCached && used.CacheRead < s.expected/2:
			st.Reason = missTheirs
			t.Theirs++
		}
	}
	t.Expected += s.expected
	t.Read += used.CacheRead
	t.Written += used.CacheWrite
	t.Fresh += used.Input
	t.Steps = append(t.Steps, st)
	if n := len(t.Steps) - maxCacheSteps; n > 0 {
		t.Steps = append([]api.CacheStep{}, t.Steps[n:]...)
	}
}

// Step stores what is known about the window with the end of a step, within its
// transaction.
func (w *Window) Step(tx store.Tx, fin *lathe.StepFinish) error {
	w.answered(fin.Tokens)
	return w.Save(tx)
}
