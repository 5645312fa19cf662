package store

import (
	"context"

	"lathe"
)

// Fact is an event of a directory, as servers that share a store tell each other.
type Fact struct {
	Directory string
	Event     lathe.Event
	Number    int64 // in the journal; 0 for what has no place of its own in it, such as streamed text
}

// Journal carries events between the servers that share a store. A store of one
// machine has none.
//
// All servers read the facts in one order, which is that of the transactions that
// noted them, which is that of their numbers. Text that streams is not noted: Follow
// reads it from where [Streams] keeps it. Facts are forgotten after some minutes. A server
// that was away for longer is told [lathe.EventsMissed] in their place.
type Journal interface {
	// Follow calls take whenever something may have happened elsewhere, until ctx ends.
	// take calls read, which returns what other servers noted since the last time, oldest
	// first. No transaction that notes something may run between read and the publishing
	// of what it returned.
	Follow(ctx context.Context, take func(read func(context.Context) ([]Fact, error)) error)
	// Name tells this journal from others: numbers of one mean nothing in another. It is
	// "" as long as nothing was read.
	Name() string
	// At returns the number up to which this server has read; ok is false before it began.
	At() (number int64, ok bool)
	// Between returns the facts whose numbers are above after and at most upTo, with those
	// that this server noted itself. The error is [ErrNotFound] if some are forgotten, or
	// if there are very many.
	Between(ctx context.Context, after, upTo int64) ([]Fact, error)
	// Abandoned returns the sessions whose owner is gone without having given back its
	// lease.
	Abandoned(ctx context.Context) ([]lathe.SessionID, error)
}

// Noter is what the [Tx] of a store with a [Journal] can do, too.
type Noter interface {
	// Note has the facts of n added to the journal when the transaction is committed, and the
	// rest of n set then. Events that concern one machine alone, and streamed text, are
	// left out. It is the last call in a transaction; only one transaction of a server may
	// note something at a time.
	Note(n *Noted) error
}

// Noted is what a transaction tells, and what the journal said to it when it was committed.
type Noted struct {
	Facts []Fact // with their numbers, once they are committed
	// Again is how many of the Facts, from the first on, were told before and could not be noted
	// then. What they say a session is doing is left out, and has no number, if another server
	// has its lease by now.
	Again  int
	Before []Fact // what others noted before and this server had not read yet: it has to be published first
}
