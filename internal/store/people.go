package store

import (
	"context"
	"time"

	"lathe"
)

// Person is somebody who may use the servers of a store, or a program that may.
type Person struct {
	Name string
	// Role is "reader", "author" or "owner".
	Role string
	// Projects are the directories that the person may use, with all below them; none: all.
	Projects []string
	Created  time.Time
}

// Token is what a person shows to a server. The store has only its hash.
type Token struct {
	ID      string // names it for people; it is no secret
	Person  string
	Role    string // it gives no more than this; "": all that the person may
	Created time.Time
	Expires time.Time // zero: never
	Used    time.Time // about; zero: never
	Revoked time.Time // zero: it is valid
}

// Grant is what a valid token lets its bearer do.
type Grant struct {
	Person
	Token string // its identifier
}

// People are those who may use the servers of a store. A store of one machine has none.
type People interface {
	// PutPerson adds a person, or changes the role and projects of one.
	PutPerson(ctx context.Context, p Person) error
	// RemovePerson removes a person and revokes all tokens. What belonged to the person
	// belongs to its project from then on. The error is [ErrNotFound] for one that is not there.
	RemovePerson(ctx context.Context, name string) error
	// Person returns one. The error is [ErrNotFound] if there is none of this name.
	Person(ctx context.Context, name string) (Person, error)
	// People returns all of them, by name.
	People(ctx context.Context) ([]Person, error)
	// AddToken stores a token by its hash. The error is [ErrNotFound] if there is no such person.
	AddToken(ctx context.Context, t Token, hash []byte) error
	// Tokens returns the tokens of a person, the newest first; of all if it is "".
	Tokens(ctx context.Context, person string) ([]Token, error)
	// RevokeToken ends a token. The error is [ErrNotFound] for one that is not there.
	RevokeToken(ctx context.Context, id string) error
	// Grant returns what the token with this hash lets its bearer do. The error is
	// [ErrNotFound] if there is none that is valid now.
	Grant(ctx context.Context, hash []byte) (Grant, error)
}

// Belongings say whose sessions are.
type Belongings interface {
	// Claim gives a session to a person; "" gives it to its project.
	Claim(ctx context.Context, session lathe.SessionID, person string) error
	// Claimant returns whom a session, or the one that it works for, belongs to; "": to its
	// project.
	Claimant(ctx context.Context, session lathe.SessionID) (person string, err error)
}

// Change is an entry of the audit: what somebody asked for, recorded before it was done.
type Change struct {
	N       int64
	At      time.Time
	Person  string // "": with the server's own password, or on the command line
	Token   string // identifier of the one that was shown
	From    string // address
	What    string // method and route, or a command
	About   string // path, without the query
	Session lathe.SessionID
	Refused bool // for want of a right
}

// ChangeFilter selects entries of the audit.
type ChangeFilter struct {
	Person  string          // "": everybody
	Session lathe.SessionID // "": all
	Since   time.Time
	Limit   int // 0: a thousand
}

// Audit keeps what people changed.
type Audit interface {
	// Record adds an entry. It is durable when Record returns.
	Record(ctx context.Context, c Change) error
	// Changes returns entries, the newest first.
	Changes(ctx context.Context, f ChangeFilter) ([]Change, error)
}

// AuditUpkeep is an audit as those see it who look after a store.
type AuditUpkeep interface {
	// RecordOnce adds an entry unless there is one of the same person with the same What
	// that is younger than every, and reports whether it did. Of several servers that ask at
	// the same time one is told true.
	RecordOnce(ctx context.Context, c Change, every time.Duration) (bool, error)
	// CountBefore returns how many entries are older than a time.
	CountBefore(ctx context.Context, before time.Time) (int64, error)
	// Forget removes entries that are older than a time, the oldest first and at most so
	// many, and returns how many it removed.
	Forget(ctx context.Context, before time.Time, most int) (int64, error)
}
