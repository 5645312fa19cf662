package undo

import (
	"context"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/learn"
	"lathe/internal/printable"
	"lathe/internal/redact"
	"lathe/internal/store"
)

// Replaced are the prompts of a session that were undone before another one was given,
// oldest first, without recognised credentials. The messages themselves are gone.
const Replaced store.Document[[]learn.Replaced] = "replaced"

const (
	maxReplaced     = 16  // kept of a session, the newest
	maxReplacedText = 400 // characters of each
)

// noteReplaced keeps the beginning of the first prompt that is about to be removed.
func (u *Changes) noteReplaced(ctx context.Context, messages []lathe.Message, from int) error {
	if from >= len(messages) {
		return nil
	}
	if _, ok := messages[from].Info.(*lathe.User); !ok {
		return nil
	}
	text := learn.Typed(&messages[from])
	if text == "" {
		return nil
	}
	note := learn.Replaced{Text: printable.Shorten(redact.Text(text), maxReplacedText)}
	if from > 0 {
		note.After = messages[from-1].ID
	}
	id := u.current().ID
	have, _, err := Replaced.Get(ctx, u.store, id)
	if err != nil {
		return err
	}
	have = append(have, note)
	return u.writer.Commit(ctx, func(tx *commit.Tx) error {
		return Replaced.Set(tx, id, have[max(0, len(have)-maxReplaced):])
	})
}
