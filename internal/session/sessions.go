package session

import (
	"context"
	"iter"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/store"
	"lathe/internal/tool"
)

// sessions is what the tools of instances see of a [Service].
type sessions struct{ *Service }

var _ instance.Sessions = sessions{}

// History yields the messages of a session, newest first, for the recall tool.
func (s sessions) History(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error] {
	return s.opts.Store.Messages(ctx, id, store.MessageFilter{Before: before})
}

// Ask puts the questions of a tool call to the user and waits.
func (s sessions) Ask(ctx context.Context, i *instance.Instance, call *tool.Call, list []lathe.Question) ([][]string, error) {
	if r := s.known(call.SessionID); r != nil {
		i = s.asksOf(ctx, r)
	}
	return s.Questions.ask(ctx, i.Root.Dir, call, list)
}
