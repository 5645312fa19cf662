// Package retention removes what a policy says is too old: sessions that nobody has used for
// long, and entries of the audit. Without a policy nothing is ever removed.
//
// A run is bounded, and may end anywhere: what it removed is removed whole, and the next run
// goes on with what is left.
package retention

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"lathe"
	"lathe/internal/say"
	"lathe/internal/session"
	"lathe/internal/store"
)

// Policy says how long things are kept; 0: for good.
type Policy struct {
	Sessions time.Duration // since the latest prompt
	Audit    time.Duration // since it was recorded
}

// Expiry looks at old sessions, and removes them; a [session.Expiry] does.
type Expiry interface {
	Look(ctx context.Context, top lathe.Session, before time.Time) (session.Expired, error)
	Remove(ctx context.Context, top lathe.Session, before time.Time) (session.Expired, error)
}

// Retention holds a store to a policy.
type Retention struct {
	Policy Policy
	Store  *store.Store
	Expiry Expiry
	Now    func() time.Time
	// From says in the audit who removes things.
	From string
	// Most is how many sessions a run removes, not counting those below them; 0: all.
	Most int
}

// Due is what a run removed, or would remove.
type Due struct {
	Sessions int   // those below others counted
	Audit    int64 // entries
	Kept     int   // old sessions that stay, not counting those below them
	More     bool  // there is more than a run removes
}

const (
	page        = 200
	auditAtOnce = 5000
)

// Plan tells of every old session, without removing anything.
func (r *Retention) Plan(ctx context.Context, tell func(session.Expired)) (due Due, err error) {
	if before, ok := r.before(r.Policy.Sessions); ok {
		for top, err := range r.old(ctx, before) {
			if err != nil {
				return due, err
			}
			one, err := r.Expiry.Look(ctx, top, before)
			if err != nil {
				return due, fmt.Errorf("look at session %s: %w", top.ID, err)
			}
			due.add(one)
			tell(one)
		}
	}
	if before, ok := r.before(r.Policy.Audit); ok && r.Store.Audit != nil {
		due.Audit, err = r.Store.AuditUpkeep.CountBefore(ctx, before)
	}
	return due, err
}

// Run removes what is too old, and tells of each session that it came by. Claim is asked once
// there is something to remove, and before that is done; it may be nil.
func (r *Retention) Run(ctx context.Context, claim func() (bool, error), tell func(session.Expired)) (due Due, err error) {
	c := claimer{ask: claim}
	if err = r.sessions(ctx, &c, &due, tell); err == nil && !c.refused {
		err = r.audit(ctx, &c, &due)
	}
	return due, err
}

// claimer asks once.
type claimer struct {
	ask            func() (bool, error)
	asked, refused bool
}

func (c *claimer) mine() (bool, error) {
	if c.asked || c.ask == nil {
		return !c.refused, nil
	}
	ok, err := c.ask()
	c.asked, c.refused = true, !ok
	return ok, err
}

func (r *Retention) sessions(ctx context.Context, c *claimer, due *Due, tell func(session.Expired)) error {
	before, ok := r.before(r.Policy.Sessions)
	if !ok {
		return nil
	}
	removed := 0
	for top, err := range r.old(ctx, before) {
		if err != nil {
			return err
		}
		if due.More = r.Most > 0 && removed == r.Most; due.More {
			return nil
		}
		one, err := r.Expiry.Look(ctx, top, before)
		if err == nil && one.Kept == "" {
			if mine, err := c.mine(); err != nil || !mine {
				return err
			}
			one, err = r.remove(ctx, one, before)
		}
		if errors.Is(err, store.ErrNotFound) { // somebody else removed it
			continue
		}
		if err != nil {
			return fmt.Errorf("remove session %s: %w", top.ID, err)
		}
		if one.Kept == "" {
			removed++
		}
		due.add(one)
		tell(one)
	}
	return nil
}

func (d *Due) add(one session.Expired) {
	if one.Kept != "" {
		d.Kept++
		return
	}
	d.Sessions += 1 + one.Below
}

// remove records what is removed, then removes it.
func (r *Retention) remove(ctx context.Context, one session.Expired, before time.Time) (session.Expired, error) {
	if r.Store.Audit != nil {
		err := r.Store.Audit.Record(ctx, store.Change{
			From: r.From, What: "retention: session", Session: one.ID,
			About: fmt.Sprintf("%s, last used %s, with %d below it", one.ID, one.Updated.UTC().Format(time.DateOnly), one.Below),
		})
		if err != nil {
			return one, err
		}
	}
	return r.Expiry.Remove(ctx, one.Session, before)
}

func (r *Retention) audit(ctx context.Context, c *claimer, due *Due) error {
	before, ok := r.before(r.Policy.Audit)
	if !ok || r.Store.Audit == nil {
		return nil
	}
	old, err := r.Store.AuditUpkeep.CountBefore(ctx, before)
	if err != nil || old == 0 {
		return err
	}
	if mine, err := c.mine(); err != nil || !mine {
		return err
	}
	err = r.Store.Audit.Record(ctx, store.Change{From: r.From, What: "retention: audit", About: fmt.Sprintf("%s from before %s", say.Plural(old, "entry"), before.UTC().Format(time.DateOnly))})
	for err == nil && due.Audit < old {
		var n int64
		n, err = r.Store.AuditUpkeep.Forget(ctx, before, int(min(auditAtOnce, old-due.Audit)))
		due.Audit += n
		if n == 0 {
			break
		}
	}
	return err
}

// before returns the time before which something is too old.
func (r *Retention) before(age time.Duration) (time.Time, bool) {
	return r.Now().Add(-age), age > 0
}

// old yields the sessions that were not used since a time and that work for no other one, the
// oldest first. A page of them is in memory at a time.
func (r *Retention) old(ctx context.Context, before time.Time) iter.Seq2[lathe.Session, error] {
	return func(yield func(lathe.Session, error) bool) {
		f := store.SessionFilter{Before: before, ByUse: true, Oldest: true, Limit: page}
		seen := map[lathe.SessionID]bool{} // of the time at which the page begins
		for {
			all, err := r.Store.Sessions(ctx, f)
			if err != nil {
				yield(lathe.Session{}, err)
				return
			}
			fresh := false
			for _, sess := range all {
				if seen[sess.ID] {
					continue
				}
				fresh = true
				if !sess.Updated.Equal(f.Since) {
					f.Since = sess.Updated
					clear(seen)
				}
				seen[sess.ID] = true
				top, err := r.isTop(ctx, sess)
				if (err != nil || top) && !yield(sess, err) || err != nil {
					return
				}
			}
			if len(all) < f.Limit {
				return
			}
			if !fresh { // more were used at that moment than fit in a page
				f.Limit *= 2
			}
		}
	}
}

// isTop reports whether a session works for no other one that is there.
func (r *Retention) isTop(ctx context.Context, sess lathe.Session) (bool, error) {
	if sess.ParentID == "" {
		return true, nil
	}
	_, err := r.Store.Session(ctx, sess.ParentID)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return false, err
}
