package cli

import (
	"context"
	"time"

	"lathe/internal/tui/engine"
)

// Search finds what was said in the directory's sessions.
func (t tuiAbilities) Search(ctx context.Context, words string, limit int) ([]engine.Hit, error) {
	list, err := t.c.Search(ctx, words, limit)
	out := make([]engine.Hit, 0, len(list))
	for _, h := range list {
		out = append(out, engine.Hit{Session: h.SessionID, Message: h.MessageID, Title: h.Title, Role: h.Role, Kind: h.Kind, Text: h.Text, Updated: time.UnixMilli(h.Updated)})
	}
	return out, err
}
