package store

import (
	"context"
	"time"

	"lathe"
)

// Work is a request that only a server with a session's files can do. It waits in a
// [Queue] until a worker takes it.
type Work struct {
	N         int64 // its number in the queue; older work has lower ones
	Session   lathe.SessionID
	Directory string // of the session
	Root      string // the offered directory that it lies in: limits count by it; "" if nobody offers it
	Person    string // who asked; "" where people have no names
	Body      []byte // the request
	// Once means that it must not be done again when its worker is gone: it has no
	// identifier by which what was done already could be told.
	Once  bool
	Added time.Time
	Taken time.Time // zero while it waits
	By    Owner     // the worker that has it
}

// Worker is a server that offers directories.
type Worker struct {
	Owner
	Directories []string // resolved, sorted
	// Remotes are the git remotes of those directories that are clones, without credentials;
	// nil if there are none.
	Remotes map[string]string
	Turns   int // that it runs at once
	Since   time.Time
	Living  bool // it was heard of lately; others are kept for a day
}

// QueueState is what waits and runs, and who there is to do it.
type QueueState struct {
	Workers []Worker // the living first, then by name
	Open    []Work   // not ended, oldest first, without bodies
}

// Queue hands work to the workers that have its directory. A store of one machine has
// none.
type Queue interface {
	// Add stores work. It is durable when Add returns.
	Add(ctx context.Context, w Work) (n int64, err error)
	// Answer waits for what a worker answers to work. The error is [ErrAway] if it was
	// given up, and [ErrNotFound] if it was dropped.
	Answer(ctx context.Context, n int64) ([]byte, error)
	// Drop removes work of a session that nobody has taken yet, and returns how much,
	// and the workers that have the rest.
	Drop(ctx context.Context, session lathe.SessionID) (dropped int, taken []Owner, err error)
	// Open reports whether work of a session waits or is done.
	Open(ctx context.Context, session lathe.SessionID) (bool, error)
	// Pending reports whether work of a session is still to begin: it waits, or nothing was stored
	// of it yet.
	Pending(ctx context.Context, session lathe.SessionID) (bool, error)
	// Offers returns the workers that have a directory, those that are least busy first,
	// and the widest directory of theirs that it lies in; "" if there are none.
	Offers(ctx context.Context, directory string) (root string, workers []Worker, err error)
	// State tells all of it.
	State(ctx context.Context) (QueueState, error)
}

// Crew is a [Queue] as workers see it.
type Crew interface {
	// Offer makes this server known as a worker, which counts as living until Withdraw. Remotes
	// are as in [Worker].
	Offer(ctx context.Context, directories []string, turns int, remotes map[string]string) error
	// Withdraw ends the offer. What was taken stays taken.
	Withdraw(ctx context.Context) error
	// Take takes up to free pieces of work, and besides what steers the sessions that
	// this server works on. Doing is what it has; other work that it is said to have was
	// never given to it. The people and then the directories that have the least running
	// come first, and among those the ones that have waited longest. Limits bound how
	// much of a directory is done at once, by all workers together. An offer that others removed
	// while this server was not heard of is made again.
	Take(ctx context.Context, free int, doing []int64, limits map[string]int) ([]Work, error)
	// Adopt takes what servers left that stop, in directories that no worker offers but that
	// are here. Doing is as for Take.
	Adopt(ctx context.Context, here func(directory string) bool, doing []int64) ([]Work, error)
	// Done stores what the requester is answered, if answer is not nil, and ends the work
	// if it is over. The error is [ErrLost] if another worker has it by now.
	Done(ctx context.Context, n int64, answer []byte, over bool) error
	// Acceptable fails if what a worker took is not to be stored: another worker has it by
	// now, it was dropped, or it was stored before. The error is [ErrLost] then.
	Acceptable(ctx context.Context, t Taking) error
	// GiveBack lets another worker have work that this one has and does not end. It does not
	// count as one that was gone.
	GiveBack(ctx context.Context, n int64) error
	// Wake returns when there may be something to take, or with the end of ctx.
	Wake(ctx context.Context)
}
