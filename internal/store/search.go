package store

import (
	"context"

	"lathe"
)

// Searcher finds words in what was said and done.
type Searcher interface {
	// Search returns the parts that contain the words of a query, the best first, or
	// the newest first if there are very many. Call Index first to include what is
	// new.
	Search(ctx context.Context, query string, f SearchFilter) ([]Hit, error)
	// Index adds what is new to the index and returns how many messages that were. It
	// works in small transactions, so it can be stopped at any time and others can
	// write in between.
	Index(ctx context.Context) (int, error)
	// Unindexed returns how many messages the next Index has to add.
	Unindexed(ctx context.Context) (int, error)
}

// SearchFilter selects what is searched; zero fields select all.
type SearchFilter struct {
	ProjectID string
	Directory string
	Session   lathe.SessionID
	Limit     int // 0: 20
}

// Hit is a part that a search found.
type Hit struct {
	Session lathe.Session
	Message lathe.MessageID
	Part    lathe.PartID
	Kind    string // "text", "reasoning", "tool", …
	Role    string
	Snippet string
}
