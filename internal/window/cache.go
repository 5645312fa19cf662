package window

import (
	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/store"
)

// CacheStats sums what a session's requests read from the provider's cache.
type CacheStats struct {
	Requests int   `json:"requests,omitempty"` // that followed another one
	Expected int64 `json:"expected,omitempty"` // tokens they shared with the one before, estimated
	Read     int64 `json:"read,omitempty"`     // tokens the provider read from its cache
	Written  int64 `json:"written,omitempty"`
	Fresh    int64 `json:"fresh,omitempty"` // tokens sent without the cache

	Announced int `json:"announced,omitempty"` // prefixes that a prune or a compaction broke
	Ours      int `json:"ours,omitempty"`      // prefixes that lathe broke otherwise
	Theirs    int `json:"theirs,omitempty"`    // whole prefixes that the provider did not have

	Steps []CacheStep `json:"steps,omitempty"` // the newest ones
}

// CacheStep is the account of one request.
type CacheStep struct {
	Expected int64  `json:"expected"`
	Read     int64  `json:"read"`
	Written  int64  `json:"written,omitempty"`
	Fresh    int64  `json:"fresh,omitempty"`
	Differs  string `json:"differs,omitempty"` // the first piece that differed from the request before
	Reason   string `json:"reason,omitempty"`  // "prune or compaction", "lathe" or "provider"
}

// Reasons of a miss.
const (
	missAnnounced = "prune or compaction"
	missOurs      = "lathe"
	missTheirs    = "provider"
)

const (
	maxCacheSteps = 20
	// leastCached is the shortest prefix that providers keep.
	leastCached = 1024
)

// sentRequest is a request whose answer is not there yet.
type sentRequest struct {
	first     bool
	expected  int64
	differs   string
	announced bool
}

// announced notes that the next request breaks the prefix on purpose. The caller
// holds mu.
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

// answered adds the account of the request that was answered.
func (w *Window) answered(used lathe.Tokens) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sent
	w.sent = nil
	if s == nil {
		return
	}
	st := CacheStep{Expected: s.expected, Read: used.CacheRead, Written: used.CacheWrite, Fresh: used.Input, Differs: s.differs}
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
		t.Steps = append([]CacheStep{}, t.Steps[n:]...)
	}
}

// Step stores what is known of the window with the end of a step, within its
// transaction.
func (w *Window) Step(tx store.Tx, fin *lathe.StepFinish) error {
	w.answered(fin.Tokens)
	return w.Save(tx)
}
