//go:build unix

package team

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lathe"
)

// kind says what a session of a round is about.
type kind int

const (
	plain  kind = iota
	asks        // each command is asked about, and answered with once or reject
	always      // the program of the round is asked about, and answered with always
	undoes      // what was asked is reverted, while turns run and after
	kinds
)

// talk is a client's talk with a session, and what may be expected of it.
type talk struct {
	h      *history
	random *rand.Rand
	kind   kind
	id     string

	prompts []*prompt
	aborted bool
	unsure  bool      // a revert, or its end, was sent without an answer: it may come later
	reverts []string  // messages that were reverted to while something may have run
	revert  string    // message from which on it is to be hidden in the end
	exact   bool      // revert, gone and kept are known
	kept    []string  // messages that must be there
	gone    []string  // messages that must not
	stored  []message // in the end
}

// prompt is one that a server accepted.
type prompt struct {
	id, token string
	unsure    bool // sent before without an answer
}

// create makes the session.
func (c *talk) create() {
	rules := []map[string]string{{"permission": "*", "pattern": "*", "action": "allow"}}
	if c.kind == asks || c.kind == always {
		rules = append(rules, map[string]string{"permission": "bash", "pattern": "*", "action": "ask"})
	}
	raw := c.h.r.insist(c.random, "POST", "/session", map[string]any{"permission": rules})
	var ses struct{ ID string }
	if json.Unmarshal(raw, &ses) != nil || ses.ID == "" {
		c.h.r.t.Errorf("a session is %s", raw)
	}
	c.id = ses.ID
}

func (c *talk) failed() bool { return c.h.r.t.Failed() }

func (c *talk) run() {
	c.pause(3000)
	for range 1 + c.random.IntN(2) {
		c.prompt()
		c.pause(1500)
		switch {
		case c.random.IntN(7) == 0:
			c.abort()
		case c.kind == undoes && c.random.IntN(3) == 0:
			c.revertEarly()
		}
		if c.failed() {
			return
		}
	}
	if c.kind == undoes || c.random.IntN(4) == 0 {
		c.revertInQuiet()
	}
}

func (c *talk) pause(most int) { time.Sleep(time.Duration(c.random.IntN(most)) * time.Millisecond) }

// prompt asks something, again with the same identifier as long as nobody has acknowledged
// it.
func (c *talk) prompt() *prompt {
	p := &prompt{
		id:    string(lathe.NewIDs(time.Now, nil).Message()),
		token: fmt.Sprintf("T%dx%sx%d", c.h.n, strings.TrimPrefix(c.id, "ses_"), len(c.prompts)),
	}
	text := "do token " + p.token
	if c.kind == always {
		text += fmt.Sprintf(" with ./bin/r%d", c.h.n)
	}
	c.prompts = append(c.prompts, p) // a server may accept it and be gone
	p.unsure = c.insist("/prompt_async", map[string]any{"messageID": p.id, "parts": []map[string]string{{"type": "text", "text": text}}})
	c.count(&c.h.did.prompts)
	return p
}

func (c *talk) abort() {
	c.aborted = true
	c.insist("/abort", nil)
	c.count(&c.h.did.aborts)
}

func (c *talk) count(n *int) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	*n++
}

// insist changes the session through one server or another until it is acknowledged, and
// reports whether an attempt before may have been carried out as well, or still be.
func (c *talk) insist(path string, body any) (unsure bool) {
	_, unsure = c.h.r.persist(c.random, "POST", "/session/"+c.id+path, body, func(p *proc, status int) {
		c.h.note("%s%s on %s: %d %v", c.id, path, p.name, status, body)
	})
	return unsure
}

