package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lathe"
	"lathe/internal/printable"
	"lathe/internal/prompt"
	"lathe/internal/shell"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

const (
	shellPreview  = 30_000 // characters of output that people are shown
	shellProgress = 100 * time.Millisecond
	shellSnapshot = 30 * time.Second
)

// ShellInput is a command that the user runs in a session.
type ShellInput struct {
	Command   string
	MessageID lathe.MessageID // chosen by the client; see [Prompt]
	Agent     string
	Model     lathe.ModelRef
}

// Shell runs a command of the user's in a session. No permission is needed and no
// model is asked, but the model sees it with the next prompt. It fails while the
// session is busy. Abort ends the command; prompts that arrive in the meantime
// are answered after it.
func (s *Service) Shell(ctx context.Context, id lathe.SessionID, in ShellInput) (*lathe.Message, *Run, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if m, run, err := r.again(ctx, in.MessageID); m != nil || err != nil {
		return m, run, err
	}
	m, err := r.userMessage(ctx, Prompt{MessageID: in.MessageID, Agent: in.Agent, Model: in.Model, Parts: []lathe.PartBody{synthetic(prompt.UserTool())}})
	if err != nil {
		return nil, nil, err
	}
	c := &userCall{r: r, user: m, tool: "bash", title: in.Command, input: map[string]string{"command": in.Command}}
	c.do = func(ctx context.Context, p lathe.Part, call lathe.ToolCall) (tool.Result, error) {
		return c.runUserShell(ctx, in.Command, p, call)
	}
	run, err := c.begin(ctx)
	return m, run, err
}

// begin stores the message that stands for the call, and runs the call. It fails while the
// session is busy.
func (c *userCall) begin(ctx context.Context) (*Run, error) {
	r, m := c.r, c.user
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work != nil {
		return nil, lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "Session %s is busy", m.SessionID)
	}
	if r.s.ctx.Err() != nil {
		return nil, context.Cause(r.s.ctx)
	}
	lease, err := r.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.storeUser(ctx, m, Prompt{}); err != nil {
		r.release(ctx, lease)
		if errors.Is(err, store.ErrExists) {
			err = errTaken(m.ID)
		}
		return nil, err
	}
	w := newWaiting(m, Prompt{})
	r.begin(lease, []*waiting{w}, func(j *work) { r.userRun(j, c) })
	r.work.calls = true
	return w.run, nil
}

// userRun runs the call, then answers what was asked in the meantime.
func (r *runner) userRun(j *work, c *userCall) {
	out, err := c.run(store.Patient(j.ctx)) // like a turn, it was done already
	if !j.settle(out, err) {
		j.turns()
	}
}

// userCall is a user's command that a session runs, or something else that a user does to
// files and may want to take back.
type userCall struct {
	r     *runner
	user  *lathe.Message // stands for it
	tool  string         // what it is shown as
	title string
	input map[string]string
	do    func(context.Context, lathe.Part, lathe.ToolCall) (tool.Result, error)
}

// run records a tool call and runs it.
func (c *userCall) run(ctx context.Context) (turn.Outcome, error) {
	info := c.user.Info.(*lathe.User)
	now := c.r.s.opts.Now()
	answer := &lathe.Assistant{ParentID: c.user.ID, Agent: info.Agent, Model: info.Model, Cwd: c.r.current().Directory, Root: c.r.current().Directory}
	m := lathe.Message{ID: c.r.ids.Load().Message(), SessionID: c.user.SessionID, Created: now, Info: answer}
	input, err := json.Marshal(c.input)
	if err != nil {
		return turn.Outcome{}, err
	}
	call := lathe.ToolCall{CallID: c.r.ids.Load().New(lathe.PrefixCall), Tool: c.tool, State: &lathe.ToolRunning{Input: input, Start: now}}
	p := lathe.Part{ID: c.r.ids.Load().Part(), MessageID: m.ID, SessionID: m.SessionID, Body: &call}
	// From here on there is a call for an abort to end.
	if err := c.r.rec.Commit(context.WithoutCancel(ctx), turn.Change{Message: &m}, turn.Change{Part: &p}); err != nil {
		return turn.Outcome{}, err
	}
	undo := c.beforeShell(ctx)
	res, err := c.do(ctx, p, call)
	changed := c.shellChanges(ctx, undo, m)
	save, done := turn.Saving(ctx)
	defer done()
	span := lathe.Span{Start: now, End: c.r.s.opts.Now()}
	end := call
	end.State = &lathe.ToolDone{Input: input, Output: res.Output, Title: c.title, Metadata: res.Metadata, Time: span}
	if err != nil {
		end.State = &lathe.ToolFailed{Input: input, Error: fmt.Sprintf("run the command: %v", err), Time: span}
	}
	p.Body = &end
	finished := *answer
	finished.Completed = c.r.s.opts.Now()
	m.Info = &finished
	changes := []turn.Change{{Part: &p}}
	for i := range changed {
		changes = append(changes, turn.Change{Part: &changed[i]})
	}
	if err := c.r.rec.Commit(save, append(changes, turn.Change{Message: &m})...); err != nil {
		return turn.Outcome{}, err
	}
	m.Parts = append([]lathe.Part{p}, changed...)
	c.r.changes.Summarise(save, []lathe.Message{*c.user, m})
	return turn.Outcome{Last: &m}, nil
}

