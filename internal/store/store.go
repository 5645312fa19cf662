// Package store is the contract of what keeps sessions: their messages, parts,
// todo lists and diffs, and the related projects, approvals and leases. It says
// what the engine may rely on, whichever database is underneath; package sqlite
// implements it for one machine, and storetest holds what every store has to pass.
//
// A store is a [Store]: a handful of small parts, each an interface that says who
// uses it. Reading ([SessionReader], [MessageReader], [ProjectReader]) sees one
// consistent state for each call. Writing goes through [Writer.Batch], whose
// function gets a [Tx]; what it did is durable when Batch returns nil and has not
// happened otherwise. Text that streams in is the exception: [Streams] appends to
// an open part without a transaction, and every read lays it over the row.
// [Leases] decide which running lathe may write to a session.
//
// Order is by sequence numbers that the store gives out, never by identifiers or
// clocks. Times are kept to the millisecond. Text that is not UTF-8 comes back
// with replacement characters, and numbers in metadata as float64.
//
// Nothing here names a file, a process or a machine: several hosts may share one
// store.
package store

import "context"

// Store is an open store. Its parts may be used concurrently, by several
// processes too. Whoever opened it closes it.
type Store struct {
	SessionReader
	MessageReader
	ProjectReader
	Writer
	Streams
	Leases
	Health
	Searcher
	Stats
	Upkeep
	// Journal tells servers of each other's changes; nil in a store of one machine.
	Journal Journal
	// Mail lets servers ask each other to do something; nil in a store of one machine.
	Mail Mail
	// Queue and Crew hand work to the servers that have the files for it; nil in a store
	// of one machine.
	Queue Queue
	Crew  Crew
	// People may use the servers, Belongings says whose the sessions are, and Audit what
	// people changed; nil in a store of one machine.
	People     People
	Belongings Belongings
	Audit      Audit
	// AuditUpkeep is there where Audit is.
	AuditUpkeep AuditUpkeep
	// Keys are what people have for providers; nil in a store of one machine.
	Keys ProviderKeys
	// Allowances are what people allowed from then on; nil in a store of one machine, which
	// has [ProjectReader.Approvals] and the memory of its process.
	Allowances Allowances
	// Logins are those of web pages; nil in a store of one machine.
	Logins Logins
}

// Writer changes what is stored.
type Writer interface {
	// Batch runs fn in one transaction, which is committed if fn returns nil and
	// undone otherwise. fn must use only the Tx and not keep it; another Batch would
	// wait for this one to end. It may run twice, if what it was told turned out to be out of date;
	// only the second run counts then. Once fn has begun, cancelling ctx changes nothing.
	// The error is [ErrFull] or [ErrReadOnly] if the store cannot be written,
	// [ErrUndone] if the connection was lost on the way, or whatever fn returned.
	Batch(ctx context.Context, fn func(Tx) error) error
}

// Health says whether a store can be written.
type Health interface {
	// ReadOnly reports whether the store was opened read-only because it cannot be
	// written. Every write then fails and says so.
	ReadOnly() bool
	// Trouble returns why nothing can be stored at the moment, an [ErrFull] or an
	// [ErrReadOnly], and nil again after the next write that succeeds.
	Trouble() error
	// Probe tries to write something that changes nothing.
	Probe(ctx context.Context) error
}

// Upkeep removes what no longer serves anything.
type Upkeep interface {
	// Sweep removes bodies and streamed texts that nothing refers to. Crashes and
	// removed parts leave them behind; they are harmless but take space.
	Sweep(ctx context.Context) (Swept, error)
}

// Swept counts what [Upkeep.Sweep] removed.
type Swept struct {
	Files int
	Bytes int64
}
