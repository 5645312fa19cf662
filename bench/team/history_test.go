//go:build unix

package team

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe"
)

// The environment says how many rounds (none: the test is skipped) and which seed.
const (
	roundsVar = "LATHE_HISTORY"
	seedVar   = "LATHE_HISTORY_SEED"
)

const (
	servers  = 3
	workers  = 3
	sessions = 9
	prompts  = 3 // in each session and round
	// longer than a server counts as living after it was last heard of
	longer = 12 * time.Second
)

// TestHistory lets clients prompt and abort through any of three servers, whose turns
// workers run, while processes are killed and paused, wires cut and held, and the database
// ends and starts again. After each round it checks what was promised: what was
// acknowledged is stored, no tool ran twice, each prompt has one answer, all servers tell the same
// history, and those that nothing happened to told the same events in the same order.
//
//	LATHE_HISTORY=200 go test -run History -v -timeout 4h ./bench/team
func TestHistory(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv(roundsVar))
	if rounds == 0 {
		t.Skip("set " + roundsVar + " to a number of rounds")
	}
	seed, err := strconv.ParseUint(os.Getenv(seedVar), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%s=%d", seedVar, seed)
	random := rand.New(rand.NewPCG(seed, 1))
	r := newRig(t, servers, workers)
	for n := range rounds {
		h := &history{r: r, random: random, n: n}
		h.round()
		if t.Failed() {
			t.Fatalf("round %d with %s=%d failed; %d prompts acknowledged", n, seedVar, seed, len(h.acknowledged))
		}
		if h.ran == 0 {
			t.Fatalf("round %d: no command ran", n)
		}
		t.Logf("round %d: %s; %d prompts acknowledged, %d sessions aborted, %d commands ran, %d events compared", n, strings.Join(h.faults, ", "), len(h.acknowledged), len(h.aborted), h.ran, h.heard)
	}
}

// history is what one round did.
type history struct {
	r      *rig
	random *rand.Rand
	n      int

	faults  []string
	touched map[*proc]bool // something happened to it

	mu           sync.Mutex
	acknowledged []prompt
	aborted      map[string]bool // sessions
	ran, heard   int             // commands, and events that were compared
}

// prompt is one that a server accepted.
type prompt struct {
	session string
	id      string
	token   string
}

func (h *history) round() {
	h.touched, h.aborted = map[*proc]bool{}, map[string]bool{}
	var ids []string
	for range sessions {
		raw := h.r.insist(h.random, "POST", "/session", map[string]any{"permission": []map[string]string{{"permission": "*", "pattern": "*", "action": "allow"}}})
		var ses struct{ ID string }
		if json.Unmarshal(raw, &ses) != nil || ses.ID == "" {
			h.r.t.Errorf("a session is %s", raw)
			return
		}
		ids = append(ids, ses.ID)
	}
	listening, stop := context.WithCancel(context.Background())
	var listeners []*listener
	for _, p := range h.r.servers() {
		listeners = append(listeners, listen(listening, p))
	}
	var clients sync.WaitGroup
	for i, id := range ids {
		own := rand.New(rand.NewPCG(h.random.Uint64(), uint64(i)))
		clients.Go(func() { h.client(own, id) })
	}
	h.trouble()
	clients.Wait()
	h.quiet(ids)
	h.check(ids)
	h.checkEvents(listeners, ids)
	stop()
	for _, l := range listeners {
		l.wg.Wait()
	}
}

// client prompts a session, again with the same identifier as long as nobody has
// acknowledged it, and sometimes aborts.
func (h *history) client(random *rand.Rand, id string) {
	for i := range prompts {
		p := prompt{session: id, id: string(lathe.NewIDs(time.Now, nil).Message()), token: fmt.Sprintf("r%d%s%d", h.n, strings.TrimPrefix(id, "ses_"), i)}
		body := map[string]any{"messageID": p.id, "parts": []map[string]string{{"type": "text", "text": "do token " + p.token}}}
		if h.r.insist(random, "POST", "/session/"+id+"/prompt_async", body); h.r.t.Failed() {
			return
		}
		h.mu.Lock()
		h.acknowledged = append(h.acknowledged, p)
		h.mu.Unlock()
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond)
		if random.IntN(6) == 0 {
			h.r.insist(random, "POST", "/session/"+id+"/abort", nil)
			h.mu.Lock()
			h.aborted[id] = true
			h.mu.Unlock()
		}
	}
}

// trouble does some things to some of the team.
func (h *history) trouble() {
	var all sync.WaitGroup
	for range 2 {
		time.Sleep(time.Duration(h.random.IntN(1000)) * time.Millisecond)
		p := h.r.procs[h.random.IntN(len(h.r.procs))]
		if h.touched[p] {
			continue
		}
		h.touched[p] = true
		switch h.random.IntN(5) {
		case 0, 1:
			h.faults = append(h.faults, p.name+" killed")
			p.kill()
			all.Go(p.start)
		case 2:
			h.faults = append(h.faults, p.name+" paused")
			all.Go(func() { p.pause(longer) })
		case 3:
			h.faults = append(h.faults, p.name+" cut off")
			p.wire.cut()
		case 4:
			h.faults = append(h.faults, p.name+" held up")
			all.Go(func() { p.wire.hold(2 * time.Second) })
		}
	}
	if h.random.IntN(4) == 0 {
		h.faults = append(h.faults, "database ended")
		h.r.db.Stop()
		h.r.db.Restart(h.r.t)
	}
	all.Wait()
}

