package session

import (
	"context"

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
func (c *contextState) announced() {
	if c.sent == nil {
		c.sent = &sentRequest{}
	}
	c.sent.announced = true
}

// request notes a request that is about to be made.
func (c *contextState) request(req *llm.Request) {
	prints := compact.Prints(req, c.prints)
	shared, differs := compact.Shared(c.prints, prints)
	c.mu.Lock()
	defer c.mu.Unlock()
	announced := c.sent != nil && c.sent.announced
	c.sent = &sentRequest{first: c.prints == nil, expected: shared, differs: differs, announced: announced}
	c.prints = prints
}

// finish adds the account of the request that was answered.
func (c *contextState) finish(used lathe.Tokens) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sent
	c.sent = nil
	if s == nil {
		return
	}
	st := CacheStep{Expected: s.expected, Read: used.CacheRead, Written: used.CacheWrite, Fresh: used.Input, Differs: s.differs}
	t := &c.Cache
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

// stepStats stores the account with the step it is about.
func (r *runner) stepStats(tx store.Tx, fin *lathe.StepFinish) error {
	r.context.finish(fin.Tokens)
	return r.context.save(tx, r.current().ID)
}

// ContextStats returns what became of a session's window so far.
func (s *Service) ContextStats(ctx context.Context, id lathe.SessionID) (ContextStats, error) {
	return s.loadStats(ctx, id)
}

// Live returns the messages that a model still sees something of, oldest first.
func (s *Service) Live(ctx context.Context, id lathe.SessionID) ([]lathe.Message, error) {
	return s.opts.Store.Tail(ctx, id)
}
