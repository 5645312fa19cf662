package session

import (
	"context"
	"errors"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// answered tells a prompt how the turn that saw it ended. A turn that left no
// message for it has failed, and the prompt gets a message that says so.
func (j *work) answered(w *waiting, out turn.Outcome, err error) {
	switch {
	case w.message == nil:
		j.answer(w, out, err)
	case err != nil:
		j.refuseAs(w, out, failureOf(err), err)
	case out.Last == nil || out.Last.Seq <= w.message.Seq:
		f := out.Failure
		if f == nil {
			f = &lathe.UnknownFailure{Message: "the turn ended without an answer"}
		}
		j.refuseAs(w, out, f, nil)
	default:
		j.answer(w, out, nil)
	}
}

// refuse answers a prompt with a failure, in a message of its own, which stays.
func (j *work) refuse(w *waiting, f lathe.Failure, err error) {
	j.refuseAs(w, turn.Outcome{}, f, err)
}

func (j *work) refuseAs(w *waiting, out turn.Outcome, f lathe.Failure, cause error) {
	out.Failure = f
	if w.message != nil {
		out.Last = j.failedAnswer(w, f)
		if err := j.saveAnswer(context.Background(), out.Last); err != nil && !errors.Is(err, store.ErrLost) {
			j.r.s.opts.Log.Error("why a prompt was not answered could not be stored; it is tried again", "session", j.r.current().ID, "message", w.message.ID, "err", err)
			j.r.owed = append(j.r.owed, out.Last)
			j.r.s.owed.owes(j.r)
		}
		j.r.rec.Publish(lathe.SessionFailed{SessionID: j.r.current().ID, Failure: f})
	}
	j.answer(w, out, cause)
}

// failedAnswer returns the answer to a prompt that failed: what the turn began but
// could not end, or a new message.
func (j *work) failedAnswer(w *waiting, f lathe.Failure) *lathe.Message {
	now := j.r.s.opts.Now()
	if m := j.openAnswer(w.message); m != nil {
		info := *m.Info.(*lathe.Assistant)
		info.Error, info.Completed = f, now
		m.Info = &info
		return m
	}
	user := w.message.Info.(*lathe.User)
	dir := j.r.current().Directory
	return &lathe.Message{
		ID: j.r.ids.Load().Message(), SessionID: w.message.SessionID, Created: now,
		Info: &lathe.Assistant{ParentID: w.message.ID, Agent: user.Agent, Model: user.Model, Cwd: dir, Root: dir, Completed: now, Error: f},
	}
}

// openAnswer returns the unfinished answer to a message, or nil.
func (j *work) openAnswer(user *lathe.Message) *lathe.Message {
	for m, err := range j.r.s.opts.Store.Messages(context.Background(), user.SessionID, store.MessageFilter{}) {
		if err != nil || m.Seq <= user.Seq {
			return nil
		}
		if a, ok := m.Info.(*lathe.Assistant); ok && a.ParentID == user.ID && a.Completed.IsZero() {
			return &m
		}
	}
	return nil
}

// saveAnswer stores a failed answer and closes whatever is open in it.
func (j *work) saveAnswer(ctx context.Context, m *lathe.Message) error {
	began := m.Seq > 0
	err := j.r.rec.Commit(ctx, turn.Change{Message: m})
	if err == nil && began {
		err = j.r.closeOpen(ctx)
	}
	return err
}

// failureOf says in a message why a turn could not be recorded. Details that are
// not meant for people go to the log only.
func failureOf(err error) lathe.Failure {
	if errors.Is(err, turn.ErrAborted) || errors.Is(err, context.Canceled) {
		return &lathe.AbortedFailure{Message: "The operation was aborted."}
	}
	e, ok := errors.AsType[*lathe.Error](err)
	if !ok {
		return &lathe.UnknownFailure{Message: "the answer could not be recorded; the log has the details"}
	}
	msg := e.Msg
	if e.Hint != "" {
		msg += "; " + e.Hint
	}
	return &lathe.UnknownFailure{Message: msg}
}

// pay stores the answers that could not be stored earlier. The caller holds mu.
func (r *runner) pay(ctx context.Context) error {
	for len(r.owed) > 0 {
		m := r.owed[0]
		paid, err := r.paid(ctx, m)
		if err == nil && !paid {
			err = r.rec.Commit(ctx, turn.Change{Message: m})
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) { // the answer is gone with its session
			return err
		}
		r.owed = r.owed[1:]
	}
	return nil
}

// paid reports whether the prompt that a failed answer is for has another one by now: who took the
// session over meanwhile has closed what was open in it, or has answered the prompt.
func (r *runner) paid(ctx context.Context, owed *lathe.Message) (bool, error) {
	prompt := owed.Info.(*lathe.Assistant).ParentID
	for m, err := range r.s.opts.Store.Messages(ctx, owed.SessionID, store.MessageFilter{}) {
		if err != nil || m.ID == prompt {
			return false, err
		}
		if a, ok := m.Info.(*lathe.Assistant); ok && a.ParentID == prompt {
			return !a.Completed.IsZero() && (a.Error != nil || a.Finish == lathe.FinishStop), nil
		}
	}
	return false, nil
}
