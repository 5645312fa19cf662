package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/snapshot"
	"lathe/internal/store"
)

// Input says up to where a session is reverted.
type Input struct {
	MessageID lathe.MessageID
	PartID    lathe.PartID // empty: the whole message
	// Force also undoes changes to files that somebody else has changed since.
	Force bool
}

// Result is a session after a revert or unrevert, and what became of the files.
// Conflicts were left as they are.
type Result struct {
	Session   lathe.Session
	Files     []string // absolute paths of the changed files
	Deleted   []string // those of Files that are gone; told by [Changes.TakeBack]
	Created   []string // those of Files that were gone before; told by [Changes.TakeBack]
	Emptied   []string // those of Files of which an empty file stays; told by [Changes.TakeBack]
	Conflicts []snapshot.Conflict
	// Unrecorded says why changes made by the messages could not be undone:
	// nothing was recorded for them. Empty if there are none.
	Unrecorded string
}

const reverted store.Document[revertDoc] = "revert"

// revertDoc is what lathe stores about a revert in addition to what the session shows.
type revertDoc struct {
	Files []string `json:"files"`           // changed by the revert
	After string   `json:"after,omitempty"` // the tree it left; empty while it is in progress

	// While it is in progress, or if it was interrupted: the tree from which
	// each file is taken, and what an earlier revert had left.
	Toward []string `json:"toward,omitempty"`
	Prior  string   `json:"prior,omitempty"`
}

// states returns the trees that may hold a file as the revert left it.
func (d revertDoc) states(i int) (trees []string) {
	if d.After != "" {
		return []string{d.After}
	}
	if i < len(d.Toward) && d.Toward[i] != "" {
		trees = []string{d.Toward[i]}
		if d.Prior != "" {
			trees = append(trees, d.Prior)
		}
	}
	return trees
}

// revertPoint finds where a revert begins: the index of the message, and of the
// part if only part of the message goes.
func revertPoint(messages []lathe.Message, in Input) (message, part int, err error) {
	message = slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == in.MessageID })
	if message < 0 {
		return 0, 0, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe session show", "the session has no message %q", in.MessageID)
	}
	if in.PartID != "" {
		parts := messages[message].Parts
		part = slices.IndexFunc(parts, func(p lathe.Part) bool { return p.ID == in.PartID })
		if part < 0 {
			return 0, 0, lathe.Errorf(lathe.CodeNotFound, "", "message %s has no part %q", in.MessageID, in.PartID)
		}
		if slices.ContainsFunc(parts[:part], hasContent) {
			return message, part, nil
		}
	}
	for i := message; i >= 0; i-- {
		if _, ok := messages[i].Info.(*lathe.User); ok {
			return i, 0, nil
		}
	}
	return message, 0, nil
}

func hasContent(p lathe.Part) bool {
	switch p.Body.(type) {
	case *lathe.Text, *lathe.ToolCall:
		return true
	}
	return false
}

// changesFrom returns what was changed from a point on.
func changesFrom(messages []lathe.Message, message, part int) []stepChange {
	var out []stepChange
	for i, m := range messages[message:] {
		all := changesOf(m.Parts)
		if i == 0 && part > 0 {
			all = all[len(changesOf(m.Parts[:part])):]
		}
		out = append(out, all...)
	}
	return out
}

