package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/store"
)

// maxDiffText bounds the total contents that the diffs of a session carry.
const maxDiffText = 8 << 20

// Summary counts diffs; nil when there are none. A file that only got another name is one file
// and no lines.
func Summary(diffs []lathe.FileDiff) *lathe.SessionSummary {
	if len(diffs) == 0 {
		return nil
	}
	added, removed := lathe.CountLines(diffs)
	return &lathe.SessionSummary{Files: len(diffs) - len(lathe.Renames(diffs))/2, Additions: added, Deletions: removed}
}

const changed store.Document[changedDoc] = "changed"

// changedDoc says which files some steps changed, from one tree to another. The
// one for the whole session is stored with it, so that it need not be gathered
// again.
type changedDoc struct {
	From  string   `json:"from"`
	To    string   `json:"to"`
	Files []string `json:"files"`
}

func (d *changedDoc) add(c stepChange) {
	if d.From == "" {
		d.From = c.from
	}
	if c.to != "" {
		d.To = c.to
	}
	for _, f := range c.files {
		if i, found := slices.BinarySearch(d.Files, f); !found {
			d.Files = slices.Insert(d.Files, i, f)
		}
	}
}

// gather returns what the messages changed together.
func gather(messages []lathe.Message) (d changedDoc) {
	for _, m := range messages {
		for _, c := range changesOf(m.Parts) {
			d.add(c)
		}
	}
	return d
}

// Any reports whether the messages changed any file.
func Any(messages []lathe.Message) bool { return len(gather(messages).Files) > 0 }

// Copy stores, for a session that begins with these messages, what they changed.
func Copy(tx store.Tx, id lathe.SessionID, messages []lathe.Message) error {
	return saveChanged(tx, id, gather(messages))
}

// DiffOf returns what some messages of the session changed.
func (u *Changes) DiffOf(ctx context.Context, messages []lathe.Message) ([]lathe.FileDiff, error) {
	return u.diff(ctx, gather(messages))
}

func saveChanged(tx store.Tx, id lathe.SessionID, d changedDoc) error {
	return changed.Set(tx, id, d)
}

// changed returns what the whole session changed so far.
func (u *Changes) changed(ctx context.Context) (d changedDoc, err error) {
	d, _, err = changed.Get(ctx, u.store, u.current().ID)
	return d, err
}

// diff returns the diffs of the changed files, from the first tree to the last.
func (u *Changes) diff(ctx context.Context, d changedDoc) ([]lathe.FileDiff, error) {
	if d.From == "" || d.To == "" || d.From == d.To {
		return nil, nil
	}
	store, err := u.inst.Snapshots()
	if err != nil {
		return nil, nil // snapshots were switched off since
	}
	all, err := store.Diff(ctx, d.From, d.To)
	if err != nil {
		u.log.Warn("what the session changed cannot be told", "session", u.current().ID, "err", err)
		return nil, nil
	}
	var out []lathe.FileDiff
	size := 0
	for _, f := range all {
		if _, ours := slices.BinarySearch(d.Files, filepath.Join(store.Top(), filepath.FromSlash(f.File))); !ours {
			continue
		}
		if size += len(f.Before) + len(f.After) + len(f.Patch); size > maxDiffText {
			f.Before, f.After, f.Patch = "", "", ""
		}
		out = append(out, f)
	}
	return out, nil
}

// Summarise stores what the newest turn changed with its user message, and what
// the session changed so far. Turns that changed nothing cost nothing.
func (u *Changes) Summarise(ctx context.Context, history []lathe.Message) {
	i := len(history) - 1
	changed := false
	for ; i >= 0; i-- {
		changed = changed || len(changesOf(history[i].Parts)) > 0
		if u, ok := history[i].Info.(*lathe.User); ok && !u.Steers {
			break
		}
	}
	if i < 0 || !changed {
		return
	}
	if err := u.storeSummary(context.WithoutCancel(ctx), history[i], history[i:]); err != nil {
		u.log.Warn("what the turn changed could not be summed up", "session", u.current().ID, "err", err)
	}
}

func (u *Changes) storeSummary(ctx context.Context, user lathe.Message, messages []lathe.Message) error {
	turn := gather(messages)
	own, err := u.diff(ctx, turn)
	if err != nil {
		return err
	}
	doc, err := u.changed(ctx)
	if err != nil {
		return err
	}
	total := own
	if doc.From != "" {
		doc.add(stepChange{from: turn.From, to: turn.To, files: turn.Files})
		if total, err = u.diff(ctx, doc); err != nil {
			return err
		}
	} else {
		doc = turn
	}
	info := *user.Info.(*lathe.User)
	info.Summary = &lathe.UserSummary{Diffs: own}
	if old := user.Info.(*lathe.User).Summary; old != nil {
		info.Summary.Title, info.Summary.Body = old.Title, old.Body
	}
	user.Info, user.Parts = &info, nil
	err = u.writer.Commit(ctx, func(tx *commit.Tx) error {
		if err := tx.UpdateMessage(&user); err != nil {
			return err
		}
		if err := errors.Join(tx.SetDiffs(u.current().ID, "", total), saveChanged(tx, u.current().ID, doc)); err != nil {
			return err
		}
		sess, err := tx.UpdateSession(u.current().ID, func(s *lathe.Session) error {
			s.Summary = Summary(total)
			return nil
		})
		tx.Tell(sess.Directory, lathe.MessageUpdated{Message: user}, lathe.SessionUpdated{Session: sess},
			lathe.SessionDiff{SessionID: sess.ID, Diff: total})
		return err
	})
	if err != nil {
		return fmt.Errorf("store the summary: %w", err)
	}
	return nil
}
