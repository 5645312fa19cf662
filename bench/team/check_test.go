//go:build unix

package team

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type message struct {
	Info struct {
		ID, Role, ParentID, Finish string
		Time                       struct{ Completed int64 }
		Error                      json.RawMessage
	}
	Parts []struct {
		Type  string
		State struct{ Status string }
	}
}

// check compares what is stored, was told and was done with what was acknowledged:
//
//   - what was acknowledged is stored: prompts, replies, reverts and their ends;
//   - a prompt has one answer at most, nothing is left open, and the newest was answered;
//   - no command ran twice, none without the permission that it was to wait for, none that was
//     rejected;
//   - all servers tell the same history, each event once, in one order, and with the
//     same content, to those that stayed and to those that went on elsewhere.
func (h *history) check() {
	var wg sync.WaitGroup
	turn := make(chan struct{}, 8)
	for _, c := range h.talks {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			h.checkStored(c)
		})
	}
	wg.Wait()
	for _, c := range h.talks {
		h.checkPrompts(c)
		h.checkReverts(c)
	}
	if h.did.commands == 0 {
		h.r.t.Error("no command ran")
	}
	h.checkEvents()
}

// checkStored compares what the servers say is stored in a session, and what is open in it.
func (h *history) checkStored(c *talk) {
	t, first := h.r.t, ""
	for _, p := range h.r.servers() {
		raw := h.read(p, "/session/"+c.id+"/message")
		if first == "" {
			first = raw
		}
		if raw != first {
			t.Errorf("%s: one server says\n%s\nand %s\n%s", c.id, first, p.name, raw)
		}
	}
	if err := json.Unmarshal([]byte(first), &c.stored); err != nil {
		t.Errorf("%s: %v in %s", c.id, err, first)
		return
	}
	for _, m := range c.stored {
		if m.Info.Role == "assistant" && m.Info.Time.Completed == 0 {
			t.Errorf("%s: answer %s is left open", c.id, m.Info.ID)
		}
		for _, p := range m.Parts {
			if p.Type == "tool" && p.State.Status != "completed" && p.State.Status != "error" {
				t.Errorf("%s: a call of %s is left %s", c.id, m.Info.ID, p.State.Status)
			}
		}
	}
}

// read reads from one server, which may need a moment to reach the database again.
func (h *history) read(p *proc, path string) string {
	var status int
	var out []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if status, out = p.askFor("GET", path, nil); status == http.StatusOK {
			return string(out)
		}
	}
	h.r.t.Errorf("%s on %s: %d %s", path, p.name, status, out)
	return ""
}

func (h *history) checkPrompts(c *talk) {
	t := h.r.t
	stored, answers := map[string]int{}, map[string]int{}
	for _, m := range c.stored {
		if m.Info.Role == "user" {
			stored[m.Info.ID]++
		} else if m.Info.Finish == "stop" {
			answers[m.Info.ParentID]++
		}
	}
	for _, p := range c.prompts {
		// An abort takes back what was queued, and what was never begun.
		if n := stored[p.id]; n > 1 || n == 0 && !c.aborted && len(c.reverts) == 0 && !slices.Contains(c.gone, p.id) {
			t.Errorf("%s: prompt %s is stored %d times", c.id, p.id, n)
		}
		if n := answers[p.id]; n > 1 {
			t.Errorf("%s: prompt %s has %d answers", c.id, p.id, n)
		}
		h.checkCommand(c, p)
	}
	if n := len(c.stored); n > 0 && c.stored[n-1].Info.Role == "user" && !c.aborted {
		t.Errorf("%s: nothing answers the newest prompt %s", c.id, c.stored[n-1].Info.ID)
	}
}

// checkCommand compares how often the command of a prompt ran with what was allowed.
func (h *history) checkCommand(c *talk, p *prompt) {
	t := h.r.t
	runs, err := os.ReadFile(filepath.Join(h.r.dir, "runs", p.token))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	n := strings.Count(string(runs), "ran")
	h.did.commands += n
	if n > 1 {
		t.Errorf("%s: the command of prompt %s ran %d times", c.id, p.id, n)
	}
	if c.kind != asks {
		return
	}
	allowed, rejected := false, false
	for _, a := range h.asks.byID {
		if a.token == p.token {
			allowed, rejected = allowed || a.reply == "once", rejected || a.reply == "reject" && a.known
		}
	}
	if n > 0 && !allowed {
		t.Errorf("%s: the command of prompt %s ran and nobody had allowed it (rejected: %v)", c.id, p.id, rejected)
	}
}

// checkReverts compares what is hidden and removed with what was acknowledged.
func (h *history) checkReverts(c *talk) {
	t := h.r.t
	for _, p := range h.r.servers() {
		got := revertOf([]byte(h.read(p, "/session/"+c.id)))
		if c.exact && got != c.revert || got != "" && !c.exact && len(c.reverts) == 0 && !c.unsure {
			t.Errorf("%s is reverted to %q on %s, not to %q", c.id, got, p.name, c.revert)
		}
	}
	if !c.exact {
		return
	}
	there := map[string]bool{}
	for _, m := range c.stored {
		there[m.Info.ID] = true
	}
	if last := c.prompts[len(c.prompts)-1].id; len(c.gone) > 0 && c.aborted && !there[last] {
		return // an abort was carried out so late that it took this one back
	}
	h.did.exact++
	for _, id := range c.kept {
		if !there[id] {
			t.Errorf("%s: message %s is gone", c.id, id)
		}
	}
	for _, id := range c.gone {
		if there[id] {
			t.Errorf("%s: message %s is still there", c.id, id)
		}
	}
}
