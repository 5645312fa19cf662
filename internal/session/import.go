package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/prompt"
	"lathe/internal/store"
)

// Import is a session that comes from elsewhere.
type Import struct {
	Session  lathe.Session
	Project  lathe.Project // zero: not known
	Messages []lathe.Message
	Todos    []lathe.Todo
	Diffs    []lathe.FileDiff
	// Hash identifies the messages, so that a repeated import is recognised.
	Hash string
	// Copied is how many of the first messages are copies of another session's,
	// as in a fork.
	Copied int
}

// Imported says what an import did.
type Imported string

// Outcomes of [Importer.Add].
const (
	ImportAdded   Imported = "added"
	ImportSame    Imported = "same"    // it was imported before
	ImportUpdated Imported = "updated" // the source has changed since it was imported
	ImportKept    Imported = "kept"    // the session went on here and stays as it is
)

const importKey = "import"

// Importer imports sessions from elsewhere.
type Importer struct{ s *Service }

// Add stores a session under its own identifier. Repeating it changes nothing;
// a session that has gone on here since is left alone.
func (i *Importer) Add(ctx context.Context, in Import) (Imported, error) {
	out := ImportAdded
	old, err := i.s.opts.Store.Session(ctx, in.Session.ID)
	switch {
	case err == nil:
		if out, err = i.again(ctx, old, in); err != nil || out != ImportUpdated {
			return out, err
		}
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	in.Session.Share = old.Share // where another program shared it, lathe has no say
	err = i.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error {
		if out == ImportAdded {
			tx.Tell(in.Session.Directory, lathe.SessionCreated{Session: in.Session})
		}
		tx.Tell(in.Session.Directory, lathe.SessionUpdated{Session: in.Session})
		if out == ImportUpdated {
			return storeAgain(tx, in)
		}
		if err := tx.CreateSession(in.Session); err != nil {
			return err
		}
		return storeImport(tx, in)
	})
	if err != nil {
		return "", fmt.Errorf("import session %s: %w", in.Session.ID, err)
	}
	return out, nil
}

// again decides about a session that is already here: it is replaced if the
// import is newer and nothing was added here.
func (i *Importer) again(ctx context.Context, old lathe.Session, in Import) (Imported, error) {
	before, err := i.s.opts.Store.Value(ctx, old.ID, importKey)
	if err != nil {
		return "", err
	}
	if string(before) == in.Hash && in.Hash != "" {
		return ImportSame, nil
	}
	// An imported session that went on here has a later update time than its source.
	if len(before) == 0 || old.Updated.After(in.Session.Updated) {
		return ImportKept, nil
	}
	return ImportUpdated, tree{i.s}.stop(ctx, old.ID)
}

// storeAgain replaces what was stored of a session by what is imported.
func storeAgain(tx store.Tx, in Import) error {
	if _, err := tx.UpdateSession(in.Session.ID, func(s *lathe.Session) error { *s = in.Session; return nil }); err != nil {
		return err
	}
	if err := tx.DropMessages(in.Session.ID); err != nil {
		return err
	}
	return storeImport(tx, in)
}

// storeImport stores what belongs to a session that is stored.
func storeImport(tx store.Tx, in Import) error {
	if in.Project.ID != "" {
		if err := tx.PutProject(in.Project); err != nil {
			return err
		}
	}
	for i := range in.Messages {
		if err := tx.AddMessage(&in.Messages[i]); err != nil {
			return err
		}
	}
	if in.Copied > 0 {
		if err := tx.SetCopied(in.Session.ID, in.Messages[in.Copied-1].Seq); err != nil {
			return err
		}
	}
	if seq := liveTail(in.Messages); seq > 1 {
		if err := tx.SetBoundary(in.Session.ID, seq); err != nil {
			return err
		}
	}
	if len(in.Todos) > 0 {
		if err := tx.SetTodos(in.Session.ID, in.Todos); err != nil {
			return err
		}
	}
	if len(in.Diffs) > 0 {
		if err := tx.SetDiffs(in.Session.ID, "", in.Diffs); err != nil {
			return err
		}
	}
	return tx.SetValue(in.Session.ID, importKey, []byte(in.Hash))
}

// liveTail returns the sequence number from which on a model still sees what
// happened, according to the newest compaction, or 0.
func liveTail(messages []lathe.Message) int64 {
	view := prompt.View(messages)
	if len(view) == 0 || len(view) == len(messages) {
		return 0
	}
	first := view[0].Seq
	for _, m := range view {
		first = min(first, m.Seq)
	}
	return first
}

// NewIDs gives a session and everything in it new identifiers, so that it can be
// stored alongside the one it was copied from.
func (i *Importer) NewIDs(in *Import) {
	ids := make(map[lathe.MessageID]lathe.MessageID, len(in.Messages))
	for _, m := range in.Messages {
		ids[m.ID] = i.s.opts.IDs.Message()
	}
	in.Session.ID, in.Session.ParentID = i.s.opts.IDs.Session(), ""
	revert := in.Session.Revert
	for n, m := range in.Messages {
		c := copyMessage(i.s.opts.IDs, m, in.Session.ID, ids)
		if revert != nil && revert.MessageID == m.ID {
			mark := *revert
			mark.MessageID = c.ID
			if p := slices.IndexFunc(m.Parts, func(p lathe.Part) bool { return p.ID == revert.PartID }); p >= 0 {
				mark.PartID = c.Parts[p].ID
			}
			in.Session.Revert = &mark
		}
		in.Messages[n] = c
	}
}
