package session

import (
	"context"

	"lathe"
)

// Standing is a session as it stands: without what a revert hides.
type Standing struct {
	Messages []lathe.Message
	Hidden   int // messages that a revert hides, wholly or in part
	Diffs    []lathe.FileDiff
}

// Standing returns what a session holds without what it was reverted to leave
// out, and what the rest changed.
func (s *Service) Standing(ctx context.Context, sess lathe.Session) (out Standing, err error) {
	messages, err := s.Messages(ctx, sess.ID, 0)
	if err != nil {
		return out, err
	}
	if sess.Revert == nil {
		out.Messages = messages
		out.Diffs, err = s.Diff(ctx, sess.ID, "")
		return out, err
	}
	out.Messages, out.Hidden = sess.Revert.Standing(messages)
	out.Diffs, err = s.diffsOf(ctx, sess, out.Messages, len(out.Messages))
	return out, err
}

// StandingDiff returns what a session changed without what it was reverted to
// leave out.
func (s *Service) StandingDiff(ctx context.Context, sess lathe.Session) ([]lathe.FileDiff, error) {
	if sess.Revert == nil {
		return s.Diff(ctx, sess.ID, "")
	}
	st, err := s.Standing(ctx, sess)
	return st.Diffs, err
}
