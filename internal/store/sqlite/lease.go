package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"lathe"
)

// Owner identifies a process beyond the reuse of its number.
type Owner struct {
	PID   int
	Start string // when it started, in the system's own terms; empty if unknown
	Boot  string // which boot of the machine; empty if unknown
	Host  string
}

// BusyError says who holds a lease. It is an [ErrBusy].
type BusyError struct {
	Session lathe.SessionID
	Owner   Owner
}

// Error names the process.
func (e *BusyError) Error() string {
	return fmt.Sprintf("session %s is in use by process %d on %s", e.Session, e.Owner.PID, e.Owner.Host)
}

// Is makes the error an ErrBusy.
func (*BusyError) Is(target error) bool { return target == ErrBusy }

// Lease is the right to write to a session. It ends with Release or with the
// process.
type Lease struct {
	store   *Store
	session lathe.SessionID
	token   string
}

// Acquire takes the lease of a session for the owner, usually [Self]. A lease
// whose owner is gone is replaced; a living one, this process included, is a
// [*BusyError]. An owner on another host cannot be looked at and counts as
// living: see [Store.BreakLease].
func (s *Store) Acquire(ctx context.Context, session lathe.SessionID, o Owner) (*Lease, error) {
	l := &Lease{store: s, session: session, token: rand.Text()}
	err := s.Batch(ctx, func(tx *Tx) error {
		held, ok, err := tx.owner(session)
		if err != nil {
			return err
		}
		if ok && held.living(o) {
			return &BusyError{Session: session, Owner: held}
		}
		if _, err := tx.wholeSession(session); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		return tx.change(`INSERT OR REPLACE INTO lease (session, token, pid, start, boot, host, taken)
			SELECT n, ?, ?, ?, ?, ?, ? FROM session WHERE id = ?`,
			l.token, o.PID, o.Start, o.Boot, o.Host, ms(s.now()), session)
	})
	if err != nil {
		return nil, fmt.Errorf("lease session %s: %w", session, err)
	}
	return l, nil
}

// Release gives the lease back. It does nothing if another owner has it by now.
func (l *Lease) Release(ctx context.Context) error {
	return l.store.Batch(ctx, func(tx *Tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE token = ?`, l.token)
		if err != nil {
			return fmt.Errorf("release session %s: %w", l.session, err)
		}
		return nil
	})
}

// Valid reports whether the lease is still this one's: it was not released, and
// nobody broke it.
func (l *Lease) Valid(ctx context.Context) (ok bool, err error) {
	err = l.store.read(ctx, func(v *view) error {
		return v.row(`SELECT count(*) FROM lease WHERE token = ?`, l.token).Scan(&ok)
	})
	if err != nil {
		return false, fmt.Errorf("look at the lease of session %s: %w", l.session, err)
	}
	return ok, nil
}

// Holder returns who holds the lease of a session, and whether that process lives.
func (s *Store) Holder(ctx context.Context, session lathe.SessionID) (o Owner, ok bool, err error) {
	err = s.read(ctx, func(v *view) error {
		o, ok, err = v.owner(session)
		return err
	})
	return o, ok && o.living(Self()), err
}

// BreakLease takes the lease of a session from whoever holds it. Only a person
// can know that this is right.
func (s *Store) BreakLease(ctx context.Context, session lathe.SessionID) error {
	return s.Batch(ctx, func(tx *Tx) error {
		_, err := tx.exec(`DELETE FROM lease WHERE session = (SELECT n FROM session WHERE id = ?)`, session)
		if err != nil {
			return fmt.Errorf("break lease of session %s: %w", session, err)
		}
		return nil
	})
}

func (v *view) owner(session lathe.SessionID) (o Owner, ok bool, err error) {
	err = v.row(`SELECT l.pid, l.start, l.boot, l.host FROM session s JOIN lease l ON l.session = s.n WHERE s.id = ?`,
		session).Scan(&o.PID, &o.Start, &o.Boot, &o.Host)
	if errors.Is(err, sql.ErrNoRows) {
		return Owner{}, false, nil
	}
	return o, err == nil, err
}

// living reports whether the owner may still run, as seen from self.
func (o Owner) living(self Owner) bool {
	if o.Host != self.Host {
		return true
	}
	if o.Boot != "" && self.Boot != "" && o.Boot != self.Boot {
		return false
	}
	if !processLives(o.PID) {
		return false
	}
	now := processStart(o.PID)
	return o.Start == "" || now == "" || o.Start == now
}
