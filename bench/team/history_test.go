//go:build unix

package team

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The environment says how many rounds (none: the test is skipped), which seed, and where
// the history of a round that failed is kept (else in the directory for temporary files).
const (
	roundsVar = "LATHE_HISTORY"
	seedVar   = "LATHE_HISTORY_SEED"
	keepVar   = "LATHE_HISTORY_KEEP"
)

const (
	servers  = 3
	workers  = 6
	sessions = 100
	// longer than a server counts as living after it was last heard of
	longer = 12 * time.Second
)

// TestHistory lets clients prompt, answer asks, abort, revert and listen through any of three
// servers, whose turns workers run, while processes are killed, ended and paused, wires cut
// and held, clocks set, and the database ends and starts again. After each round it checks
// what was promised: see [history.check].
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
	r := newRig(t, servers, workers)
	for n := range rounds {
		// A round's seed is its own, so that one can be had again without those before.
		h := &history{r: r, random: rand.New(rand.NewPCG(seed+uint64(n), 1)), n: n, began: time.Now()}
		h.round()
		if t.Failed() {
			t.Fatalf("round %d failed, %s=%d; its history is in %s", n, seedVar, seed+uint64(n), h.keep(seed+uint64(n)))
		}
		t.Logf("round %d in %.0f s: %s; %s", n, time.Since(h.began).Seconds(), strings.Join(h.faults, ", "), &h.did)
	}
}

// history is what one round did.
type history struct {
	r      *rig
	random *rand.Rand // of the goroutine that runs the round
	n      int
	began  time.Time

	faults        []string
	touched       map[*proc]bool // something happened to it
	databaseEnded bool
	talks         []*talk
	asks          *asking
	listeners     []*listener
	did           deeds

	mu  sync.Mutex
	log []string
}

// deeds counts what a round did and compared.
type deeds struct {
	prompts, asks, aborts, reverts, unreverts int // acknowledged
	commands                                  int // that tools ran
	events, resumed                           int // compared; times that a listener went on elsewhere
	exact                                     int // reverts whose outcome is known to the message
}

func (d *deeds) String() string {
	return fmt.Sprintf("%d prompts, %d replies, %d aborts, %d reverts, %d unreverts, %d commands; %d events, %d resumptions, %d exact reverts compared",
		d.prompts, d.asks, d.aborts, d.reverts, d.unreverts, d.commands, d.events, d.resumed, d.exact)
}

// note adds a line to the history.
func (h *history) note(format string, args ...any) {
	line := fmt.Sprintf("%7.3f ", time.Since(h.began).Seconds()) + fmt.Sprintf(format, args...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, line)
}

func (h *history) round() {
	h.touched = map[*proc]bool{}
	h.program()
	h.begin()
	if h.r.t.Failed() {
		return
	}
	listening, stop := context.WithCancel(context.Background())
	for i, p := range h.r.servers() {
		h.listeners = append(h.listeners, h.listen(listening, p, rand.New(rand.NewPCG(h.random.Uint64(), uint64(i)))))
	}
	answering, enough := context.WithCancel(context.Background())
	var clients, answerers sync.WaitGroup
	h.asks = &asking{h: h, byID: map[string]*ask{}}
	for i := range 2 {
		own := rand.New(rand.NewPCG(h.random.Uint64(), uint64(i)))
		answerers.Go(func() { h.asks.answer(answering, own) })
	}
	for _, c := range h.talks {
		clients.Go(c.run)
	}
	h.trouble()
	clients.Wait()
	h.quiet()
	enough()
	answerers.Wait()
	h.check()
	stop()
	for _, l := range h.listeners {
		l.wg.Wait()
	}
}

// program writes the program of the round, which those sessions run that are answered with
// "always".
func (h *history) program() {
	dir := filepath.Join(h.r.dir, "bin")
	must(h.r.t, os.MkdirAll(dir, 0o700))
	must(h.r.t, os.WriteFile(filepath.Join(dir, fmt.Sprint("r", h.n)), []byte("#!/bin/sh\necho ran >> runs/$1; sleep 0.2\n"), 0o700))
}

// begin makes the sessions of the round.
func (h *history) begin() {
	var wg sync.WaitGroup
	h.talks = make([]*talk, sessions)
	for i := range h.talks {
		c := &talk{h: h, random: rand.New(rand.NewPCG(h.random.Uint64(), uint64(i))), kind: kind(i % int(kinds))}
		h.talks[i] = c
		wg.Go(c.create)
	}
	wg.Wait()
}

