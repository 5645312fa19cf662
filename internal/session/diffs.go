package session

import (
	"context"

	"lathe"
	"lathe/internal/undo"
)

// Standing is a session without what a revert hides.
type Standing struct {
	Messages []lathe.Message
	Hidden   int // messages hidden by a revert, wholly or in part
	Diffs    []lathe.FileDiff
}

// Diffs says what sessions changed.
type Diffs struct{ s *Service }

// Standing returns what a session holds without what a revert hides, and what the rest changed.
func (d *Diffs) Standing(ctx context.Context, sess lathe.Session) (out Standing, err error) {
	messages, err := d.s.Messages(ctx, sess.ID, 0)
	if err != nil {
		return out, err
	}
	if sess.Revert == nil {
		out.Messages = messages
		out.Diffs, err = d.Of(ctx, sess.ID, "")
		return out, err
	}
	out.Messages, out.Hidden = sess.Revert.Standing(messages)
	out.Diffs, err = d.first(ctx, sess, out.Messages, len(out.Messages))
	return out, err
}

// StandingDiff returns what a session changed, without what a revert hides.
func (d *Diffs) StandingDiff(ctx context.Context, sess lathe.Session) ([]lathe.FileDiff, error) {
	if sess.Revert == nil {
		return d.Of(ctx, sess.ID, "")
	}
	st, err := d.Standing(ctx, sess)
	return st.Diffs, err
}

// Of returns what a session changed, or what the turn that answered a user message changed.
func (d *Diffs) Of(ctx context.Context, id lathe.SessionID, message lathe.MessageID) ([]lathe.FileDiff, error) {
	if message == "" {
		if _, err := d.s.Get(ctx, id); err != nil {
			return nil, err
		}
		return d.s.opts.Store.Diffs(ctx, id, "")
	}
	m, err := d.s.opts.Store.Message(ctx, id, message)
	if err != nil {
		return nil, err
	}
	if u, ok := m.Info.(*lathe.User); ok && u.Summary != nil {
		return u.Summary.Diffs, nil
	}
	return nil, nil
}

// first returns what the first messages of a session changed.
func (d *Diffs) first(ctx context.Context, sess lathe.Session, messages []lathe.Message, until int) ([]lathe.FileDiff, error) {
	if until == len(messages) && sess.Revert == nil {
		return d.Of(ctx, sess.ID, "")
	}
	if !undo.Any(messages[:until]) {
		return nil, nil
	}
	r, err := d.s.runner(ctx, sess.ID)
	if err != nil { // its directory is gone, and its record of changes with it
		d.s.opts.Log.Info("what a part of a session changed cannot be told", "session", sess.ID, "err", err)
		return nil, nil
	}
	return r.changes.DiffOf(ctx, messages[:until])
}
