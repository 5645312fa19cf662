package store

import (
	"context"
	"time"

	"lathe"
)

// Stats reads the answers and tool calls there were, for statistics.
type Stats interface {
	// Answers calls fn with each assistant message created since then, oldest first,
	// and then with removed ones. Copies are left out.
	Answers(ctx context.Context, since time.Time, fn func(Answer) error) error
	// ToolUses calls fn with each tool call made since then. Copies are left out, as
	// are bodies stored in files.
	ToolUses(ctx context.Context, since time.Time, fn func(ToolUse) error) error
}

// Answer is an assistant message with where it belongs, for statistics.
type Answer struct {
	Session   lathe.SessionID
	Project   string
	Directory string
	Created   time.Time
	// Removed answers are gone, through a revert or with their session, and have
	// only their agent, model, cost and tokens.
	Removed bool
	*lathe.Assistant
}

// Beside reports whether it is no answer but was asked beside the messages, such as a title; its
// agent says what for. See [MessageWriter.AddSpent].
func (a Answer) Beside() bool { return a.Removed && a.Completed.IsZero() }

// ToolUse is a tool call with where it belongs, without its output.
type ToolUse struct {
	Session lathe.SessionID
	Project string
	*lathe.ToolCall
}
