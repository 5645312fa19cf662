package server

import (
	"context"
	"iter"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/turn"
)

// A face in the same process gets these values directly, because they can be large.

// History returns up to limit messages of a session before the one with a sequence
// number, the oldest first, or the newest ones for 0. Zero means as many as
// there may be. The text of open parts is in them as far as it has streamed.
func (s *Server) History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error) {
	sess, err := s.opts.Service.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxMessages {
		limit = maxMessages
	}
	h, err := s.history(ctx, sess, before, limit)
	return h.Messages, err
}

// Outcome waits for the end of the turn that a message asked for. The error has
// [lathe.CodeNotFound] when it is not kept.
func (s *Server) Outcome(ctx context.Context, m lathe.MessageID) (api.Outcome, error) {
	run := s.runs.get(m)
	if run == nil {
		return api.Outcome{}, notFound("the outcome of this prompt is not kept: it is long over, or of another process")
	}
	out, err := run.Wait(ctx)
	return outcomeOf(out), err
}

func outcomeOf(out turn.Outcome) api.Outcome {
	return api.Outcome{
		Last: out.Last, Failure: out.Failure, Blocked: out.Blocked, Steps: out.Steps, Cost: out.Cost, Tokens: out.Tokens,
	}
}

// Follow yields the events of a directory to a face in the same process; see
// [events.Streams.Follow].
func (s *Server) Follow(ctx context.Context, dir string, after uint64) iter.Seq2[lathe.Envelope, error] {
	return s.events.Follow(ctx, dir, after)
}
