package session

import (
	"context"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// goOn goes on with a prompt that was stored before. The run is the one that answers it: the
// given one if the prompt was answered, else one that begins now.
func (r *runner) goOn(ctx context.Context, m *lathe.Message, run *Run, p Prompt) (*Run, error) {
	if run != nil && run.Last() == nil { // it runs here
		return run, nil
	}
	submit := func() (*Run, error) {
		return r.submit(ctx, m, p, func(*lathe.Message) error { return nil })
	}
	left, err := wasLeft(ctx, r.s.opts.Store, r.current().ID, m.ID)
	switch {
	case err != nil:
		return nil, err
	case left && r.busy(): // with a prompt that came later
		return submit()
	case left && !r.sameTree(ctx, m):
		return r.breakOff(ctx, m, run)
	case left:
		r.mu.Lock()
		r.goingOn = true
		r.mu.Unlock()
		return submit()
	case run == nil || r.resumes(ctx, m, run): // the process ended before the turn began, or ended
		return submit()
	}
	return run, nil
}

func (r *runner) busy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.work != nil
}

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
	if r.inst.Config.Resume != "auto" || !interrupted(run) || r.busy() {
		return false
	}
	if newest, err := r.s.opts.Store.NewestMessage(ctx, m.SessionID); err != nil || newest != run.Last().ID {
		return false
	}
	return r.sameTree(ctx, m)
}

// sameTree reports whether the files are as the turn of a prompt recorded them last. A turn
// that called nothing that can change files needs no record.
func (r *runner) sameTree(ctx context.Context, m *lathe.Message) bool {
	recorded, changing, err := r.lastTree(ctx, m)
	if err == nil && recorded == "" && !changing {
		return true
	}
	var now string
	if trees := r.changes.Snapshots(); err == nil && recorded != "" && trees != nil {
		now, err = trees.Track(ctx)
	}
	if err != nil || now != recorded || recorded == "" {
		r.s.opts.Log.Info("a turn does not go on: its files are not known to be as it left them", "session", m.SessionID, "err", err)
		return false
	}
	return true
}

// breakOff records that a turn which another server left unfinished ends as interrupted: the
// files here are not those that it left. The run is the one that says so.
func (r *runner) breakOff(ctx context.Context, m *lathe.Message, run *Run) (*Run, error) {
	f := &lathe.AbortedFailure{Message: store.AbortedMessage}
	r.mu.Lock()
	defer r.mu.Unlock()
	lease, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer r.release(ctx, lease)
	var last *lathe.Message
	if run != nil {
		last = failed(run.Last(), f)
	} else {
		last = (&work{r: r}).failedAnswer(&waiting{message: m}, f)
	}
	if err := r.endLeft(ctx, f, last); err != nil {
		return nil, err
	}
	over := &Run{done: make(chan struct{}), outcome: turn.Outcome{Last: last, Failure: f}}
	close(over.done)
	return over, nil
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