// Revert undoes what the session's steps did to files from a message or part on, and
// hides the messages. They stay until the next prompt, and [Changes.Unrevert] brings
// all of it back. A whole turn is undone at a time, unless the named part is
// preceded by text or tool calls in its message. No turn of the session may run in
// the meantime.
func (u *Changes) Revert(ctx context.Context, sess lathe.Session, in Input) (out Result, err error) {
	aim, err := u.aim(ctx, sess, in)
	if err != nil {
		return out, err
	}
	messages, message, mark, targets, old := aim.messages, aim.message, aim.mark, aim.targets, aim.old
	out.Unrecorded = u.unrecorded(messages[message:], aim.part)
	kept := u.jobsKept(ctx, messages[message].Created, targets) // before the files change
	if len(targets) > 0 {
		if mark.Diff, err = u.takeBack(ctx, sess, mark, targets, old, in.Force, &out); err != nil {
			return out, err
		}
	}
	out.Conflicts = append(out.Conflicts, kept...)
	u.forgetTree()
	undone, err := u.diff(ctx, gather(messages[message:]))
	if err != nil {
		return out, err
	}
	out.Session, err = u.storeRevert(ctx, sess.ID, mark, undone)
	return out, err
}

// aim is what a revert is about to do.
type aim struct {
	messages      []lathe.Message
	message, part int // where it begins
	mark          *lathe.Revert
	targets       []snapshot.Target
	old           revertDoc // the revert that it replaces
}

func (u *Changes) aim(ctx context.Context, sess lathe.Session, in Input) (a aim, err error) {
	if a.messages, err = u.sessions.Messages(ctx, sess.ID, 0); err != nil {
		return a, err
	}
	if a.message, a.part, err = revertPoint(a.messages, in); err != nil {
		return a, err
	}
	u.RecoverPatch(ctx, a.messages)
	a.mark = &lathe.Revert{MessageID: a.messages[a.message].ID}
	if a.part > 0 {
		a.mark.PartID = a.messages[a.message].Parts[a.part].ID
	}
	a.targets = targetsOf(changesFrom(a.messages, a.message, a.part))
	if a.old, err = u.reverted(ctx, sess); err != nil {
		return a, err
	}
	if sess.Revert != nil {
		a.mark.Snapshot = sess.Revert.Snapshot
		a.targets = retarget(a.targets, a.old, a.mark.Snapshot)
	}
	return a, nil
}

// Preview says which files [Changes.Revert] would change, and which it would keep because
// somebody else changed them. It changes no file and hides no message.
func (u *Changes) Preview(ctx context.Context, sess lathe.Session, in Input) (out Result, err error) {
	a, err := u.aim(ctx, sess, in)
	if err != nil {
		return out, err
	}
	out.Session, out.Unrecorded = sess, u.unrecorded(a.messages[a.message:], a.part)
	if len(a.targets) > 0 {
		store, err := u.inst.Snapshots()
		if err != nil {
			return out, fmt.Errorf("revert: %w", err)
		}
		applied, err := store.Preview(ctx, a.targets, in.Force)
		if err != nil {
			return out, fmt.Errorf("revert: %w", err)
		}
		out.Files, out.Conflicts = applied.Changed, applied.Conflicts
	}
	out.Conflicts = append(out.Conflicts, u.jobsKept(ctx, a.messages[a.message].Created, a.targets)...)
	return out, nil
}

// retarget adapts targets to files that an earlier revert changed. Those are as
// it left them, or as before it if an unrevert was interrupted, and return to the
// start if the new revert leaves them alone.
func retarget(targets []snapshot.Target, old revertDoc, start string) []snapshot.Target {
	done := map[string]bool{}
	for i, t := range targets {
		done[t.Path] = true
		if n := slices.Index(old.Files, t.Path); n >= 0 {
			if targets[i].Expect = old.states(n); targets[i].Expect != nil {
				targets[i].Expect = append(targets[i].Expect, start)
			}
		}
	}
	for n, f := range old.Files {
		if !done[f] {
			targets = append(targets, snapshot.Target{Path: f, To: start, Expect: old.states(n)})
		}
	}
	return targets
}

