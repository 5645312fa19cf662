package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/cli/show"
	"lathe/internal/client"
	"lathe/internal/turn"
)

// giveUp is how long a run tries to reconnect to a server.
const giveUp = 2 * time.Minute

// view shows one run and answers its asks.
type view struct {
	env  *console.Env
	c    *face.Face
	root lathe.Session
	// created says that this run created the session, which therefore has no subagents yet.
	created bool
	out     *show.Output
	opts    Options

	message  string // what was typed, or the arguments of the command
	attached []lathe.PartBody
	shared   bool // where it is shared was printed
	refusals refusals
	beside   beside
	started  time.Time
	near     attention
	typed    console. // what the person types
			Typed

	family   map[lathe.SessionID]bool // the sessions whose events are shown
	sent     lathe.MessageID          // the prompt; empty until it is stored
	begun    bool                     // the prompt was seen in the stream
	answered map[lathe.AskID]bool
	missed   bool      // events were lost
	lostAt   time.Time // when the server was lost; zero while it is there
}

// start resolves the model and runs the prompt.
func (v *view) start(ctx context.Context, p api.Prompt) (err error) {
	defer func() { v.near.ended(err) }()
	if v.opts.Model != "" {
		if p.Model, err = v.c.ParseModel(ctx, v.opts.Model); err != nil {
			return err
		}
	}
	p.Model.Variant = v.opts.variant
	v.warn(ctx)
	v.started = v.env.Now()
	v.near = watch(ctx, v.env, v.c, v.opts, v.message)
	v.family = v.relatives(ctx)
	defer v.tellJobs(context.WithoutCancel(ctx))
	if err := v.follow(ctx, p); err != nil {
		return err
	}
	return v.end(context.WithoutCancel(ctx))
}

