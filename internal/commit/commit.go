// Package commit is the one way to change what is stored of sessions, projects and
// approvals, and to publish the change: store, then publish, in one order for all.
//
// A change is a function that gets a [Tx], which is a transaction of the store that
// also collects events. If the transaction is committed, they are published; if it is
// not, nobody hears of them. One lock is held over both, so the events of two changes
// come in the order in which they were stored, and a subscriber never sees what a
// restart would forget.
//
// Two things are not commits and say so: [Writer.Tell] publishes what is not stored,
// such as that a session is busy, and [store.Streams] keeps the text of open parts,
// whose deltas are published at once.
package commit

import (
	"context"
	"errors"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// Writer changes a store and publishes on a bus. It is safe for concurrent use. A
// store has one writer in a process.
type Writer struct {
	store.Streams
	to   store.Writer
	bus  *bus.Bus
	turn chan struct{} // held over store and publish
	out  *outbox       // what other servers have to be told; nil in a store of one machine
	sick func() error  // why the store cannot be written at the moment
}

// New returns the writer of a store, which publishes on the bus.
func New(st *store.Store, b *bus.Bus) *Writer {
	w := &Writer{Streams: st.Streams, to: st.Writer, bus: b, turn: make(chan struct{}, 1), sick: st.Trouble}
	if st.Journal != nil {
		w.out = newOutbox(st.Journal)
	}
	return w
}

// Tx is a transaction that notes what to do when it is committed. Like a [store.Tx]
// it is valid inside its function only, and must not begin another one.
type Tx struct {
	store.Tx
	then []func()
	told []store.Fact
}

// Tell notes an event of a directory. Events are published in the order in which
// they were noted, after the commit.
func (tx *Tx) Tell(dir string, events ...lathe.Event) {
	for _, ev := range events {
		tx.told = append(tx.told, store.Fact{Directory: dir, Event: ev})
	}
}

// Then notes what has to be done between the commit and its events, such as taking
// over what was stored. It must be quick and must not commit.
func (tx *Tx) Then(do func()) { tx.then = append(tx.then, do) }

// mostRuns is how often a change is made at most that the store undid each time.
const mostRuns = 5

// lookEvery is how often those who wait for another commit look whether it can end at all.
const lookEvery = 100 * time.Millisecond

// await waits until it is the caller's turn. What is not patient does not wait for another that
// waits for the store.
func (w *Writer) await(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	default:
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case w.turn <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-look.C:
		}
		if _, patient := store.Patience(ctx); patient {
			continue
		}
		if err := w.sick(); errors.Is(err, store.ErrAway) {
			return err
		}
	}
}

// Commit runs change in one transaction and, once that is committed, publishes the
// events it collected. The error is that of change or of the store; in that case
// nothing has changed and nothing was published. Cancelling ctx ends the wait for
// other changes, not a change that has begun.
//
// If the store says that nothing of the transaction is stored ([store.ErrUndone]), change
// runs again: what it did outside of the Tx has to be the same each time.
func (w *Writer) Commit(ctx context.Context, change func(*Tx) error) error {
	if err := w.await(ctx); err != nil {
		return err
	}
	defer func() { <-w.turn }()
	var tx *Tx
	var with *noted
	err := store.ErrUndone
	for run := 0; run < mostRuns && errors.Is(err, store.ErrUndone); run++ {
		err = w.to.Batch(ctx, func(in store.Tx) error {
			tx = &Tx{Tx: in}
			err := change(tx)
			if err == nil && w.out != nil {
				with, err = w.out.note(tx)
			}
			return err
		})
		ctx = context.WithoutCancel(ctx) // it has begun
	}
	if err != nil {
		return err
	}
	if w.out != nil {
		tx.told = with.Facts[with.Again:] // with their numbers
		w.out.sent(with.upTo)
		w.publish(with.Before)
		w.publishAgain(with.Facts[:with.Again])
	}
	for _, do := range tx.then {
		do()
	}
	for _, f := range tx.told {
		w.bus.PublishNumbered(f.Directory, f.Event, f.Number)
	}
	return nil
}

// Tell publishes what is not stored: what a session is doing, what a person is
// asked, what a tool did to a file. It has been published when Tell returns. Where servers
// share the store, what concerns them all is noted in their journal first, so that it has
// its place among the rest on each; do not call it from within a commit.
func (w *Writer) Tell(dir string, ev lathe.Event) {
	if w.out != nil && shared(ev) {
		w.tell(store.Fact{Directory: dir, Event: ev})
		return
	}
	w.bus.Publish(dir, ev)
}
