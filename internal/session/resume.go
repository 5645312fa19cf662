package session

import (
	"context"

	"lathe"
	"lathe/internal/store"
)

// interrupted reports whether a run ended because its server did.
func interrupted(run *Run) bool {
	if run == nil || run.Last() == nil {
		return false
	}
	f, ok := run.outcome.Failure.(*lathe.AbortedFailure)
	return ok && f.Message == store.AbortedMessage
}

// resumes reports whether the turn that answered a prompt goes on: its server was gone before
// it ended, the configuration says so, nothing was asked since, and the files are as the
// turn's last step recorded them. What it was calling is not called again: the model is
// told that the calls were interrupted.
func (r *runner) resumes(ctx context.Context, m *lathe.Message, run *Run) bool {
	if r.inst.Config.Resume != "auto" || !interrupted(run) {
		return false
	}
	r.mu.Lock()
	busy := r.work != nil
	r.mu.Unlock()
	if newest, err := r.s.opts.Store.NewestMessage(ctx, m.SessionID); busy || err != nil || newest != run.Last().ID {
		return false
	}
	recorded, changing, err := r.lastTree(ctx, m)
	if err == nil && recorded == "" && !changing {
		return true
	}
	var now string
	if trees := r.changes.Snapshots(); err == nil && recorded != "" && trees != nil {
		now, err = trees.Track(ctx)
	}
	if err != nil || now != recorded || recorded == "" {
		r.s.opts.Log.Info("an interrupted turn does not go on: its files are not known to be as it left them", "session", m.SessionID, "err", err)
		return false
	}
	return true
}

// lastTree returns the tree that the turn of a prompt recorded last, "" for none, and whether
// it called a tool that can change files.
func (r *runner) lastTree(ctx context.Context, prompt *lathe.Message) (tree string, changing bool, err error) {
	for m, err := range r.s.opts.Store.Messages(ctx, prompt.SessionID, store.MessageFilter{}) {
		if err != nil {
			return "", false, err
		}
		if m.Seq <= prompt.Seq {
			break
		}
		for i := len(m.Parts) - 1; i >= 0; i-- {
			switch b := m.Parts[i].Body.(type) {
			case *lathe.StepStart:
				tree = later(tree, b.Snapshot)
			case *lathe.StepFinish:
				tree = later(tree, b.Snapshot)
			case *lathe.ToolCall:
				t, known := r.inst.Tools.Lookup(b.Tool)
				changing = changing || !known || !t.Spec().ReadOnly
			}
		}
	}
	return tree, changing, nil
}

// later keeps the tree that was found first, reading backwards.
func later(found, before string) string {
	if found != "" {
		return found
	}
	return before
}
