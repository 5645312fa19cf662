package app

import (
	"context"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/work"
)

// WorkOptions say what a worker offers.
type WorkOptions struct {
	Directories []string // absolute, without links
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
	return work.Run(ctx, work.Options{
		Crew: a.Store.Crew, Directories: o.Directories, Turns: o.Turns, Limits: o.Limits, Log: a.Log, Ready: o.Ready,
		Do:     a.forwarder.Do,
		Settle: a.Service.Turns.Settle,
		Refused: func(w store.Work) {
			if a.Service.Status(w.Session) == (lathe.Idle{}) {
				a.writer.Tell(w.Directory, lathe.SessionStatus{SessionID: w.Session, Status: lathe.Idle{}})
			}
		},
	})
}
