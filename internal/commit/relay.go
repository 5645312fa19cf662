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

// outbox is what this server published and could not tell the others, because the store
// could not be written. It goes along with the next commit.
type outbox struct {
	journal store.Journal

	mu    sync.Mutex
	facts []store.Fact
	due   bool // somebody sends it
}

// shared reports whether others have to be told an event. Parts are left out: what is told
// of them without a commit is text and progress, which others read from the store.
func shared(ev lathe.Event) bool {
	switch ev.(type) {
	case lathe.PartDelta, lathe.PartUpdated:
		return false
	}
	return lathe.SessionOf(ev) != ""
}

// tell notes a fact in the journal and publishes it. If that is not possible it is published
// here, and the others are told as soon as they can be.
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
	if w.out.add(f) {
		time.AfterFunc(againAfter, func() { _ = w.Flush(context.Background()) }) // what cannot be told now goes with the next commit
	}
}

// add takes a fact that others have to be told, and reports whether nobody was to send it
// yet.
func (o *outbox) add(f store.Fact) (first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.facts) < maxOutbox {
		o.facts = append(o.facts, f)
	}
	first = !o.due
	o.due = true
	return first
}

// noted is what a transaction notes in the journal.
type noted struct {
	waited int // how many are from the outbox
	store.Noted
}

// note has what waits and what a transaction tells added to the journal.
func (o *outbox) note(tx *Tx) (*noted, error) {
	o.mu.Lock()
	n := &noted{waited: len(o.facts), Noted: store.Noted{Facts: slices.Concat(o.facts, tx.told)}}
	o.mu.Unlock()
	to, ok := tx.Tx.(store.Noter)
	if !ok || len(n.Facts) == 0 {
		return n, nil
	}
	return n, to.Note(&n.Noted)
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
