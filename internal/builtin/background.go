package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"lathe"
	"lathe/internal/job"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// Jobs are what tools need to work with jobs.
type Jobs struct {
	*job.Manager
	// Owner returns the session that owns the jobs of a session's calls: a
	// subagent's belong to the session it works for. Nil: each session owns its
	// own.
	Owner func(ctx context.Context, id lathe.SessionID) lathe.SessionID
}

func (j *Jobs) owner(ctx context.Context, call *tool.Call) lathe.SessionID {
	if j.Owner == nil {
		return call.SessionID
	}
	return j.Owner(ctx, call.SessionID)
}

// start describes the job that a command of a call is or becomes.
func (e shellTools) start(ctx context.Context, call *tool.Call, c shell.Command, title string) job.Start {
	limits := e.Limits.In(call.Outputs)
	s := job.Start{
		Session: e.Jobs.owner(ctx, call), CallID: call.CallID, Title: title, Directory: e.Root.Dir, Command: c,
		Create: func() (*os.File, error) { return limits.Create() },
	}
	s.Rows, s.Cols = 40, 120
	if runner, ok := e.Runner.(job.Runner); ok { // confined as the other commands are
		s.Runner = runner
	}
	return s
}

// background starts a command as a job.
func (e shellTools) background(ctx context.Context, call *tool.Call, c shell.Command, in bashInput) (tool.Result, error) {
	if e.Jobs == nil {
		return tool.Result{}, failf("Commands cannot go on in the background here: nothing was run.")
	}
	s := e.start(ctx, call, c, in.Description)
	s.Terminal = in.PTY
	j, err := e.Jobs.Start(s)
	if err != nil {
		return tool.Result{}, failf("The command could not be run: %v", err)
	}
	return tool.Result{
		Title:    in.title(),
		Output:   fmt.Sprintf("Started as %s. Its output, its end and its input are for the job tool; it lives until the session ends.", j.ID()),
		Metadata: map[string]any{"job": j.ID(), "output": "", "exit": nil, "description": in.Description, "truncated": false},
	}, nil
}

// attended runs a command that may go on as a job, because a person wants to
// keep it or because it leaves processes behind. The note tells the model.
func (e shellTools) attended(ctx context.Context, call *tool.Call, c shell.Command, out *output, in bashInput) (exit shell.Exit, note string, err error) {
	if e.Jobs == nil || len(c.Allow.Overlays) > 0 { // what is held back ends with the command
		exit, err = e.Runner.Run(ctx, c)
		return exit, "", err
	}
	c.Adopt = true
	if call.Progress != nil { // somebody may be watching
		keep, withdraw := e.Jobs.Offer(call.SessionID, call.CallID)
		defer withdraw()
		c.Keep = keep
	}
	exit, err = e.Runner.Run(ctx, c)
	if err != nil || exit.Live == nil {
		return exit, "", err
	}
	var shown []byte
	if exit.Kept {
		shown = out.spool.Tail()
	}
	j, err := e.Jobs.Adopt(e.start(ctx, call, c, in.Description), exit, shown)
	if err != nil {
		return exit, fmt.Sprintf("Processes that the command left running were stopped: %v", err), nil
	}
	out.job = j.ID()
	if exit.Kept {
		return exit, fmt.Sprintf("The user lets the command run on: it is %s now. Its further output is for the job tool.", j.ID()), nil
	}
	info := j.Info()
	return exit, fmt.Sprintf("Left running as %s%s: %s. It lives until the session ends; the job tool stops it.", j.ID(), ports(info), info.Command), nil
}

func (in bashInput) title() string {
	if in.Description != "" {
		return in.Description
	}
	return in.Command
}

// ports names the ports that a job listens on.
func ports(info job.Info) string {
	if len(info.Ports) == 0 {
		return ""
	}
	text := ", listening on " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(info.Ports)), ", "), "[]")
	for _, port := range info.Ports {
		if at := info.Elsewhere[port]; at != 0 {
			text += fmt.Sprintf(" (%d is taken on the user's machine: they find it at 127.0.0.1:%d)", port, at)
		}
	}
	return text
}

// ErrorLine returns the first line of some output that looks like an error, or "".
func ErrorLine(chunk []byte) string {
	if !hasSign(chunk) {
		return ""
	}
	for line := range strings.Lines(string(chunk)) {
		if hasSign([]byte(line)) && errorLine().MatchString(line) {
			return strings.TrimSpace(tool.CutHead(plain([]byte(line)), errorBytes))
		}
	}
	return ""
}

// find returns the job that a call names, or the only one that runs.
func (e shellTools) find(ctx context.Context, call *tool.Call, id string) (*job.Job, error) {
	owner := e.Jobs.owner(ctx, call)
	if id != "" {
		j, err := e.Jobs.Get(owner, id)
		if errors.Is(err, job.ErrNotFound) {
			return nil, failf("There is no job %q: jobs end with their session and with lathe. %s", id, e.jobList(ctx, call))
		}
		return j, err
	}
	all := e.Jobs.Of(owner)
	if len(all) == 1 {
		return all[0], nil
	}
	var only *job.Job
	for _, j := range all {
		if j.Info().Running() {
			if only != nil {
				return nil, failf("Say which job by its id. %s", e.jobList(ctx, call))
			}
			only = j
		}
	}
	if only == nil {
		return nil, failf("Say which job by its id. %s", e.jobList(ctx, call))
	}
	return only, nil
}

// jobList lists the jobs of a session, for the model.
func (e shellTools) jobList(ctx context.Context, call *tool.Call) string {
	var b strings.Builder
	for _, j := range e.Jobs.Of(e.Jobs.owner(ctx, call)) {
		info := j.Info()
		fmt.Fprintf(&b, "\n%s %s%s, %s bytes of output", info.ID, info.End(), ports(info), grouped(info.Output))
		if n := len(info.Files); n > 0 {
			fmt.Fprintf(&b, ", %d files changed", n)
		}
		b.WriteString(": " + clip(strings.Join(strings.Fields(info.Command), " "), 120))
	}
	if b.Len() == 0 {
		return "There are no jobs."
	}
	return "The jobs:" + b.String()
}
