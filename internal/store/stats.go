package store

import (
	"context"
	"time"

	"lathe"
)

// Stats tells what answers and tool calls there were, for statistics.
type Stats interface {
	// Answers calls fn with each assistant message created since then, oldest first,
	// and then with those that were removed. Copies are left out.
	Answers(ctx context.Context, since time.Time, fn func(Answer) error) error
	// ToolUses calls fn with each tool call made since then. Copies are left out, and
	// bodies that are kept in files.
	ToolUses(ctx context.Context, since time.Time, fn func(ToolUse) error) error
}

// Answer is an assistant message with where it belongs, for statistics.
type Answer struct {
	Session   lathe.SessionID
	Project   string
	Directory string
	Created   time.Time
	// Removed answers are gone, by a revert or with their session, and have their
	// agent, model, cost and tokens alone.
	Removed bool
	*lathe.Assistant
}

// ToolUse is a tool call with where it belongs, without its output.
type ToolUse struct {
	Session lathe.SessionID
	Project string
	*lathe.ToolCall
}
