package commit

import (
	"context"
	"sync"
	"time"

	"lathe"
	"lathe/internal/store"
)

// tellAfter is how long what is not stored waits for a commit that takes it along to
// the other servers.
const tellAfter = 5 * time.Millisecond

// maxOutbox bounds what waits for a store that cannot be reached.
const maxOutbox = 10_000

// outbox is what this server published and the others have not been told. It goes
// along with the next commit.
type outbox struct {
	journal store.Journal

	mu    sync.Mutex
	facts []store.Fact
	due   bool // somebody sends it
}

// add takes an event that others have to be told, and reports whether nobody was to
// send it yet. Parts are left out: what is told of them without a commit is text and
// progress, which others read from the store.
func (o *outbox) add(dir string, ev lathe.Event) (first bool) {
	switch ev.(type) {
	case lathe.PartDelta, lathe.PartUpdated:
		return false
	}
	if lathe.SessionOf(ev) == "" {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.facts) < maxOutbox {
		o.facts = append(o.facts, store.Fact{Directory: dir, Event: ev})
	}
	first = !o.due
	o.due = true
	return first
}

// noted is what a transaction noted in the journal, and what came before it.
type noted struct {
	told   int // from the outbox
	before []store.Fact
}

// note adds what waits and what a transaction tells to the journal.
func (o *outbox) note(tx *Tx) (n noted, err error) {
	o.mu.Lock()
	facts := append([]store.Fact(nil), o.facts...)
	o.mu.Unlock()
	n.told = len(facts)
	for _, f := range tx.told {
		facts = append(facts, store.Fact{Directory: f.dir, Event: f.Event})
	}
	to, ok := tx.Tx.(store.Noter)
	if !ok || len(facts) == 0 {
		return n, nil
	}
	n.before, err = to.Note(facts)
	return n, err
}

// sent forgets what was noted and committed.
func (o *outbox) sent(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.facts = append(o.facts[:0:0], o.facts[n:]...)
}

// Flush tells other servers what was told here and is not stored. Call it when
// nothing is told any more. It does nothing in a store of one machine.
func (w *Writer) Flush(ctx context.Context) error {
	if w.out == nil {
		return nil
	}
	w.out.mu.Lock()
	n := len(w.out.facts)
	w.out.due = false
	w.out.mu.Unlock()
	if n == 0 {
		return nil
	}
	return w.Commit(ctx, func(*Tx) error { return nil })
}

// Relay publishes what other servers that share the store do, in the order of the
// journal, until ctx ends. It returns at once in a store of one machine.
func (w *Writer) Relay(ctx context.Context) {
	if w.out == nil {
		return
	}
	w.out.journal.Follow(ctx, func(read func(context.Context) ([]store.Fact, error)) error {
		select {
		case w.turn <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { <-w.turn }()
		facts, err := read(ctx)
		w.publish(facts)
		return err
	})
}

func (w *Writer) publish(facts []store.Fact) {
	for _, f := range facts {
		w.bus.Publish(f.Directory, f.Event)
	}
}
