package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/engine"
)

// frame is the least time between two updates of the screen by events.
const frame = time.Second / 30

// Events is what happened since the last frame. Lost means that some was missed,
// so that the session must be read again.
type Events struct {
	List []lathe.Envelope
	Lost bool
	Link *engine.Link // nil when the connection has not changed
}

// pump reads events and hands them on in batches, at most one a frame.
type pump struct {
	send func(tea.Msg)

	mu     sync.Mutex
	list   []lathe.Envelope
	lost   bool
	link   *engine.Link
	last   time.Time
	queued bool
	timer  *time.Timer
	wg     sync.WaitGroup
}

// run follows the engine until the context ends. When the stream breaks it begins
// a new one and says that something was lost.
func (p *pump) run(ctx context.Context, turns engine.Turns) {
	again := false
	for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		var ended error
		for u, err := range turns.Follow(ctx) {
			if err != nil {
				ended = err
				break
			}
			wait = 100 * time.Millisecond
			if l := u.Link; l != nil {
				l.Lost = l.Lost || l.Up && again
				again = again && !l.Up
				p.linked(*l)
				continue
			}
			p.add(u.Envelope)
		}
		if ctx.Err() == nil {
			p.linked(engine.Link{Err: ended, Retry: time.Now().Add(wait)})
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			again = true
		}
	}
	p.mu.Lock()
	if p.timer != nil && p.timer.Stop() {
		p.wg.Done()
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *pump) linked(l engine.Link) {
	p.mu.Lock()
	p.link = &l
	p.lost = p.lost || l.Lost
	p.mu.Unlock()
	p.schedule()
}

func (p *pump) add(e lathe.Envelope) {
	p.mu.Lock()
	d, ok := e.Event.(lathe.PartDelta)
	if n := len(p.list); ok && n > 0 {
		last, same := p.list[n-1].Event.(lathe.PartDelta)
		if same && last.PartID == d.PartID && (last.End == 0) == (d.End == 0) {
			last.Delta, last.End = last.Delta+d.Delta, d.End
			e.Event = last
			p.list = p.list[:n-1]
		}
	}
	p.list = append(p.list, e)
	p.mu.Unlock()
	p.schedule()
}

// schedule makes sure that a batch is sent: at once after a pause, else when the
// next frame is due.
func (p *pump) schedule() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued {
		return
	}
	p.queued = true
	p.wg.Add(1)
	p.timer = time.AfterFunc(max(0, frame-time.Since(p.last)), p.flush)
}

func (p *pump) flush() {
	defer p.wg.Done()
	p.mu.Lock()
	batch := Events{p.list, p.lost, p.link}
	p.list, p.lost, p.link, p.queued, p.last = nil, false, nil, false, time.Now()
	p.mu.Unlock()
	p.send(batch)
}

// linked handles a change of the connection. What was read before the first
// connection may be out of date.
func (a *App) linked(l engine.Link) tea.Cmd {
	first := a.link == engine.Link{}
	a.lost, a.link = !l.Up, l
	if l.Up && first && (a.session.ID != "" || a.opening != "") {
		return a.reread()
	}
	return nil
}

// reread reads again what is shown, since events are missing.
func (a *App) reread() tea.Cmd {
	cmds := []tea.Cmd{a.loadWaiting(a.sheets.waitingIDs())}
	for id := range a.status {
		if id != a.session.ID {
			delete(a.status, id)
		}
	}
	switch {
	case a.opening != "":
		cmds = append(cmds, a.open(a.opening))
	case a.session.ID != "":
		cmds = append(cmds, a.open(a.session.ID))
	}
	return tea.Batch(cmds...)
}

// branchMsg is the branch that is checked out.
type branchMsg string

func (o *Options) loadBranch() tea.Cmd {
	if o.Branch == nil {
		return nil
	}
	return func() tea.Msg { return branchMsg(o.Branch()) }
}
