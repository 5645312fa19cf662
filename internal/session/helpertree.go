package session

import (
	"context"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/store"
)

// Tree returns a session with all the subagents below it, oldest first.
func (h *Helpers) Tree(ctx context.Context, id lathe.SessionID) (api.Helper, error) {
	sess, err := h.s.Get(ctx, id)
	if err != nil {
		return api.Helper{}, err
	}
	return h.tree(ctx, sess, 0)
}

func (h *Helpers) tree(ctx context.Context, sess lathe.Session, depth int) (out api.Helper, err error) {
	out = api.Helper{
		ID: sess.ID, ParentID: sess.ParentID, Title: sess.Title, Agent: sess.Agent, Directory: sess.Directory,
		Cost: sess.Cost, Tokens: sess.Tokens.Total(),
		Created: sess.Created.UnixMilli(), Updated: sess.Updated.UnixMilli(),
	}
	if sess.Helper != nil {
		out.Background, out.Branch = sess.Helper.Background, sess.Helper.Branch
	}
	// What a session does is asked after what those below it do: one that has just
	// reported is done only once its caller has something to do.
	defer func() { out.State = h.state(ctx, sess) }()
	if depth == maxAncestors {
		return out, nil
	}
	children, err := h.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: sess.ID})
	reverse(children)
	for _, c := range children {
		below, err := h.tree(ctx, c, depth+1)
		if err != nil {
			return out, err
		}
		out.Helpers = append(out.Helpers, below)
	}
	return out, err
}

// state says what a session does, in the words of [api.Helper].
func (h *Helpers) state(ctx context.Context, sess lathe.Session) string {
	if _, idle := h.s.Status(sess.ID).(lathe.Idle); !idle {
		return "working"
	}
	if h.s.helpers.runs(sess.ID) {
		return "waiting"
	}
	if h.s.owed.heldElsewhere(ctx, sess.ID) != nil {
		return "elsewhere"
	}
	all, err := h.s.Messages(ctx, sess.ID, 1)
	if err != nil || len(all) == 0 {
		return "idle"
	}
	a, ok := all[0].Info.(*lathe.Assistant)
	switch {
	case !ok:
		return "interrupted"
	case a.Error != nil:
		if _, aborted := a.Error.(*lathe.AbortedFailure); aborted {
			return "interrupted"
		}
		return "failed"
	case a.Completed.IsZero():
		return "interrupted"
	}
	return "idle"
}
