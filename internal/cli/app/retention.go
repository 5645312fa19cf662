package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lathe/internal/filelock"
	"lathe/internal/retention"
	"lathe/internal/session"
	"lathe/internal/store"
)

// retainedAtOnce is how many sessions the upkeep removes at most; the next one goes on.
const retainedAtOnce = 100

// retain removes what is older than the person's own configuration says, which says nothing
// unless the person wrote it.
func (a *App) retain(ctx context.Context) {
	if a.Store.ReadOnly() || ctx.Err() != nil {
		return
	}
	p, err := a.Policy(ctx)
	if err != nil {
		a.Log.Warn("nothing is removed by age, since the configuration cannot be read", "err", err)
		return
	}
	if p == (retention.Policy{}) {
		return
	}
	r := a.Retention(p)
	r.Most = retainedAtOnce
	due, err := a.Retain(ctx, r, upkeepEvery-time.Minute, func(session.Expired) {})
	switch {
	case err != nil && ctx.Err() == nil:
		a.Log.Warn("what is too old could not all be removed", "err", err)
	case due != retention.Due{}:
		a.Log.Info("removed by age", "sessions", due.Sessions, "audit", due.Audit, "kept", due.Kept, "more", due.More)
	}
}

// Policy is how long the person's own configuration keeps things; its zero value is for good.
func (a *App) Policy(ctx context.Context) (retention.Policy, error) {
	conf, err := OwnConfig(ctx, a.Env)
	if err != nil {
		return retention.Policy{}, err
	}
	return retention.Policy{Sessions: time.Duration(conf.Retention.Sessions), Audit: time.Duration(conf.Retention.Audit)}, nil
}

// Retention holds this app's store to a policy.
func (a *App) Retention(p retention.Policy) *retention.Retention {
	host, _ := os.Hostname()
	return &retention.Retention{Policy: p, Store: a.Store, Expiry: session.NewExpiry(a.Service), Now: a.Env.Now, From: fmt.Sprintf("process %d on %s", os.Getpid(), host)}
}

// Retain runs a retention, unless a server that shares the store did so less than every ago. Of
// the processes on one machine's files one does at a time.
func (a *App) Retain(ctx context.Context, r *retention.Retention, every time.Duration, tell func(session.Expired)) (due retention.Due, err error) {
	var unlock func()
	defer func() {
		if unlock != nil {
			unlock()
		}
	}()
	return r.Run(ctx, func() (bool, error) {
		if a.Store.Audit != nil {
			return a.Store.AuditUpkeep.RecordOnce(ctx, store.Change{From: r.From, What: "retention"}, every)
		}
		var err error
		unlock, err = filelock.Lock(ctx, filepath.Join(a.Paths.Data, "retention.lock"), a.DB.Files.Path())
		return err == nil, err
	}, tell)
}
