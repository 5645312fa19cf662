package session

import (
	"context"
	"slices"

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
	out.Messages, out.Hidden = standing(messages, sess.Revert)
	out.Diffs, err = s.diffsOf(ctx, sess, out.Messages, len(out.Messages))
	return out, err
}

// standing returns the messages without what a revert hides, and how many of
// them it touches.
func standing(messages []lathe.Message, revert *lathe.Revert) (kept []lathe.Message, hidden int) {
	i := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == revert.MessageID })
	if i < 0 {
		return messages, 0
	}
	kept = slices.Clone(messages[:i])
	if revert.PartID != "" {
		first := messages[i]
		if p := slices.IndexFunc(first.Parts, func(p lathe.Part) bool { return p.ID == revert.PartID }); p >= 0 {
			first.Parts = first.Parts[:p]
			kept = append(kept, first)
		}
	}
	return kept, len(messages) - i
}
