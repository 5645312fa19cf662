package session

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// again returns the message with an identifier that the client chose, if it is stored
// already: a client that did not see the reply may have sent the message again. The run is
// the one that answers the message, or a finished one. If there is no such message, the
// prompt is new.
//
// What a revert hides is about to be removed, so its identifiers are free.
func (r *runner) again(ctx context.Context, id lathe.MessageID) (*lathe.Message, *Run, error) {
	if id == "" {
		return nil, nil, nil
	}
	sess, err := r.s.Get(ctx, r.current().ID)
	if err != nil || sess.Revert != nil {
		return nil, nil, err
	}
	m, run, err := r.stored(ctx, id)
	if m != nil && err == nil {
		err = r.accepted(ctx)
	}
	return m, run, err
}

func (r *runner) stored(ctx context.Context, id lathe.MessageID) (*lathe.Message, *Run, error) {
	m, err := r.s.opts.Store.Message(ctx, r.current().ID, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if _, ok := m.Info.(*lathe.User); !ok {
		return nil, nil, errTaken(id)
	}
	r.mu.Lock()
	run := r.runOf(id)
	r.mu.Unlock()
	if run != nil {
		return &m, run, nil
	}
	run, err = answered(ctx, r.s.opts.Store, m)
	return &m, run, err
}

// answered returns the run that answered a message, rebuilt from what is stored; nil if there is no
// answer.
func answered(ctx context.Context, kept *store.Store, user lathe.Message) (*Run, error) {
	var out turn.Outcome
	for m, err := range kept.Messages(ctx, user.SessionID, store.MessageFilter{}) {
		if err != nil {
			return nil, err
		}
		if m.Seq <= user.Seq {
			break
		}
		info, ok := m.Info.(*lathe.Assistant)
		if !ok || info.ParentID != user.ID {
			continue
		}
		if out.Last == nil {
			out.Last, out.Failure, out.Tokens = &m, info.Error, info.Tokens
		}
		out.Cost += info.Cost
		out.Steps++
	}
	if out.Last == nil {
		return nil, nil
	}
	run := &Run{done: make(chan struct{}), outcome: out}
	close(run.done)
	return run, nil
}

// twice answers a prompt whose message another request has stored in the meantime.
func (r *runner) twice(ctx context.Context, id lathe.MessageID, err error) (*lathe.Message, *Run, error) {
	if !errors.Is(err, store.ErrExists) || id == "" {
		return nil, nil, err
	}
	m, run, again := r.stored(ctx, id)
	switch {
	case again != nil:
		return nil, nil, again
	case m == nil:
		return nil, nil, errTaken(id)
	}
	return m, run, nil
}

func errTaken(id lathe.MessageID) error {
	return lathe.Errorf(lathe.CodeInvalid, "leave messageID out, or choose another one", "there is a message %s already", id)
}
