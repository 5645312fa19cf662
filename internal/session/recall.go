package session

import (
	"context"
	"iter"

	"lathe"
	"lathe/internal/store/sqlite"
)

// past yields the messages of a session, newest first, for the recall tool.
func (i *Instance) past(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error] {
	return i.engine.svc.opts.Store.Messages(ctx, id, sqlite.MessageFilter{Before: before})
}
