package session

import (
	"context"
	"errors"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// Expiry removes sessions that were not used for long. What somebody works in, shares or marked
// stays, whatever its age.
type Expiry struct{ s *Service }

// NewExpiry returns the expiry of a service's sessions.
func NewExpiry(s *Service) *Expiry { return &Expiry{s} }

// Expired is an old session with those below it, which go together or not at all.
type Expired struct {
	lathe.Session        // the one at the top
	Below         int    // how many are below it
	Kept          string // why it stays; "": it may go
}

// Why an old session stays.
const (
	KeptUsed       = "used since" // it, or a session below it
	KeptRunning    = "running"
	KeptJob        = "a job runs"
	KeptShared     = "shared"
	KeptBookmarked = "bookmarked"
)

// Look says whether a session, which is at the top, may go with those below it: none was used
// since the time, runs, has a job that runs, is shared or has bookmarks.
func (e *Expiry) Look(ctx context.Context, top lathe.Session, before time.Time) (Expired, error) {
	_, out, err := e.look(ctx, top, before)
	return out, err
}

func (e *Expiry) look(ctx context.Context, top lathe.Session, before time.Time) (all []lathe.Session, out Expired, err error) {
	out = Expired{Session: top, Kept: keptBy(top, before)}
	if out.Kept != "" { // which needs no other look
		return nil, out, nil
	}
	all, err = e.family(ctx, top)
	out.Below = len(all) - 1
	for _, sess := range all {
		if out.Kept == "" && err == nil {
			out.Kept, err = e.kept(ctx, sess, before)
		}
	}
	return all, out, err
}

// keptBy says why a session stays by what is stored of itself.
func keptBy(sess lathe.Session, before time.Time) string {
	switch {
	case !sess.Updated.Before(before):
		return KeptUsed
	case sess.Share != nil:
		return KeptShared
	}
	return ""
}

func (e *Expiry) kept(ctx context.Context, sess lathe.Session, before time.Time) (string, error) {
	if why := keptBy(sess, before); why != "" {
		return why, nil
	}
	if why, err := e.working(ctx, sess.ID); why != "" || err != nil {
		return why, err
	}
	doc, _, err := notes.Get(ctx, e.s.opts.Store, sess.ID)
	if err == nil && len(doc.Bookmarks) > 0 {
		return KeptBookmarked, nil
	}
	return "", err
}

// working says whether something runs in a session, in whatever process, or waits to.
func (e *Expiry) working(ctx context.Context, id lathe.SessionID) (string, error) {
	if e.s.Status(id) != (lathe.Idle{}) || e.s.helpers.runs(id) {
		return KeptRunning, nil
	}
	if e.s.opts.Jobs != nil && e.s.opts.Jobs.RunsAnywhere(id) {
		return KeptJob, nil
	}
	_, held, err := e.s.opts.Store.Holder(ctx, id)
	if queue := e.s.opts.Store.Queue; queue != nil && err == nil && !held {
		held, err = queue.Open(ctx, id)
	}
	if held {
		return KeptRunning, err
	}
	return "", err
}

// family returns a session and all below it.
func (e *Expiry) family(ctx context.Context, top lathe.Session) ([]lathe.Session, error) {
	all, seen := []lathe.Session{top}, map[lathe.SessionID]bool{top.ID: true}
	for i := 0; i < len(all); i++ {
		children, err := e.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: all[i].ID})
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			if !seen[c.ID] {
				seen[c.ID] = true
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// errKept undoes a removal that would take more than was looked at.
var errKept = errors.New("it was used in the meantime")

// Remove removes a session with those below it, as [Service.Delete] does, if it may go. What
// it returns says so. While it does, no turn can begin in them, in whatever process.
func (e *Expiry) Remove(ctx context.Context, top lathe.Session, before time.Time) (Expired, error) {
	e.s.Notes.mu.Lock() // nobody marks it meanwhile
	defer e.s.Notes.mu.Unlock()
	top, err := e.s.opts.Store.Session(ctx, top.ID)
	if err != nil {
		return Expired{Session: top}, err
	}
	all, out, err := e.look(ctx, top, before)
	if err != nil || out.Kept != "" {
		return out, err
	}
	release, err := e.hold(ctx, all)
	defer release()
	if err == nil {
		err = e.remove(ctx, all, before)
	}
	switch {
	case errors.Is(err, store.ErrBusy):
		out.Kept, err = KeptRunning, nil
	case errors.Is(err, errKept):
		out.Kept, err = KeptUsed, nil
	}
	if err != nil || out.Kept != "" {
		return out, err
	}
	for _, sess := range all {
		tree{e.s}.endRemoval(sess.ID, true)
		e.s.endJobs(sess.ID)
	}
	return out, nil
}

// hold takes the leases of sessions. Those that it got are given back by release, also after an
// error.
func (e *Expiry) hold(ctx context.Context, all []lathe.Session) (release func(), err error) {
	var leases []store.Lease
	release = func() {
		for _, l := range leases {
			if err := l.Release(context.WithoutCancel(ctx)); err != nil {
				e.s.opts.Log.Warn("a session that was to be removed stays locked", "err", err)
			}
		}
	}
	for _, sess := range all {
		l, err := e.s.opts.Store.Acquire(ctx, sess.ID, e.s.opts.Owner)
		if err != nil {
			return release, err
		}
		leases = append(leases, l)
	}
	return release, nil
}

func (e *Expiry) remove(ctx context.Context, all []lathe.Session, before time.Time) error {
	looked := map[lathe.SessionID]bool{}
	for _, sess := range all {
		looked[sess.ID] = true
	}
	return e.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		gone, err := tx.DeleteSession(all[0].ID)
		if err != nil {
			return err
		}
		for _, sess := range gone {
			if !looked[sess.ID] || keptBy(sess, before) != "" {
				return errKept
			}
			tx.Tell(sess.Directory, lathe.SessionDeleted{Session: sess})
		}
		return nil
	})
}
