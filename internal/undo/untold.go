package undo

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/commit"
)

// mostUntold bounds how much of what was taken back the model is told by name.
const mostUntold = 50

// untold says what was taken back of files, one line each.
func (t *taking) untold(files []string) (out []string) {
	for _, path := range files {
		name := path
		if rel, err := filepath.Rel(t.trees.Top(), path); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
		if t.hunk > 0 {
			name += " (one of the changes in it)"
		}
		out = append(out, name)
	}
	return out
}

// Untold returns what the model has not been told of what the person took back; empty if there
// is nothing. [Changes.Told] says that it was told.
func (u *Changes) Untold(ctx context.Context) (string, error) {
	if u.current().Summary == nil { // it changed nothing, or all of that is undone
		return "", nil
	}
	doc, _, err := taken.Get(ctx, u.store, u.current().ID)
	if err != nil || len(doc.Untold) == 0 {
		return "", err
	}
	lines := doc.Untold
	if n := len(lines) - mostUntold; n > 0 {
		lines = append(slices.Clone(lines[:mostUntold]), "and more")
	}
	return "The person looked through your changes and took these back:\n- " + strings.Join(lines, "\n- ") +
		"\nThe files are now as the person wants them. Do not make these changes again unless asked to, and read a file before you edit it.", nil
}

// Told notes that the model is told of all that was taken back.
func (u *Changes) Told(ctx context.Context, tx *commit.Tx) error {
	id := u.current().ID
	doc, _, err := taken.Get(ctx, u.store, id)
	if err != nil {
		return err
	}
	doc.Untold = nil
	return taken.Set(tx, id, doc)
}
