package undo

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/snapshot"
	"lathe/internal/store"
)

const forkFiles store.Document[forkDoc] = "forkfiles"

// forkDoc is what a fork did to files. It is stored with the fork, before any file is changed.
type forkDoc struct {
	revertDoc
	Before string `json:"before"`
}

// Rewind takes files back to where a fork begins: before the messages that it
// leaves out. What it did is stored with the fork, for [Changes.UndoRewind].
func (u *Changes) Rewind(ctx context.Context, fork lathe.SessionID, later []lathe.Message) (applied snapshot.Applied, err error) {
	targets := targetsOf(changesFrom(later, 0, 0))
	if len(targets) == 0 {
		return applied, nil
	}
	store, err := u.inst.Snapshots()
	if err != nil {
		return applied, err
	}
	var doc forkDoc
	if doc.Before, err = store.Track(ctx); err != nil {
		return applied, err
	}
	for _, t := range targets {
		doc.Files, doc.Toward = append(doc.Files, t.Path), append(doc.Toward, t.To)
	}
	if err := u.saveForkFiles(ctx, fork, doc); err != nil {
		return applied, err
	}
	if applied, err = store.Apply(ctx, targets, false); err != nil {
		return applied, err
	}
	return applied, u.saveForkFiles(ctx, fork, forkDoc{revertDoc{Files: applied.Changed, After: applied.After}, doc.Before})
}

func (u *Changes) saveForkFiles(ctx context.Context, fork lathe.SessionID, doc forkDoc) error {
	return u.writer.Commit(ctx, func(tx *commit.Tx) error { return forkFiles.Set(tx, fork, doc) })
}

// UndoRewind restores what a fork with its files changed in the worktree. It
// does nothing for other sessions.
func (u *Changes) UndoRewind(ctx context.Context, sess lathe.Session, force bool) (out Result, err error) {
	out.Session = sess
	doc, _, err := forkFiles.Get(ctx, u.store, sess.ID)
	if err != nil || len(doc.Files) == 0 {
		return out, err
	}
	store, err := u.inst.Snapshots()
	if err != nil {
		return out, err
	}
	var targets []snapshot.Target
	for i, f := range doc.Files {
		targets = append(targets, snapshot.Target{Path: f, To: doc.Before, Expect: doc.states(i)})
	}
	applied, err := store.Apply(ctx, targets, force)
	out.Files, out.Conflicts = applied.Changed, applied.Conflicts
	if err != nil || len(applied.Conflicts) > 0 {
		return out, err
	}
	return out, u.saveForkFiles(ctx, sess.ID, forkDoc{})
}
