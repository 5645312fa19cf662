package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
)

// leases is a [store.Leases].
type leases struct{ *core }

// Self returns this process as an owner.
func Self() store.Owner { return local.Self().Owner() }

// lease is a row that names its owner by process, so that it ends with the process.
type lease struct {
	db      *core
	session lathe.SessionID
	token   string
}

// Acquire takes a lease for an owner that came from [Self] or another
// [local.Process]. An owner on another host counts as living: a person has to
// break its lease.
func (s leases) Acquire(ctx context.Context, session lathe.SessionID, o store.Owner) (store.Lease, error) {
	p, err := local.ProcessOf(o)
	if err != nil {
		return nil, fmt.Errorf("lease session %s: %w", session, err)
	}
	l := &lease{db: s.core, session: session, token: rand.Text()}
	err = s.batch(ctx, func(tx *tx) error {
		held, ok, err := tx.holder(session)
		if err != nil {
			return err
		}
		if ok {
			return &store.BusyError{Session: session, Holder: held}
		}
		if _, err := tx.wholeSession(session); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return tx.change(`INSERT OR REPLACE INTO lease (session, token, pid, start, boot, host, taken)
			SELECT n, ?, ?, ?, ?, ?, ? FROM session WHERE id = ?`,
			l.token, p.PID, p.Start, p.Boot, p.Host, codec.Millis(s.now()), session)
	})
	if err != nil {
		return nil, fmt.Errorf("lease session %s: %w", session, err)
	}
	return l, nil
}

// Release is [store.Lease.Release].
func (l *lease) Release(ctx context.Context) error {
	return l.db.batch(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE token = ?`, l.token)
		if err != nil {
			return fmt.Errorf("release session %s: %w", l.session, err)
		}
		return nil
	})
}

// Valid is [store.Lease.Valid].
func (l *lease) Valid(ctx context.Context) (ok bool, err error) {
	err = l.db.read(ctx, func(v *view) error {
		return v.row(`SELECT count(*) FROM lease WHERE token = ?`, l.token).Scan(&ok)
	})
	if err != nil {
		return false, fmt.Errorf("look at the lease of session %s: %w", l.session, err)
	}
	return ok, nil
}

// Holder is [store.Leases.Holder].
func (s leases) Holder(ctx context.Context, session lathe.SessionID) (h store.Holder, ok bool, err error) {
	err = s.read(ctx, func(v *view) error {
		h, ok, err = v.holder(session)
		return err
	})
	return h, ok, err
}

// BreakLease is [store.Leases.BreakLease].
func (s leases) BreakLease(ctx context.Context, session lathe.SessionID) error {
	return s.batch(ctx, func(tx *tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE session = (SELECT n FROM session WHERE id = ?)`, session)
		if err != nil {
			return fmt.Errorf("break lease of session %s: %w", session, err)
		}
		return nil
	})
}

// holder returns who holds a lease; nobody holds one whose process is gone.
func (v *view) holder(session lathe.SessionID) (h store.Holder, living bool, err error) {
	var p local.Process
	err = v.row(`SELECT l.pid, l.start, l.boot, l.host FROM session s JOIN lease l ON l.session = s.n WHERE s.id = ?`,
		session).Scan(&p.PID, &p.Start, &p.Boot, &p.Host)
	if errors.Is(err, sql.ErrNoRows) {
		return store.Holder{}, false, nil
	}
	if err != nil {
		return store.Holder{}, false, err
	}
	self := v.db.self()
	return store.Holder{Owner: p.Owner(), Unseen: p.Host != self.Host}, p.Living(self), nil
}
