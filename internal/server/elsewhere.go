package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/line"
	"lathe/internal/people"
	"lathe/internal/session"
	"lathe/internal/store"
)

// Elsewhere is the other servers that share the store.
type Elsewhere interface {
	// Serve has a request done by another server, if that holds the session that it would
	// change, and writes its answer. May is asked first whether the caller may use the
	// session's directory. Told is called with that before the answer to what changes something
	// there, once the events of it are published here.
	Serve(w http.ResponseWriter, r *http.Request, may func(dir string) error, told func(dir string)) (done bool, err error)
	// Gather sends a request that only reads to all the others, and returns what those
	// answer that can. The request has no body.
	Gather(r *http.Request) [][]byte
	// Changes returns the session that a request would change, or "". It knows that of asks.
	Changes(r *http.Request) lathe.SessionID
	// Offered reports whether a directory is not here, but with a worker.
	Offered(ctx context.Context, dir string) bool
	// Terminal attaches to a terminal of another server, if the caller may use its directory;
	// the error is [line.ErrNotFound] if none has it. The caller closes the line.
	Terminal(r *http.Request, id string, may func(dir string) error) (*line.Line, error)
}

// offered reports whether a directory is not here, but with a worker.
func (c *call) offered(dir string) bool {
	return c.s.opts.Elsewhere != nil && c.s.opts.Elsewhere.Offered(c.ctx(), dir)
}

// elsewhere has a request done by another server, if that holds what it is about.
func (s *Server) elsewhere(w *answer, r *http.Request) bool {
	if s.opts.Elsewhere == nil {
		return false
	}
	c := &call{s: s, w: w, r: r}
	if !c.anywhere() { // the other server would take this one for the caller
		r = r.WithContext(people.Narrow(r.Context()))
	}
	done, err := s.opts.Elsewhere.Serve(w, r, c.mayUse, func(dir string) { s.events.Settle(r.Context(), dir) })
	if err != nil {
		s.fail(w, r, err)
		return true
	}
	return done
}

// about is the call with the directory named that it is about: for another server one that
// names none is about a directory of its own.
func (c *call) about(dir string) *call {
	r := c.r.Clone(c.ctx())
	q := r.URL.Query()
	q.Set("directory", dir)
	r.URL.RawQuery = q.Encode()
	return &call{s: c.s, w: c.w, r: r}
}

// withOthers adds what the other servers answer to the same request to a list of this one.
func (c *call) withOthers(own []any) any {
	if c.s.opts.Elsewhere == nil {
		return own
	}
	for _, body := range c.s.opts.Elsewhere.Gather(c.r) {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil {
			continue
		}
		for _, entry := range list {
			own = append(own, entry)
		}
	}
	return own
}

// mergeOthers is withOthers for answers that are objects. What this server says itself
// stays.
func (c *call) mergeOthers(own map[string]any) any {
	if c.s.opts.Elsewhere == nil {
		return own
	}
	for _, body := range c.s.opts.Elsewhere.Gather(c.r) {
		var theirs map[string]json.RawMessage
		if json.Unmarshal(body, &theirs) != nil {
			continue
		}
		for name, value := range theirs {
			if _, ours := own[name]; !ours {
				own[name] = value
			}
		}
	}
	return own
}

// lookElsewhere is how often a server looks whether another has ended a turn.
const lookElsewhere = 300 * time.Millisecond

// outcomeElsewhere waits for the end of a turn that another server runs, and tells from what
// is stored how it ended; unknown is the error for a prompt without an answer.
func (c faces) outcomeElsewhere(ctx context.Context, unknown error) (api.Outcome, error) {
	id, err := c.sessionID()
	if err != nil {
		return api.Outcome{}, err
	}
	run, err := c.runElsewhere(ctx, id, lathe.MessageID(c.query("messageID")), unknown)
	if err != nil {
		return api.Outcome{}, err
	}
	out, err := run.Wait(ctx)
	return outcomeOf(out), err
}

// runElsewhere waits for the end of a turn that another server runs, or goes on with.
func (c *call) runElsewhere(ctx context.Context, id lathe.SessionID, m lathe.MessageID, unknown error) (*session.Run, error) {
	look := time.NewTicker(lookElsewhere)
	defer look.Stop()
	for {
		run, running, err := c.s.opts.Service.Answered(ctx, id, m)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !running && run == nil:
			return nil, unknown
		case err != nil || !running:
			return run, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