// follow sends the prompt once the events flow, and shows what happens until the
// session is idle again.
func (v *view) follow(ctx context.Context, p api.Prompt) error {
	stop := func() bool { return true }
	defer func() { stop() }()
	for u, err := range v.c.Follow(context.WithoutCancel(ctx)) {
		switch {
		case err != nil:
			return fmt.Errorf("follow the session: %w", err)
		case u.Event != nil && v.take(ctx, u.Envelope):
			return nil
		case u.Event != nil:
		case u.Open && v.sent == "":
			if err := v.begin(ctx, p); err != nil {
				return err
			}
			stop = context.AfterFunc(ctx, func() { v.abort(ctx) })
		case u.Open:
			v.lostAt = time.Time{}
			if u.Lost && v.catchUp(ctx) {
				return nil
			}
		default:
			if err := v.lost(ctx, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin sends the prompt. If an interrupt comes first, the prompt may have been
// accepted anyway.
func (v *view) begin(ctx context.Context, p api.Prompt) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.sent, err = v.send(ctx, p)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(err, v.c.Abort(context.WithoutCancel(ctx), v.root.ID))
	}
	return err
}

func (v *view) abort(ctx context.Context) {
	if errors.Is(context.Cause(ctx), console.ErrInterrupted) {
		v.out.Notice("aborting … (press Ctrl-C again to kill)")
	}
	_ = v.c.Abort(context.WithoutCancel(ctx), v.root.ID)
}

// lost reports that the server cannot be reached at the moment, and ends a run
// that can no longer be followed.
func (v *view) lost(ctx context.Context, u client.Update) error {
	switch now := v.env.Now(); {
	case v.sent == "", ctx.Err() != nil:
		return u.Err
	case v.lostAt.IsZero():
		v.lostAt = now
		v.out.Notice(fmt.Sprintf("the connection is lost (%v); trying again", u.Err))
	case now.Sub(v.lostAt) > giveUp:
		return fmt.Errorf("follow the session: %w", u.Err)
	}
	return nil
}

// take shows one event; it reports whether the run is over.
func (v *view) take(ctx context.Context, e lathe.Envelope) (done bool) {
	if c, ok := e.Event.(lathe.SessionCreated); ok && v.family[c.Session.ParentID] {
		v.family[c.Session.ID] = true
	}
	switch told := e.Event.(type) {
	case lathe.ClientEvent:
		v.out.Toast(told)
	case lathe.Notice:
		if told.SessionID == "" || v.family[told.SessionID] {
			v.out.Notice(told.Text)
		}
	}
	if !v.family[lathe.SessionOf(e.Event)] && !v.asksForUs(ctx, e.Event) {
		return false
	}
	switch ev := e.Event.(type) {
	case lathe.MessageUpdated:
		v.begun = v.begun || ev.Message.ID == v.sent
		if ev.Message.SessionID == v.root.ID {
			v.beside.read(ev.Message)
		}
		if _, asked := ev.Message.Info.(*lathe.User); asked && v.begun && ev.Message.SessionID == v.root.ID {
			v.beside.newest = ev.Message.ID
		}
	case lathe.PartUpdated:
		v.refusals.saw(ev.Part)
		v.confined(ev.Part)
		v.beside.saw(ev.Part)
	case lathe.PermissionAsked:
		v.answer(ctx, ev.Ask)
	case lathe.QuestionAsked:
		v.question(ctx, ev.Ask)
	case lathe.SessionUpdated:
		v.tellShared(ev.Session)
		if ev.Session.ID == v.root.ID && v.helperEnded(ctx) {
			return true
		}
	case lathe.SessionStatus:
		if _, idle := ev.Status.(lathe.Idle); idle && ev.SessionID == v.root.ID {
			return v.begun && !v.awaitsHelpers(ctx) // otherwise this is the end of an earlier turn
		}
	}
	v.out.Event(e, v.root.ID)
	return false
}

// caughtUp is how many messages are read again after events were lost.
const caughtUp = 200

// catchUp shows what was missed while events were lost, answers what waits, and
// reports whether the run is over.
func (v *view) catchUp(ctx context.Context) (done bool) {
	live := context.WithoutCancel(ctx)
	v.begun, v.missed, v.beside.used = true, true, true
	status, err := v.c.Status(live, v.root.ID) // first: what follows it comes as events
	if err != nil {
		return false
	}
	messages, err := v.c.History(live, v.root.ID, 0, caughtUp)
	if err != nil {
		return false
	}
	ours := false
	for _, m := range messages {
		v.beside.read(m)
		if ours = ours || m.ID == v.sent; ours {
			v.out.Again(m, v.root.ID, v.env.Now())
		}
	}
	asks, _ := v.c.Asks(live)
	for _, a := range asks {
		if v.family[a.SessionID] {
			v.answer(ctx, a)
		}
	}
	questions, _ := v.c.Questions(live)
	for _, q := range questions {
		if v.family[q.SessionID] {
			v.question(ctx, q)
		}
	}
	_, idle := status.(lathe.Idle)
	return idle
}

// end reads how the turn ended, from the messages if the server was restarted
// in the meantime.
func (v *view) end(ctx context.Context) error {
	out, err := v.c.Outcome(ctx, v.root.ID, v.lastAsked())
	if err == nil {
		return v.finish(turn.Outcome{
			Last: out.Last, Failure: out.Failure, Blocked: out.Blocked, Steps: out.Steps, Cost: out.Cost, Tokens: out.Tokens,
		})
	}
	if !face.Gone(err) {
		return err
	}
	messages, err := v.c.History(ctx, v.root.ID, 0, caughtUp)
	if err != nil {
		return err
	}
	var told turn.Outcome
	ours := false
	for _, m := range messages {
		ours = ours || m.ID == v.sent
		if info, ok := m.Info.(*lathe.Assistant); ok && ours {
			told.Last, told.Failure, told.Tokens = &m, info.Error, info.Tokens
			told.Cost += info.Cost
			told.Steps++
		}
	}
	if told.Last == nil {
		return lathe.Errorf(lathe.CodeAborted, "go on with: lathe run -c", "the server ended before the turn began")
	}
	return v.finish(told)
}

// finish prints the end of a run and maps its outcome to an exit code.
func (v *view) finish(out turn.Outcome) error {
	if v.missed && out.Failure != nil && !v.out.Failed {
		v.out.Event(lathe.Envelope{Time: v.env.Now(), Event: lathe.SessionFailed{SessionID: v.root.ID, Failure: out.Failure}}, v.root.ID)
	}
	v.shellOutput(out)
	v.out.End(out, v.env.Now().Sub(v.started))
	code := console.ExitDone
	switch out.Failure.(type) {
	case nil:
		if out.Blocked || v.refusals.unfinished(v.opts.onRefusal) {
			code = console.ExitPermission
		}
	case *lathe.AbortedFailure:
		code = console.ExitAborted
	case *lathe.LimitFailure, *lathe.OutputLengthFailure:
		code = console.ExitLimit
	default:
		code = console.ExitFailed
	}
	if code == console.ExitDone && v.beside.cut {
		v.out.Notice("stopped; what the subagents had done is kept: lathe session tree " + string(v.root.ID))
		code = console.ExitAborted
	}
	if code == console.ExitDone || code == console.ExitPermission {
		v.tellRefused()
	}
	if code == console.ExitDone {
		return nil
	}
	return console.ExitError{Code: code}
}