// quiet waits until nothing is done or waits any more.
func (h *history) quiet(ids []string) {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		state := string(h.r.insist(h.random, "GET", "/lathe/workers", nil))
		busy := string(h.r.insist(h.random, "GET", "/session/status", nil))
		open := slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(state, id) || strings.Contains(busy, id) })
		if !open || h.r.t.Failed() {
			return
		}
		if time.Now().After(end) {
			h.r.t.Errorf("it does not come to rest: %s %s", state, busy)
			return
		}
	}
}

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

// check compares what is stored with what was acknowledged.
func (h *history) check(ids []string) {
	t := h.r.t
	for _, id := range ids {
		var first string
		var messages []message
		for _, p := range h.r.servers() {
			raw := h.read(p, "/session/"+id+"/message")
			if first == "" {
				first = raw
			}
			if raw != first {
				t.Errorf("%s of %s: one server says\n%s\nand %s\n%s", id, h.faults, first, p.name, raw)
			}
		}
		if err := json.Unmarshal([]byte(first), &messages); err != nil {
			t.Errorf("%s: %v in %s", id, err, first)
			continue
		}
		h.checkSession(id, messages)
	}
}

// read reads from one server, which may need a moment to reach the database again.
func (h *history) read(p *proc, path string) string {
	var status int
	var out []byte
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		status, out = p.ask(ctx, "GET", path, nil)
		cancel()
		if status == http.StatusOK {
			return string(out)
		}
	}
	h.r.t.Errorf("%s on %s: %d %s", path, p.name, status, out)
	return ""
}

func (h *history) checkSession(id string, messages []message) {
	t := h.r.t
	stored, answers := map[string]int{}, map[string]int{}
	for _, m := range messages {
		switch {
		case m.Info.Role == "user":
			stored[m.Info.ID]++
			continue
		case m.Info.Time.Completed == 0:
			t.Errorf("%s: answer %s is left open", id, m.Info.ID)
		case m.Info.Finish == "stop":
			answers[m.Info.ParentID]++
		}
		for _, p := range m.Parts {
			if p.Type == "tool" && p.State.Status != "completed" && p.State.Status != "error" {
				t.Errorf("%s: a call of %s is left %s", id, m.Info.ID, p.State.Status)
			}
		}
	}
	for _, p := range h.acknowledged {
		if p.session != id {
			continue
		}
		// An abort takes back what was queued, and what was never begun.
		if n := stored[p.id]; n > 1 || n == 0 && !h.aborted[id] {
			t.Errorf("%s: prompt %s is stored %d times after %s", id, p.id, n, h.faults)
		}
		if n := answers[p.id]; n > 1 {
			t.Errorf("%s: prompt %s has %d answers", id, p.id, n)
		}
		runs, err := os.ReadFile(filepath.Join(h.r.dir, "runs", p.token))
		n := strings.Count(string(runs), "ran")
		h.ran += n
		if n > 1 {
			t.Errorf("%s: the command of prompt %s ran %d times, %v, after %s", id, p.id, n, err, h.faults)
		}
	}
}

// listener is a client that hears what a server tells.
type listener struct {
	p  *proc
	wg sync.WaitGroup

	mu    sync.Mutex
	heard []string
	cut   bool // the stream ended before it was closed
}

// event is as much of one as is the same wherever it is told.
type event struct {
	Type       string
	Properties struct {
		SessionID string
		Info      struct {
			ID, SessionID, Role, Finish string
			Time                        struct{ Completed int64 }
		}
	}
}

// listen listens to a server until ctx ends.
func listen(ctx context.Context, p *proc) *listener {
	l := &listener{p: p}
	req, err := http.NewRequestWithContext(ctx, "GET", p.at()+"/global/event", nil)
	must(p.r.t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		l.cut = true
		return l
	}
	l.wg.Go(func() {
		defer func() { _ = res.Body.Close() }()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			var ev struct{ Payload event }
			if !ok || json.Unmarshal([]byte(data), &ev) != nil || ev.Payload.Type != "message.updated" {
				continue
			}
			i := ev.Payload.Properties.Info
			l.mu.Lock()
			l.heard = append(l.heard, fmt.Sprintf("%s %s %s %s %d", i.SessionID, i.ID, i.Role, i.Finish, i.Time.Completed))
			l.mu.Unlock()
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cut = l.cut || ctx.Err() == nil
	})
	return l
}

// of returns what was heard of some sessions.
func (l *listener) of(ids []string) (heard []string, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.heard {
		if id, _, _ := strings.Cut(line, " "); slices.Contains(ids, id) {
			heard = append(heard, line)
		}
	}
	return heard, l.cut
}

// checkEvents compares what was heard on the servers whose streams nothing interrupted.
func (h *history) checkEvents(all []*listener, ids []string) {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var first []string
		var at string
		differs := ""
		for _, l := range all {
			heard, cut := l.of(ids)
			if cut || h.touched[l.p] {
				continue
			}
			if at == "" {
				first, at, h.heard = heard, l.p.name, len(heard)
			} else if !slices.Equal(first, heard) {
				n := 0
				for n < min(len(first), len(heard)) && first[n] == heard[n] {
					n++
				}
				differs = fmt.Sprintf("%s told %d events and %s %d; they differ at %d: %q and %q", at, len(first), l.p.name, len(heard), n,
					cmp.Or(strings.Join(first[n:min(n+3, len(first))], "; "), "nothing"), cmp.Or(strings.Join(heard[n:min(n+3, len(heard))], "; "), "nothing"))
			}
		}
		if differs == "" {
			return
		}
		if time.Now().After(end) {
			h.r.t.Errorf("after %s: %s", h.faults, differs)
			return
		}
	}
}
