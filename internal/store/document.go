package store

import (
	"context"
	"encoding/json"
	"fmt"

	"lathe"
)

// Document is a small JSON document that belongs to a session under a key: what the
// engine remembers about it in addition to its messages. Fields may be added to T;
// none may change its meaning.
type Document[T any] string

// Get returns the document of a session; ok is false if none was stored.
func (d Document[T]) Get(ctx context.Context, from SessionReader, session lathe.SessionID) (doc T, ok bool, err error) {
	raw, err := from.Value(ctx, session, string(d))
	if err != nil || len(raw) == 0 {
		return doc, false, err
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		var none T
		return none, false, fmt.Errorf("%s of session %s: %w", string(d), session, err)
	}
	return doc, true, nil
}

// Set stores the document of a session.
func (d Document[T]) Set(tx SessionWriter, session lathe.SessionID, doc T) error {
	raw, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("%s of session %s: %w", string(d), session, err)
	}
	return tx.SetValue(session, string(d), raw)
}
