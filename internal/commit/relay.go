package commit

import (
	"context"
	"slices"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// againAfter is when it is tried again to tell what could not be told.
const againAfter = time.Second

// maxOutbox bounds what waits for a store that cannot be reached.
const maxOutbox = 10_000

// outbox is what this server published without a number, because the store could not be
// written. It goes along with the next commit, and is then published again as it is told
// everywhere: whoever goes on elsewhere after it gets it once, and misses nothing.
type outbox struct {
	journal store.Journal
	due     chan struct{} // something waits that nobody sends yet

	mu     sync.Mutex
	facts  []late
	newest uint64
}

// late is a fact that waits; n says which it is.
type late struct {
	store.Fact
	n uint64
}

func newOutbox(j store.Journal) *outbox { return &outbox{journal: j, due: make(chan struct{}, 1)} }

// shared reports whether others have to be told an event. Parts are left out: what is told
// of them without a commit is text and progress, which others read from the store.
func shared(ev lathe.Event) bool {
	switch ev := ev.(type) {
	case lathe.PartDelta, lathe.PartUpdated:
		return false
	case lathe.Notice, lathe.WorktreeReady, lathe.WorktreeFailed, lathe.MCPToolsChanged, lathe.MCPBrowserFailed:
		return true
	case lathe.ClientEvent:
		return ev.OfTerminal() // it is where its directory is, its clients may be anywhere
	}
	return lathe.SessionOf(ev) != ""
}

// tell notes a fact in the journal and publishes it. If that is not possible it is published
// here, and told to everybody as soon as that can be.
func (w *Writer) tell(f store.Fact) {
	err := w.sick()
	if err == nil {
		err = w.Commit(context.Background(), func(tx *Tx) error {
			tx.Tell(f.Directory, f.Event)
			return nil
		})
	}
	if err == nil {
		return
	}
	w.bus.Publish(f.Directory, f.Event)
	w.out.add(f)
}

// add takes a fact that is to be told again. Of what a session is doing only the newest counts.
func (o *outbox) add(f store.Fact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id := statusOf(f); id != "" {
		o.facts = slices.DeleteFunc(slices.Clone(o.facts), func(old late) bool { return statusOf(old.Fact) == id })
	}
	if len(o.facts) < maxOutbox {
		o.newest++
		o.facts = append(o.facts, late{f, o.newest})
	}
	select {
	case o.due <- struct{}{}:
	default:
	}
}

// statusOf returns the session of which a fact says what it is doing; "" for other facts.
func statusOf(f store.Fact) lathe.SessionID {
	if st, ok := f.Event.(lathe.SessionStatus); ok {
		return st.SessionID
	}
	return ""
}

// noted is what a transaction notes in the journal.
type noted struct {
	upTo uint64 // the newest that is from the outbox
	store.Noted
}

// note has what waits and what a transaction tells added to the journal. What a session was
// doing is left out where the transaction says it anew.
func (o *outbox) note(tx *Tx) (*noted, error) {
	said := map[lathe.SessionID]bool{"": false}
	for _, f := range tx.told {
		if id := statusOf(f); id != "" {
			said[id] = true
		}
	}
	n := &noted{}
	o.mu.Lock()
	for _, f := range o.facts {
		n.upTo = f.n
		if !said[statusOf(f.Fact)] {
			n.Facts = append(n.Facts, f.Fact)
		}
	}
	o.mu.Unlock()
	n.Again = len(n.Facts)
	n.Facts = append(n.Facts, tx.told...)
	to, ok := tx.Tx.(store.Noter)
	if !ok || len(n.Facts) == 0 {
		return n, nil
	}
	return n, to.Note(&n.Noted)
}

// sent forgets what was noted and committed.
func (o *outbox) sent(upTo uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.facts = slices.DeleteFunc(slices.Clone(o.facts), func(f late) bool { return f.n <= upTo })
}

func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.facts) == 0
}

// Flush tells other servers what was told here and is not stored. Call it when
// nothing is told any more. It does nothing in a store of one machine.
func (w *Writer) Flush(ctx context.Context) error {
	if w.out == nil || w.out.empty() {
		return nil
	}
	return w.Commit(ctx, func(*Tx) error { return nil })
}

// flushLate tells what waits as soon as the store can be written again, until ctx ends.
func (w *Writer) flushLate(ctx context.Context) {
	for {
		select {
		case <-w.out.due:
		case <-ctx.Done():
			return
		}
		for again := true; again; again = !w.out.empty() {
			select {
			case <-time.After(againAfter):
			case <-ctx.Done():
				return
			}
			_ = w.Flush(ctx) // what cannot be told now goes with the next commit, or the next time
		}
	}
}

// Relay publishes what other servers that share the store do, in the order of the
// journal, and tells them what they could not be told, until ctx ends. It returns at once
// in a store of one machine.
func (w *Writer) Relay(ctx context.Context) {
	if w.out == nil {
		return
	}
	var late sync.WaitGroup
	defer late.Wait()
	late.Go(func() { w.flushLate(ctx) })
	w.out.journal.Follow(ctx, func(read func(context.Context) ([]store.Fact, error)) error {
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { <-w.turn }()
		facts, err := read(ctx)
		w.publish(facts)
		if at, ok := w.out.journal.At(); ok {
			w.bus.Reached(at)
		}
		return err
	})
}

func (w *Writer) publish(facts []store.Fact) {
	for _, f := range facts {
		w.bus.Relay(f.Directory, f.Event, f.Number)
	}
}

// publishAgain publishes what was told here without a number. What has none now was left out
// because it is no longer true.
func (w *Writer) publishAgain(facts []store.Fact) {
	for _, f := range facts {
		if f.Number != 0 {
			w.bus.PublishNumbered(f.Directory, f.Event, f.Number)
		}
	}
}
