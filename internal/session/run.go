package session

import (
	"context"

	"lathe"
	"lathe/internal/turn"
)

// Run is what becomes of one prompt, or of a compaction that was asked for. Its
// methods may be called by any number of callers.
type Run struct {
	done    chan struct{}
	outcome turn.Outcome
	err     error
	inner   bool // a turn of the parent session waits for it
}

// Done is closed when the prompt is answered.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the prompt's answer. Outcome.Last is never a message from before
// the prompt. The error is for what could not be recorded; failures of models and
// tools are in the outcome. Cancelling ctx stops the waiting, not the turn.
func (r *Run) Wait(ctx context.Context) (turn.Outcome, error) {
	select {
	case <-r.done:
		return r.outcome, r.err
	case <-ctx.Done():
		return turn.Outcome{}, context.Cause(ctx)
	}
}

// Last returns the message that answered the prompt, or nil if there is none yet.
func (r *Run) Last() *lathe.Message {
	select {
	case <-r.done:
		return r.outcome.Last
	default:
		return nil
	}
}
