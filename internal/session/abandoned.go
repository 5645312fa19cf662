package session

import (
	"context"
	"errors"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// watchEvery is how often servers that share a store look after each other.
const watchEvery = 3 * time.Second

// Watch looks after servers that share a store: it closes what those that are gone left
// open, and tells everybody that nothing runs there any more. Make it with [NewWatch].
type Watch struct {
	*Service
	free map[lathe.SessionID]bool // were busy, as was told, and held by nobody
}

// NewWatch returns a watch over the other servers of a service's store.
func NewWatch(s *Service) *Watch { return &Watch{Service: s} }

// Run looks every few seconds until ctx ends. It returns at once for a store of one machine.
func (w *Watch) Run(ctx context.Context) {
	if w.opts.Store.Journal == nil {
		return
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := w.Look(ctx); err != nil && ctx.Err() == nil {
			w.opts.Log.Warn("what servers that are gone left open could not be closed; it is tried again", "err", err)
		}
	}
}

// Look does it once.
func (w *Watch) Look(ctx context.Context) error {
	w.endLost(ctx)
	ids, err := w.opts.Store.Journal.Abandoned(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if w.Turns.here(id) { // the database was away for longer than this server's own lease, which the next beat renews
			continue
		}
		if err := w.close(ctx, id); err != nil && !errors.Is(err, store.ErrBusy) && !errors.Is(err, store.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, w.settle(ctx))...)
}

// endLost ends turns whose session another server took over while this one was paused or cut
// off. One that stores something learns of it by itself; one that waits, for a person for
// instance, would do so for ever.
func (w *Watch) endLost(ctx context.Context) {
	for _, j := range w.Turns.running() {
		if ok, err := j.lease.Valid(ctx); err == nil && !ok {
			j.cancel(store.ErrLost)
		}
	}
}

// close closes what was left open in a session.
func (w *Watch) close(ctx context.Context, id lathe.SessionID) error {
	sess, err := w.opts.Store.Session(ctx, id)
	if err != nil {
		return err
	}
	parts, err := w.recover(ctx, id, sess.Directory)
	if err != nil {
		return err
	}
	w.opts.Log.Info("closed what a server that is gone had left open", "session", id, "parts", len(parts))
	sweepAfter(ctx, w.opts.Store, id, parts)
	var told []lathe.Event
	newest, err := w.opts.Store.NewestMessage(ctx, id)
	if err == nil && newest != "" {
		var m lathe.Message
		if m, err = w.opts.Store.Message(ctx, id, newest); err == nil {
			told = append(told, bare(&m))
		}
	}
	return errors.Join(err, w.tellIdle(ctx, id, sess.Directory, told...))
}

// tellIdle tells that a session is idle, unless somebody has begun with it meanwhile: another
// server may have closed it as well, and then nobody may hear of that after a new turn. Told comes
// first. The error is [store.ErrBusy] if somebody has.
func (w *Watch) tellIdle(ctx context.Context, id lathe.SessionID, dir string, told ...lathe.Event) error {
	return w.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if _, err := tx.Recover(id, store.Owner{}); err != nil { // it finds nothing, and keeps others from beginning
			return err
		}
		tx.Tell(dir, append(told, lathe.SessionStatus{SessionID: id, Status: lathe.Idle{}})...)
		return nil
	})
}

// settle tells that sessions are idle which nobody holds, now and the last time:
// a server may have ended between its last write and its last word.
func (w *Watch) settle(ctx context.Context) error {
	free := map[lathe.SessionID]bool{}
	for id, d := range w.statuses.all() {
		_, held, err := w.opts.Store.Holder(ctx, id)
		if err != nil {
			return err
		}
		held = held || w.Turns.here(id)
		if !held && w.opts.Store.Queue != nil { // it may wait for a worker
			held, err = w.opts.Store.Queue.Open(ctx, id)
		}
		if err != nil {
			return err
		}
		if held {
			continue
		}
		free[id] = true
		if w.free[id] {
			err = w.tellIdle(ctx, id, d.dir)
			if errors.Is(err, store.ErrNotFound) { // it was deleted
				w.opts.Writer.Tell(d.dir, lathe.SessionStatus{SessionID: id, Status: lathe.Idle{}})
			} else if err != nil && !errors.Is(err, store.ErrBusy) {
				return err
			}
		}
	}
	w.free = free
	return nil
}
