package store

import (
	"context"

	"lathe"
)

// Fact is an event of a directory, as servers that share a store tell each other.
type Fact struct {
	Directory string
	Event     lathe.Event
}

// Journal carries events between the servers that share a store. A store of one
// machine has none.
//
// All servers read the facts in one order, which is that of the transactions that
// noted them. Text that streams is not noted: Follow reads it from where
// [Streams] keeps it.
type Journal interface {
	// Follow calls take whenever something may have happened elsewhere, until ctx ends.
	// take calls read, which returns what other servers noted since the last time, oldest
	// first. No transaction that notes something may run between read and the publishing
	// of what it returned.
	Follow(ctx context.Context, take func(read func(context.Context) ([]Fact, error)) error)
	// Abandoned returns the sessions whose owner is gone without having given back its
	// lease.
	Abandoned(ctx context.Context) ([]lathe.SessionID, error)
}

// Noter is what the [Tx] of a store with a [Journal] can do, too.
type Noter interface {
	// Note adds facts to the journal, as the last thing of its transaction. It returns
	// what others noted before and this server has not read yet, which has to be published
	// first. Events that concern one machine alone, and streamed text, are left out.
	Note(facts []Fact) (before []Fact, err error)
}
