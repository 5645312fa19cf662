package undo

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/job"
	"lathe/internal/snapshot"
	"lathe/internal/store"
)

// Sessions is what undo needs from the sessions of this process.
type Sessions interface {
	Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
	// Messages returns all messages of a session, oldest first; limit 0 is all.
	Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error)
}

// Options say whose changes a [Changes] holds. All fields are required.
type Options struct {
	Sessions Sessions
	Store    *store.Store
	Writer   *commit.Writer
	Log      *slog.Logger
	Instance *instance.Instance
	// Current returns the session as it was last stored; Stored records a newer one.
	Current func() *lathe.Session
	Stored  func(*lathe.Session)
	NewPart func() lathe.PartID
	Jobs    *job.Manager     // may be nil
	Now     func() time.Time // nil: time.Now
}

// Changes are what the steps of one session did to files.
type Changes struct {
	sessions Sessions
	store    *store.Store
	writer   *commit.Writer
	log      *slog.Logger
	inst     *instance.Instance
	current  func() *lathe.Session
	stored   func(*lathe.Session)
	newPart  func() lathe.PartID
	jobs     *job.Manager
	now      func() time.Time
	watching watching

	told atomic.Bool // the person has been told that changes cannot be undone
}

// New returns the changes of a session. It costs nothing until it is used.
func New(o Options) *Changes {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Changes{
		jobs: o.Jobs, now: o.Now,
		sessions: o.Sessions, store: o.Store, writer: o.Writer, log: o.Log, inst: o.Instance,
		current: o.Current, stored: o.Stored, newPart: o.NewPart,
	}
}

// turnSnapshots takes the snapshots for a session's turn: its patches contain only the session's own changes.
type turnSnapshots struct {
	*snapshot.Store
	u *Changes
}

func (t turnSnapshots) Known() (string, bool) {
	tree, ok := t.Store.Known()
	if ok {
		t.u.WatchJobs(t.Store.Top())
	}
	return tree, ok
}

func (t turnSnapshots) Track(ctx context.Context) (string, error) {
	t.u.WatchJobs(t.Store.Top())
	tree, err := t.Store.Track(ctx)
	switch {
	case err == nil:
		t.u.seen(ctx, t.Store, tree, true)
	case ctx.Err() == nil:
		t.u.ReportOff(err)
	}
	return tree, err
}

func (t turnSnapshots) Patch(ctx context.Context, from string) (lathe.Patch, string, error) {
	return t.u.Patch(ctx, t.Store, from)
}

// stepChange is what one step changed.
type stepChange struct {
	from, to string // trees; to is empty when it is not known
	files    []string
	shared   []string // those of the files that others may have changed too
}

// changesOf returns what the parts say was changed, in order.
func changesOf(parts []lathe.Part) (out []stepChange) {
	after := ""
	for _, p := range parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			after = ""
		case *lathe.StepFinish:
			after = b.Snapshot
		case *lathe.Patch:
			out = append(out, stepChange{from: b.Hash, to: after, files: b.Files, shared: b.Shared})
		case *lathe.SnapshotMark:
			if n := len(out); n > 0 && out[n-1].to == "" {
				out[n-1].to = b.Snapshot
			}
		}
	}
	return out
}

// targetsOf says how to get from after the changes to before them: each file as
// it was before its first change, if it is still as the last change left it and
// nobody else changed it in between.
func targetsOf(changes []stepChange) []snapshot.Target {
	var targets []snapshot.Target
	at := map[string]int{}
	left := map[string]string{} // the tree that has each file as the steps so far left it
	for _, c := range changes {
		for _, f := range c.files {
			i, seen := at[f]
			if !seen {
				i = len(targets)
				at[f] = i
				targets = append(targets, snapshot.Target{Path: f, To: c.from})
			}
			if was := left[f]; was != "" && was != c.from {
				targets[i].Same = append(targets[i].Same, [2]string{was, c.from})
			}
			targets[i].Shared = targets[i].Shared || slices.Contains(c.shared, f)
			targets[i].Expect, left[f] = nil, c.to
			if c.to != "" {
				targets[i].Expect = []string{c.to}
			}
		}
	}
	return targets
}

// RecoverPatch records what a step changed if its process died before it could.
// Changes made since then count as the step's, except those of other sessions;
// nobody can tell them apart.
func (u *Changes) RecoverPatch(ctx context.Context, history []lathe.Message) {
	i := len(history) - 1
	for ; i >= 0; i-- {
		if _, ok := history[i].Info.(*lathe.Assistant); ok {
			break
		}
	}
	if i < 0 {
		return
	}
	m := &history[i]
	from := ""
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.StepStart:
			from = b.Snapshot
		case *lathe.StepFinish, *lathe.Patch, *lathe.SnapshotMark:
			return
		}
	}
	if from == "" {
		return
	}
	trees, err := u.inst.Snapshots()
	if err != nil {
		return
	}
	patch, now, err := u.Patch(ctx, trees, from)
	if err != nil {
		u.log.Warn("what an interrupted step changed is not known", "session", u.current().ID, "err", err)
		return
	}
	bodies := []lathe.PartBody{&lathe.SnapshotMark{Snapshot: now}}
	if len(patch.Files) > 0 {
		bodies = []lathe.PartBody{&patch, bodies[0]}
	}
	for _, b := range bodies {
		p := lathe.Part{ID: u.newPart(), MessageID: m.ID, SessionID: m.SessionID, Body: b}
		err := u.writer.Commit(ctx, func(tx *commit.Tx) error {
			if err := tx.PutPart(&p); err != nil {
				return err
			}
			tx.Tell(u.current().Directory, lathe.PartUpdated{Part: p, New: true})
			return nil
		})
		if err != nil {
			u.log.Warn("what an interrupted step changed could not be recorded", "session", u.current().ID, "err", err)
			return
		}
		m.Parts = append(m.Parts, p)
	}
}
