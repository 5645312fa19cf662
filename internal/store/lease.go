package store

import (
	"context"
	"fmt"

	"lathe"
)

// Owner is a running lathe that may hold leases. It is opaque: stores compare
// owners with == and know what their own owners mean.
type Owner struct {
	ID   string // what identifies it
	Name string // for people, such as "process 42 on anvil"
}

// Holder says who has the lease of a session.
type Holder struct {
	Owner
	// Unseen means that the store cannot check whether the owner still runs. The
	// lease counts as held until a person breaks it.
	Unseen bool
}

// BusyError says who holds a lease. It is an [ErrBusy].
type BusyError struct {
	Session lathe.SessionID
	Holder  Holder
}

// Error names the holder.
func (e *BusyError) Error() string {
	return fmt.Sprintf("session %s is in use by %s", e.Session, e.Holder.Name)
}

// Is makes the error an ErrBusy.
func (*BusyError) Is(target error) bool { return target == ErrBusy }

// Leases give one owner at a time the right to write to a session.
type Leases interface {
	// Acquire takes the lease of a session for the owner. A lease whose owner is gone
	// is replaced; a living one, even the same owner's, gives a [*BusyError]. The
	// error is [ErrNotFound] if there is no such session.
	Acquire(ctx context.Context, session lathe.SessionID, o Owner) (Lease, error)
	// Holder returns who has the lease of a session; ok is false if nobody does, or
	// if the owner is gone.
	Holder(ctx context.Context, session lathe.SessionID) (h Holder, ok bool, err error)
	// BreakLease takes the lease of a session from whoever holds it. Only a person
	// can know that this is right.
	BreakLease(ctx context.Context, session lathe.SessionID) error
}

// Lease is the right to write to a session. It ends with Release, when somebody
// breaks it, or with its owner.
type Lease interface {
	// Release gives the lease back. It does nothing if another owner has it by now,
	// and may be called again.
	Release(ctx context.Context) error
	// Valid reports whether this lease still holds: it was neither released nor
	// broken.
	Valid(ctx context.Context) (bool, error)
}