// takeBack changes the files. What it is about to do is stored first, so that it
// can be undone after a crash.
func (u *Changes) takeBack(ctx context.Context, sess lathe.Session, mark *lathe.Revert, targets []snapshot.Target, old revertDoc, force bool, out *Result) (patch string, err error) {
	store, err := u.inst.Snapshots()
	if err != nil {
		return "", fmt.Errorf("revert: %w", err)
	}
	if mark.Snapshot == "" {
		if mark.Snapshot, err = store.Track(ctx); err != nil {
			return "", fmt.Errorf("revert: %w", err)
		}
	}
	plan := revertDoc{Prior: old.After} // the targets include what an earlier one changed
	for _, t := range targets {
		plan.Files, plan.Toward = append(plan.Files, t.Path), append(plan.Toward, t.To)
	}
	if err := u.saveRevert(ctx, sess.ID, mark, plan); err != nil {
		return "", err
	}
	applied, err := store.Apply(ctx, targets, force)
	out.Files, out.Conflicts = applied.Changed, applied.Conflicts
	if err != nil {
		return "", fmt.Errorf("revert: %w", err)
	}
	return u.settleRevert(ctx, sess.ID, mark, plan, applied, store)
}

// settleRevert records which files really differ from before the revert, and
// returns the difference as a patch.
func (u *Changes) settleRevert(ctx context.Context, id lathe.SessionID, mark *lathe.Revert, plan revertDoc, applied snapshot.Applied, store *snapshot.Store) (string, error) {
	changed, err := store.Changed(ctx, mark.Snapshot, applied.After)
	if err != nil {
		return "", err
	}
	differs := map[string]bool{}
	for _, f := range changed {
		differs[f] = true
	}
	kept := map[string]bool{}
	for _, c := range applied.Conflicts {
		kept[c.Path] = true
	}
	plan.Files = slices.DeleteFunc(plan.Files, func(f string) bool { return !differs[f] || kept[f] })
	plan.After, plan.Toward, plan.Prior = applied.After, nil, ""
	patch, err := store.GitPatch(ctx, mark.Snapshot, applied.After, plan.Files)
	return patch, errors.Join(err, u.saveRevert(ctx, id, mark, plan))
}

func (u *Changes) saveRevert(ctx context.Context, id lathe.SessionID, mark *lathe.Revert, doc revertDoc) error {
	err := u.writer.Commit(ctx, func(tx *commit.Tx) error {
		_, err := tx.UpdateSession(id, func(s *lathe.Session) error {
			copied := *mark
			s.Revert = &copied
			return nil
		})
		return errors.Join(err, reverted.Set(tx, id, doc))
	})
	if err != nil {
		return fmt.Errorf("store the revert: %w", err)
	}
	return nil
}

// reverted returns what is stored about the session's current revert.
func (u *Changes) reverted(ctx context.Context, sess lathe.Session) (doc revertDoc, err error) {
	if sess.Revert == nil {
		return doc, nil
	}
	doc, _, err = reverted.Get(ctx, u.store, sess.ID)
	return doc, err
}

// storeRevert shows the session as reverted, with the diff of what was undone.
func (u *Changes) storeRevert(ctx context.Context, id lathe.SessionID, mark *lathe.Revert, undone []lathe.FileDiff) (lathe.Session, error) {
	var sess lathe.Session
	err := u.writer.Commit(ctx, func(tx *commit.Tx) (err error) {
		if err := tx.SetDiffs(id, "", undone); err != nil {
			return err
		}
		sess, err = tx.UpdateSession(id, func(s *lathe.Session) error {
			s.Revert, s.Summary = mark, Summary(undone)
			return nil
		})
		tx.Then(func() { u.stored(&sess) })
		tx.Tell(sess.Directory, lathe.SessionUpdated{Session: sess}, lathe.SessionDiff{SessionID: id, Diff: undone})
		return err
	})
	if err != nil {
		return sess, fmt.Errorf("store the revert: %w", err)
	}
	return sess, nil
}

