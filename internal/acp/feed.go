package acp

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/client"
)

// feed follows the events of one directory for the conversations there.
type feed struct {
	a    *agent
	dir  string
	c    *client.Client
	stop context.CancelFunc

	opened chan struct{} // closed when events flow, or never will
	err    error         // why they never will; set before opened is closed

	mu    sync.Mutex
	talks map[lathe.SessionID]*conversation
	roots map[lathe.SessionID]lathe.SessionID // of subagents' sessions
}

// follow returns the feed of a directory once its events flow.
func (a *agent) follow(ctx context.Context, dir string, c *client.Client) (*feed, error) {
	a.mu.Lock()
	f := a.feeds[dir]
	if f == nil {
		life, stop := context.WithCancel(a.ctx)
		f = &feed{
			a: a, dir: dir, c: c, stop: stop, opened: make(chan struct{}),
			talks: map[lathe.SessionID]*conversation{}, roots: map[lathe.SessionID]lathe.SessionID{},
		}
		a.feeds[dir] = f
		a.work.Go(func() { f.run(life) }) // ends with the feed or the connection
	}
	a.mu.Unlock()
	select {
	case <-f.opened:
		return f, f.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (f *feed) run(ctx context.Context) {
	opened := sync.OnceFunc(func() { close(f.opened) })
	defer opened()
	for u, err := range f.c.Follow(ctx) {
		switch {
		case err != nil:
			f.end(err, opened)
			return
		case u.Event != nil:
			f.take(ctx, u.Event)
		case u.Open:
			opened()
			if u.Lost {
				f.resync(ctx)
			}
		}
	}
}

// end reports that no more events will come. The next request for the directory tries again.
func (f *feed) end(err error, opened func()) {
	f.a.mu.Lock()
	if f.a.feeds[f.dir] == f {
		delete(f.a.feeds, f.dir)
	}
	f.a.mu.Unlock()
	select {
	case <-f.opened:
	default:
		f.err = err
	}
	opened()
	for _, t := range f.all() {
		t.mu.Lock()
		for _, w := range t.waiting {
			w.end()
		}
		t.mu.Unlock()
	}
}

func (f *feed) join(t *conversation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.talks[t.id] = t
}

// leave removes a conversation. A feed without conversations ends.
func (f *feed) leave(t *conversation) {
	f.a.mu.Lock()
	defer f.a.mu.Unlock()
	f.mu.Lock()
	delete(f.talks, t.id)
	last := len(f.talks) == 0
	f.mu.Unlock()
	if last && f.a.feeds[f.dir] == f {
		delete(f.a.feeds, f.dir)
		f.stop()
	}
}

func (f *feed) all() []*conversation {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]*conversation, 0, len(f.talks))
	for _, t := range f.talks {
		list = append(list, t)
	}
	return list
}

// take passes an event to the conversation that it is about.
func (f *feed) take(ctx context.Context, ev lathe.Event) {
	id := lathe.SessionOf(ev)
	if c, ok := ev.(lathe.SessionCreated); ok && c.Session.ParentID != "" {
		f.born(c.Session)
	}
	f.mu.Lock()
	t := f.talks[id]
	f.mu.Unlock()
	if t != nil {
		t.take(ev)
		return
	}
	switch ev := ev.(type) { // of a subagent
	case lathe.PermissionAsked:
		if t := f.owner(ctx, id); t != nil {
			t.permission(ev.Ask)
		}
	case lathe.QuestionAsked:
		if t := f.owner(ctx, id); t != nil {
			t.question(ev.Ask)
		}
	case lathe.PermissionReplied:
		f.settled(ev.AskID)
	case lathe.QuestionReplied:
		f.settled(ev.AskID)
	case lathe.QuestionRejected:
		f.settled(ev.AskID)
	}
}

// born notes a subagent's session.
func (f *feed) born(s lathe.Session) {
	f.mu.Lock()
	root, ours := f.rootOf(s.ParentID)
	if ours {
		f.roots[s.ID] = root
	}
	t := f.talks[root]
	f.mu.Unlock()
	if ours && t != nil {
		t.lend(s.ID)
	}
}

func (f *feed) settled(id lathe.AskID) {
	for _, t := range f.all() {
		t.settled(id)
	}
}

// rootOf returns the conversation's session that a session belongs to. The caller
// holds mu.
func (f *feed) rootOf(id lathe.SessionID) (lathe.SessionID, bool) {
	if _, ok := f.talks[id]; ok {
		return id, true
	}
	root, ok := f.roots[id]
	return root, ok
}

// maxDepth bounds how far up the parents of a session are looked for.
const maxDepth = 8

// owner returns the conversation that a subagent works for, or nil.
func (f *feed) owner(ctx context.Context, id lathe.SessionID) *conversation {
	for at, n := id, 0; n < maxDepth; n++ {
		f.mu.Lock()
		root, ok := f.rootOf(at)
		t := f.talks[root]
		if ok {
			f.roots[id] = root
		}
		f.mu.Unlock()
		if ok {
			return t
		}
		s, err := f.c.Get(ctx, at)
		if err != nil || s.ParentID == "" {
			return nil
		}
		at = s.ParentID
	}
	return nil
}

// caughtUp is how many messages are read again after events were lost.
const caughtUp = 200

// resync tells the editor what was missed, and ends the turns that ended in the meantime.
func (f *feed) resync(ctx context.Context) {
	for _, t := range f.all() {
		status, err := t.c.Status(ctx, t.id) // first: what follows it comes as events
		if err != nil {
			continue
		}
		messages, err := t.c.History(ctx, t.id, 0, caughtUp)
		if err != nil {
			continue
		}
		for _, m := range messages {
			t.saw(m.ID)
			t.tell.message(m)
		}
		t.pending(ctx)
		if _, idle := status.(lathe.Idle); idle {
			t.idle()
		}
	}
}
