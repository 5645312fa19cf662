package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/commit"
	"lathe/internal/order"
	"lathe/internal/printable"
	"lathe/internal/store"
)

// Notes keeps what a person noted about sessions: bookmarks, and changes that were looked at.
type Notes struct {
	s  *Service
	mu sync.Mutex // one change at a time
}

// notesDoc is what is stored of them.
type notesDoc struct {
	Bookmarks []api.Bookmark `json:"bookmarks,omitempty"`
	Looked    []string       `json:"looked,omitempty"`
}

const notes store.Document[notesDoc] = "notes"

// Bounds of the notes of one session; the oldest go first.
const (
	maxBookmarks    = 500
	maxLooked       = 5000
	maxBookmarkText = 200 // characters
	maxLookedName   = 4096
	// undoLooks is how many of the newest messages are looked at for changes that cannot be undone.
	undoLooks = 50
)

// Of returns the notes of a session.
func (n *Notes) Of(ctx context.Context, id lathe.SessionID) (api.Notes, error) {
	doc, _, err := notes.Get(ctx, n.s.opts.Store, id)
	if err != nil {
		return api.Notes{}, err
	}
	out := doc.shown()
	r, err := n.s.runner(ctx, id)
	if err != nil {
		return out, err
	}
	recent, err := n.s.Messages(ctx, id, undoLooks)
	if err == nil {
		out.UndoOff = r.changes.OffSince(recent)
	}
	return out, err
}

// Change changes the notes of a session, and returns them.
func (n *Notes) Change(ctx context.Context, id lathe.SessionID, in api.NotesChange) (api.Notes, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	doc, _, err := notes.Get(ctx, n.s.opts.Store, id)
	if err != nil {
		return api.Notes{}, err
	}
	if in.Mark != nil && in.Mark.Message == "" {
		return api.Notes{}, lathe.Errorf(lathe.CodeInvalid, "name a message", "a bookmark is for a message")
	}
	doc.change(in)
	err = n.s.opts.Writer.Commit(ctx, func(tx *commit.Tx) error { return notes.Set(tx, id, doc) })
	if err != nil {
		return api.Notes{}, fmt.Errorf("store the notes of a session: %w", err)
	}
	return doc.shown(), nil
}

func (doc notesDoc) shown() api.Notes {
	return api.Notes{Bookmarks: append([]api.Bookmark{}, doc.Bookmarks...), Looked: append([]string{}, doc.Looked...)}
}

func (d *notesDoc) change(in api.NotesChange) {
	drop := in.Unmark
	if in.Mark != nil {
		drop = in.Mark.Message
	}
	d.Bookmarks = slices.DeleteFunc(d.Bookmarks, func(b api.Bookmark) bool { return b.Message == drop })
	if m := in.Mark; m != nil {
		one := *m
		one.Text = printable.Shorten(strings.TrimSpace(one.Text), maxBookmarkText)
		d.Bookmarks = append(d.Bookmarks, one)
		order.Stable(d.Bookmarks, func(a, b api.Bookmark) int { return cmp.Compare(a.Created, b.Created) })
		d.Bookmarks = d.Bookmarks[max(0, len(d.Bookmarks)-maxBookmarks):]
	}
	for _, name := range slices.Concat(in.Unlook, in.Look) {
		d.Looked = slices.DeleteFunc(d.Looked, func(have string) bool { return have == name })
	}
	for _, name := range in.Look {
		if name != "" && len(name) <= maxLookedName {
			d.Looked = append(d.Looked, name)
		}
	}
	d.Looked = d.Looked[max(0, len(d.Looked)-maxLooked):]
}
