//go:build unix

package team

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"regexp"
	"sync"
	"time"
)

// asking answers what a round's sessions ask.
type asking struct {
	h *history

	mu   sync.Mutex
	byID map[string]*ask
}

// ask is an ask and what it was answered with.
type ask struct {
	id, session, token string
	reply              string
	known              bool // the reply was acknowledged
	missed             bool // a server did not know it
}

var tokens = regexp.MustCompile(`T\d+x\w+x\d+`)

// answer looks at any server for what waits, and answers through any other, until ctx ends.
func (a *asking) answer(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		for _, one := range a.waiting(random) {
			a.reply(ctx, random, one)
		}
		select {
		case <-ctx.Done():
		case <-time.After(150 * time.Millisecond):
		}
	}
}

// waiting returns asks that nobody has answered, and has them answered by the caller.
func (a *asking) waiting(random *rand.Rand) (out []*ask) {
	up := a.h.r.servers()
	if len(up) == 0 {
		return nil
	}
	status, raw := up[random.IntN(len(up))].askFor("GET", "/permission", nil)
	var list []json.RawMessage
	if status != http.StatusOK || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, raw := range list {
		var one struct{ ID, SessionID string }
		if json.Unmarshal(raw, &one) != nil {
			continue
		}
		if old := a.byID[one.ID]; old != nil {
			if old.missed { // it waits after all
				old.missed = false
				out = append(out, old)
			}
			continue
		}
		for _, c := range a.h.talks {
			if c.id == one.SessionID {
				n := &ask{id: one.ID, session: one.SessionID, token: tokens.FindString(string(raw)), reply: a.choose(random, c)}
				a.byID[n.id] = n
				out = append(out, n)
			}
		}
	}
	return out
}

func (a *asking) choose(random *rand.Rand, c *talk) string {
	switch {
	case c.kind == always:
		return "always"
	case random.IntN(3) == 0:
		return "reject"
	}
	return "once"
}

// reply answers until it is acknowledged, or until nothing waits for the answer any more.
func (a *asking) reply(ctx context.Context, random *rand.Rand, one *ask) {
	for ctx.Err() == nil && !a.h.r.t.Failed() {
		up := a.h.r.servers()
		if len(up) == 0 {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		p := up[random.IntN(len(up))]
		status, out := p.askFor("POST", "/permission/"+one.id+"/reply", map[string]string{"reply": one.reply})
		a.h.note("%s ask %s %s on %s: %d %.200s", one.session, one.id, one.reply, p.name, status, out)
		switch {
		case status/100 == 2:
			a.mu.Lock()
			one.known = true
			a.mu.Unlock()
			a.h.mu.Lock()
			a.h.did.asks++
			a.h.mu.Unlock()
			return
		case status == http.StatusNotFound:
			a.mu.Lock()
			one.missed = true
			a.mu.Unlock()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
