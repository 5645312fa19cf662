package app

import (
	"context"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/work"
)

// WorkOptions say what a worker offers.
type WorkOptions struct {
	Directories []string          // absolute, without links
	Remotes     map[string]string // of those that are clones
	Turns       int
	Limits      map[string]int // of turns, by directory
	Ready       func()
}

// Work does what other servers queue for the directories until ctx ends. It returns when
// what it took is done.
func (a *App) Work(ctx context.Context, o WorkOptions) error {
	if a.DB.Shared == nil {
		return lathe.Errorf(lathe.CodeInvalid, "name it with --store or LATHE_STORE, as postgres://user@host/database",
			"a worker needs the database that it shares with the servers")
	}
	opts := a.workOptions()
	opts.Directories, opts.Turns, opts.Limits, opts.Ready = o.Directories, o.Turns, o.Limits, o.Ready
	opts.Remotes = o.Remotes
	return work.Run(ctx, opts)
}

// Adopt goes on with what other servers leave when they stop, in directories that are
// here, until ctx ends. Without others it returns at once.
func (a *App) Adopt(ctx context.Context) {
	if a.DB.Shared != nil && !a.bare && !a.Store.ReadOnly() {
		work.Adopt(ctx, a.workOptions(), a.forwarder.Here)
	}
}

func (a *App) workOptions() work.Options {
	return work.Options{
		Crew: a.Store.Crew, Log: a.Log,
		Do:     a.forwarder.Do,
		Settle: a.Service.Turns.Settle,
		Left:   a.Service.Turns.Left,
		Losses: a.Service.Turns.Losses,
		Refused: func(w store.Work) {
			if a.Service.Status(w.Session) == (lathe.Idle{}) {
				a.writer.Tell(w.Directory, lathe.SessionStatus{SessionID: w.Session, Status: lathe.Idle{}})
			}
		},
	}
}

// HandOver has the turns that run here end when their step is over, each to go on at another
// server. It reports whether there may be others, which is where they share a database.
func (a *App) HandOver(again bool) bool {
	if a.DB.Shared == nil {
		return false
	}
	a.Service.Turns.HandOver(session.HandOver{Pass: a.forwarder.Continue, Again: again})
	return true
}