// beforeShell returns the tree before a user's command, or "".
func (c *userCall) beforeShell(ctx context.Context) string {
	store, err := c.r.inst.Snapshots()
	if err != nil {
		if c.r.inst.Config.SnapshotOn() {
			c.r.changes.ReportOff(err)
		}
		return ""
	}
	c.r.changes.WatchJobs(store.Top())
	tree, err := store.Track(ctx)
	if err != nil && ctx.Err() == nil {
		c.r.changes.ReportOff(err)
		c.r.s.opts.Log.Warn("a command cannot be undone", "session", c.r.current().ID, "err", err)
	}
	return tree
}

// shellChanges returns the message parts that record what the command changed, so
// that reverting the message undoes it.
func (c *userCall) shellChanges(ctx context.Context, before string, m lathe.Message) (parts []lathe.Part) {
	store, err := c.r.inst.Snapshots()
	if err != nil || before == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shellSnapshot)
	defer cancel()
	patch, now, err := c.r.changes.Patch(ctx, store, before)
	if err != nil {
		c.r.s.opts.Log.Warn("what a command changed is not known", "session", c.r.current().ID, "err", err)
		return nil
	}
	if len(patch.Files) == 0 {
		return nil
	}
	for _, b := range []lathe.PartBody{&patch, &lathe.SnapshotMark{Snapshot: now}} {
		parts = append(parts, lathe.Part{ID: c.r.ids.Load().Part(), MessageID: m.ID, SessionID: m.SessionID, Body: b})
	}
	return parts
}

// runUserShell runs the command and shows its output as it arrives.
func (c *userCall) runUserShell(ctx context.Context, command string, p lathe.Part, call lathe.ToolCall) (tool.Result, error) {
	limits := c.r.inst.Limits.In(c.r.outputs.of(c.r.s, c.r.current()))
	spool := shell.NewSpool(shell.SpoolOptions{Head: shellPreview, Tail: max(limits.Bytes(), shellPreview), Create: func() (io.WriteCloser, error) { return limits.Create() }})
	defer spool.Close()
	running := *call.State.(*lathe.ToolRunning)
	output := &shellOutput{spool: spool, now: c.r.s.opts.Now, show: func(text string) {
		state, live := running, call
		state.Title, state.Metadata = command, map[string]any{"output": text, "description": ""}
		live.State = &state
		told := p
		told.Body = &live
		c.r.rec.Progress(told)
	}}
	exit, err := c.r.inst.Shell.Runner.Run(ctx, shell.Command{
		Script: command, Dir: c.r.inst.Root.Dir, Shell: c.r.inst.Shell.Path,
		Env: c.r.inst.EnvFor(ctx, p.SessionID, "", c.r.inst.Root.Dir), Kind: shell.KindTerminal,
		Output: output.Write,
	})
	output.Close()
	if ctx.Err() != nil {
		exit.Aborted = true // perhaps before it began
	} else if err != nil {
		return tool.Result{}, err
	}
	tail := spool.Tail()
	out, removed := limits.Window(printable.Plain(string(tail)), true)
	if exit.Aborted {
		out += "\n\n<metadata>\nUser aborted the command\n</metadata>"
	}
	return tool.Result{Output: out, Metadata: map[string]any{
		"output": shellShown(spool), "exit": exit.Code, "description": "", "truncated": removed != "" || spool.Total() > int64(len(tail)),
	}}, nil
}

// shellShown returns the end of what the command printed, with its colours, for people.
func shellShown(spool *shell.Spool) string {
	tail := spool.Tail()
	return printable.Last(string(tail), shellPreview, spool.Total() > int64(len(tail)))
}