// trouble does some things to some of the team, one after the other or several at a time.
func (h *history) trouble() {
	var all sync.WaitGroup
	for range 4 + h.random.IntN(3) {
		time.Sleep(time.Duration(h.random.IntN(1500)) * time.Millisecond)
		p := h.r.procs[h.random.IntN(len(h.r.procs))]
		switch h.random.IntN(8) {
		case 0, 1:
			h.setClock(p)
			continue
		case 2:
			l := h.listeners[h.random.IntN(len(h.listeners))]
			h.fault("stream of " + l.name + " cut")
			l.cut()
			continue
		}
		if !h.touched[p] {
			h.touched[p] = true
			h.harm(&all, p)
		}
	}
	if h.random.IntN(4) == 0 {
		h.databaseEnded = true
		what, away := "database ended", time.Duration(h.random.IntN(2000))*time.Millisecond
		if h.random.IntN(3) == 0 {
			what, away = "database ended for long", longer
		}
		h.fault(what)
		h.r.db.Stop()
		time.Sleep(away)
		h.r.db.Restart(h.r.t)
	}
	all.Wait()
}

func (h *history) fault(what string) {
	h.faults = append(h.faults, what)
	h.note("%s", what)
}

// setClock has the clock of a process jump by up to ten minutes, either way.
func (h *history) setClock(p *proc) {
	ahead := time.Duration(h.random.IntN(1201)-600) * time.Second
	h.fault(fmt.Sprintf("clock of %s %+.0f s", p.name, ahead.Seconds()))
	p.clock.set(h.r.t, ahead)
}

// harm does one thing to a process.
func (h *history) harm(all *sync.WaitGroup, p *proc) {
	switch h.random.IntN(8) {
	case 0, 1:
		h.fault(p.name + " killed")
		p.kill()
		all.Go(p.start)
	case 2:
		h.fault(p.name + " stopped and started")
		all.Go(func() { p.stop(); p.start() })
	case 3:
		h.fault(p.name + " paused")
		all.Go(func() { p.pause(longer) })
	case 4, 5:
		h.fault(p.name + " cut off")
		p.wire.cut()
	case 6:
		h.fault(p.name + " held up")
		all.Go(func() { p.wire.hold(2 * time.Second) })
	case 7:
		h.fault(p.name + " held up for long")
		all.Go(func() { p.wire.hold(longer) })
	}
}

// quiet waits until nothing is done or waits any more, and all workers are there.
func (h *history) quiet() {
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		state := h.state(h.random)
		open := slices.ContainsFunc(h.talks, func(c *talk) bool { return strings.Contains(state, c.id) })
		open = open || strings.Count(state, `"state":"ready"`) < workers
		if !open || h.r.t.Failed() {
			return
		}
		if time.Now().After(end) {
			h.r.t.Errorf("it does not come to rest: %s", state)
			return
		}
	}
}

// state names the sessions that are worked on or wait.
func (h *history) state(random *rand.Rand) string {
	state := string(h.r.insist(random, "GET", "/lathe/workers", nil))
	return state + string(h.r.insist(random, "GET", "/session/status", nil))
}

// keep stores what a round that failed did, and what the processes do that it ends, and returns
// where.
func (h *history) keep(seed uint64) string {
	dir := os.Getenv(keepVar)
	if dir == "" {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, fmt.Sprint("lathe-history-", seed))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err.Error()
	}
	h.mu.Lock()
	lines := slices.Clone(h.log)
	h.mu.Unlock()
	for _, l := range h.listeners {
		lines = append(lines, "", "events of "+l.name+":")
		for _, ev := range l.all() {
			lines = append(lines, fmt.Sprintf("%s %d.%d %s %s", ev.at, ev.number, ev.segment, ev.kind, ev.body))
		}
	}
	for _, c := range h.talks {
		raw, err := json.Marshal(c.stored)
		lines = append(lines, fmt.Sprintf("stored of %s: %s %v", c.id, raw, err))
	}
	err := os.WriteFile(filepath.Join(dir, "history.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o600)
	for _, p := range h.r.procs {
		p.dump()
		for _, path := range p.logs() {
			if raw, e := os.ReadFile(path); e == nil && err == nil {
				err = os.WriteFile(filepath.Join(dir, p.name+"-"+filepath.Base(path)), raw, 0o600)
			}
		}
	}
	if err != nil {
		return err.Error()
	}
	return dir
}