// Unrevert restores what [Changes.Revert] undid. A session that is not reverted
// stays as it is. No turn of the session may run in the meantime.
func (u *Changes) Unrevert(ctx context.Context, sess lathe.Session, force bool) (out Result, err error) {
	out.Session = sess
	if sess.Revert == nil {
		return out, nil
	}
	doc, err := u.reverted(ctx, sess)
	if err != nil {
		return out, err
	}
	if len(doc.Files) > 0 {
		store, err := u.inst.Snapshots()
		if err != nil {
			return out, fmt.Errorf("unrevert: %w", err)
		}
		var targets []snapshot.Target
		for i, f := range doc.Files {
			targets = append(targets, snapshot.Target{Path: f, To: sess.Revert.Snapshot, Expect: doc.states(i)})
		}
		applied, err := store.Apply(ctx, targets, force)
		out.Files, out.Conflicts = applied.Changed, applied.Conflicts
		if err != nil {
			return out, fmt.Errorf("unrevert: %w", err)
		}
	}
	u.forgetTree()
	all, err := u.changed(ctx)
	if err != nil {
		return out, err
	}
	diffs, err := u.diff(ctx, all)
	if err != nil {
		return out, err
	}
	out.Session, err = u.storeRevert(ctx, sess.ID, nil, diffs)
	return out, err
}

// DropReverted removes the messages that a revert hides. Call it before
// anything that continues from the reverted point: a prompt, a command, a
// compaction. A session that is not reverted is left alone.
func (u *Changes) DropReverted(ctx context.Context) error {
	sess, err := u.sessions.Get(ctx, u.current().ID)
	if err != nil || sess.Revert == nil {
		return err
	}
	messages, err := u.sessions.Messages(ctx, sess.ID, 0)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == sess.Revert.MessageID })
	if i < 0 {
		i = len(messages)
	}
	gone := messages[i:]
	var parts []lathe.Part
	if sess.Revert.PartID != "" && len(gone) > 0 {
		first := gone[0]
		gone = gone[1:]
		if p := slices.IndexFunc(first.Parts, func(p lathe.Part) bool { return p.ID == sess.Revert.PartID }); p >= 0 {
			parts = first.Parts[p:]
		}
	}
	left := gather(messages[:i])
	if len(parts) > 0 {
		kept := messages[i].Parts
		for _, c := range changesOf(kept[:len(kept)-len(parts)]) {
			left.add(c)
		}
	}
	if err := u.noteReplaced(ctx, messages, i); err != nil {
		return err
	}
	return u.remove(ctx, gone, parts, left)
}

// remove removes messages and parts from the session and publishes each removal.
func (u *Changes) remove(ctx context.Context, gone []lathe.Message, parts []lathe.Part, left changedDoc) error {
	id := u.current().ID
	diffs, err := u.diff(ctx, left)
	if err != nil {
		return err
	}
	err = u.writer.Commit(ctx, func(tx *commit.Tx) error {
		for _, p := range parts {
			if err := tx.RemovePart(p.ID); err != nil {
				return err
			}
		}
		for _, m := range slices.Backward(gone) {
			if err := tx.RemoveMessage(id, m.ID); err != nil {
				return err
			}
		}
		if err := errors.Join(tx.SetDiffs(id, "", diffs), saveChanged(tx, id, left)); err != nil {
			return err
		}
		sess, err := tx.UpdateSession(id, func(s *lathe.Session) error {
			s.Revert, s.Summary = nil, Summary(diffs)
			return nil
		})
		tx.Then(func() { u.stored(&sess) })
		for _, p := range parts {
			tx.Tell(sess.Directory, lathe.PartRemoved{SessionID: id, MessageID: p.MessageID, PartID: p.ID})
		}
		for _, m := range gone {
			tx.Tell(sess.Directory, lathe.MessageRemoved{SessionID: id, MessageID: m.ID})
		}
		tx.Tell(sess.Directory, lathe.SessionUpdated{Session: sess})
		return err
	})
	if err != nil {
		return fmt.Errorf("remove what was reverted: %w", err)
	}
	return nil
}