// revertEarly reverts to a prompt while a turn may run. Where one does, it is refused.
func (c *talk) revertEarly() {
	to := c.prompts[c.random.IntN(len(c.prompts))].id
	status := c.once("/revert", map[string]any{"messageID": to})
	if status/100 == 4 {
		return
	}
	c.reverts = append(c.reverts, to)
	c.unsure = c.unsure || status/100 != 2
	if status/100 != 2 {
		return
	}
	c.count(&c.h.did.reverts)
	if c.random.IntN(2) == 0 {
		status = c.once("/unrevert", nil)
		c.unsure = c.unsure || status/100 != 2 && status/100 != 4
		if status/100 == 2 {
			c.count(&c.h.did.unreverts)
		}
	}
}

// once tries to change the session once.
func (c *talk) once(path string, body any) (status int) {
	up := c.h.r.servers()
	if len(up) == 0 {
		return 400
	}
	p := up[c.random.IntN(len(up))]
	status, _ = p.askFor("POST", "/session/"+c.id+path, body)
	c.h.note("%s%s once on %s: %d %v", c.id, path, p.name, status, body)
	return status
}

// settled waits until nothing runs or waits in the session.
func (c *talk) settled() {
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		switch state := c.h.state(c.random); {
		case c.failed() || !strings.Contains(state, c.id):
			return
		case time.Now().After(end):
			c.h.r.t.Errorf("%s does not come to rest: %s", c.id, state)
			return
		}
	}
}

// revertInQuiet reverts to a prompt when nothing runs, so that the outcome is known: what
// every server says at once, and what is there in the end.
func (c *talk) revertInQuiet() {
	c.settled()
	before := c.messages()
	var asked []string
	for _, m := range before {
		if m.Info.Role == "user" {
			asked = append(asked, m.Info.ID)
		}
	}
	if len(asked) == 0 || c.failed() || c.unsure || c.reverted() != "" {
		return
	}
	to := asked[c.random.IntN(len(asked))]
	if c.insist("/revert", map[string]any{"messageID": to}) {
		c.unsure = true
		c.reverts = append(c.reverts, to)
		return
	}
	c.count(&c.h.did.reverts)
	c.exact, c.revert = true, to
	c.expectReverted(to)
	for _, m := range before {
		c.kept = append(c.kept, m.Info.ID)
	}
	switch c.random.IntN(3) {
	case 0:
		c.unrevert()
	case 1:
		c.goOn(to)
	}
}

func (c *talk) unrevert() {
	if c.insist("/unrevert", nil) {
		c.exact, c.unsure = false, true
		return
	}
	c.count(&c.h.did.unreverts)
	c.revert = ""
	c.expectReverted("")
}

// goOn asks something in place of what was reverted, which removes that.
func (c *talk) goOn(to string) {
	i := slices.Index(c.kept, to)
	c.gone, c.kept = c.kept[i:], c.kept[:i:i]
	for _, p := range c.prompts { // the same again may come later, as a new one
		c.exact = c.exact && !p.unsure
	}
	c.revert = ""
	p := c.prompt()
	c.kept = append(c.kept, p.id)
}

// expectReverted checks that every server says what was acknowledged.
func (c *talk) expectReverted(to string) {
	for _, p := range c.h.r.servers() {
		status, raw := p.askFor("GET", "/session/"+c.id, nil)
		if got := revertOf(raw); status == 200 && got != to {
			c.h.r.t.Errorf("%s was reverted to %q, and %s says %q", c.id, to, p.name, got)
		}
	}
}

// reverted is the message that the session is reverted to.
func (c *talk) reverted() string {
	return revertOf(c.h.r.insist(c.random, "GET", "/session/"+c.id, nil))
}

func revertOf(raw []byte) string {
	var ses struct{ Revert struct{ MessageID string } }
	_ = json.Unmarshal(raw, &ses) // "" is compared
	return ses.Revert.MessageID
}

func (c *talk) messages() (out []message) {
	raw := c.h.r.insist(c.random, "GET", "/session/"+c.id+"/message", nil)
	if err := json.Unmarshal(raw, &out); err != nil && !c.failed() {
		c.h.r.t.Errorf("%s: %v in %s", c.id, err, raw)
	}
	return out
}
