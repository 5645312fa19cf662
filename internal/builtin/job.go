package builtin

import (
	"context"
	_ "embed" // the description
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lathe/internal/job"
	"lathe/internal/tool"
)

//go:embed job.md
var jobText string

const (
	lookTime  = 10 * time.Second // how long to wait for a text or silence, unless the call says otherwise
	longLook  = 10 * time.Minute
	replyIdle = 300 * time.Millisecond // silence after which the response to input counts as complete
	replyTime = 3 * time.Second
	wholeLook = 256 << 10 // new output up to this size is examined as a whole
)

type jobInput struct {
	Action  string   `json:"action"`
	ID      string   `json:"id"`
	Until   string   `json:"until"`
	Idle    *float64 `json:"idle"`
	Timeout *float64 `json:"timeout"`
	Input   string   `json:"input"`
	Keys    []string `json:"keys"`
}

func (e shellTools) jobTool() tool.Tool {
	s := spec("job", jobText, `{"type":"object","properties":{`+
		`"action":{"type":"string","enum":["list","read","wait","send","stop"]},`+
		`"id":{"type":"string","description":"The job; not needed if only one runs"},`+
		`"until":{"type":"string","description":"Regular expression that new output has to match"},`+
		`"idle":{"type":"number","description":"Milliseconds without output"},`+
		`"timeout":{"type":"number","description":"Milliseconds to wait at most"},`+
		`"input":{"type":"string","description":"Text to send, line ends included"},`+
		`"keys":{"type":"array","items":{"type":"string"},"description":"Keys to press after it: enter, ctrl-c, ctrl-d, up, esc …"}},`+
		`"required":["action"],"additionalProperties":false}`)
	s.Permission = "bash"
	s.ReadOnly = true // what a job changes belongs to the job, not to a step
	return typed(s, e.job)
}

func (e shellTools) job(ctx context.Context, call *tool.Call, in jobInput) (tool.Result, error) {
	if in.Action == "list" {
		return tool.Result{Title: "jobs", Output: e.jobList(ctx, call)}, nil
	}
	j, err := e.find(ctx, call, in.ID)
	if err != nil {
		return tool.Result{}, err
	}
	look, err := in.look(e.BashTimeout)
	if err != nil {
		return tool.Result{}, err
	}
	switch in.Action {
	case "read", "wait":
	case "send":
		if err := e.send(ctx, call, j, in); err != nil {
			return tool.Result{}, err
		}
		if look.Until == nil && look.Idle == 0 {
			look.Idle, look.For = replyIdle, replyTime
		}
	case "stop":
		defer e.Jobs.Forget(j) // with its output, which has been read by then
		e.Jobs.Stop(j)
	default:
		return tool.Result{}, failf("There is no action %q; there are list, read, wait, send and stop.", in.Action)
	}
	return e.looked(ctx, call, j, in, look)
}

// look says what a call waits for.
func (in jobInput) look(longest time.Duration) (l job.Look, err error) {
	if in.Until != "" {
		if l.Until, err = regexp.Compile("(?m)" + in.Until); err != nil {
			return l, failf("until is no regular expression: %v", err)
		}
	}
	for _, ms := range []*float64{in.Idle, in.Timeout} {
		if ms != nil && !(*ms > 0) {
			return l, failf("Invalid number of milliseconds: %v. It must be positive.", *ms)
		}
	}
	l.For = lookTime
	if l.End = in.Action == "wait" && in.Until == "" && in.Idle == nil; l.End {
		l.For = longest
	}
	if in.Idle != nil {
		l.Idle = min(millis(*in.Idle), longLook)
	}
	if in.Timeout != nil {
		l.For = min(millis(*in.Timeout), longLook)
		// A time alone is one to wait for the next output to come to rest.
		if in.Action == "read" && l.Until == nil && l.Idle == 0 {
			l.Idle = l.For
		}
	}
	return l, nil
}

func millis(ms float64) time.Duration { return time.Duration(min(ms, 1e9) * float64(time.Millisecond)) }

// send types into a job. What is typed into a shell is a command, so it is judged
// as one, together with the rest of its line typed earlier.
func (e shellTools) send(ctx context.Context, call *tool.Call, j *job.Job, in jobInput) error {
	if in.Input == "" && len(in.Keys) == 0 {
		return failf("send needs input, keys or both.")
	}
	for _, key := range in.Keys {
		if !slices.Contains(job.Keys(), strings.ToLower(key)) {
			return failf("There is no key %q; there are %s.", key, strings.Join(job.Keys(), ", "))
		}
	}
	if typed := j.Line() + in.Input; strings.TrimSpace(typed) != "" {
		if _, _, err := e.judge(ctx, call, bashInput{Command: typed, PTY: true, Description: "Input for " + j.ID()}, j.Info().Dir, nil); err != nil {
			return err
		}
	}
	if in.Input != "" {
		if err := j.Write([]byte(in.Input)); err != nil {
			return failf("%s: %v", j.ID(), err)
		}
	}
	for _, key := range in.Keys {
		if err := j.Key(key); err != nil {
			return failf("%s: %v", j.ID(), err)
		}
	}
	return nil
}

// looked returns what a job has printed since the last look.
func (e shellTools) looked(ctx context.Context, call *tool.Call, j *job.Job, in jobInput, look job.Look) (tool.Result, error) {
	s := j.Look(ctx, look)
	if err := context.Cause(ctx); err != nil {
		return tool.Result{}, err
	}
	text, meta := e.newOutputOf(call, j, s)
	if strings.TrimSpace(text) == "" {
		text = "(no new output)"
	}
	notes := s.Info.ID + " " + s.Info.End() + ports(s.Info)
	switch {
	case look.Until != nil && !s.Matched && s.Info.Running():
		notes += fmt.Sprintf("\nNothing matched %q within %s.", in.Until, look.For)
	case look.End && s.Info.Running():
		notes += fmt.Sprintf("\nIt did not end within %s.", look.For)
	}
	meta["job"], meta["running"] = s.Info.ID, s.Info.Running()
	return tool.Result{
		Title: s.Info.ID, Metadata: meta,
		Output: strings.TrimRight(text, "\n") + "\n\n<job_metadata>\n" + notes + "\n</job_metadata>",
	}, nil
}

// newOutputOf returns what the model is shown of new output: if there is much, its
// beginning, its end and where the rest is.
func (e shellTools) newOutputOf(call *tool.Call, j *job.Job, s job.Seen) (string, map[string]any) {
	meta := map[string]any{"truncated": false}
	room, size := e.shown(call.Model), s.To-s.From
	begin, at := j.Output().Part(s.From, int(min(size, wholeLook)))
	end, whole := begin, at == s.From && int64(len(begin)) == size
	if !whole {
		end, _ = j.Output().Part(max(at, s.To-wholeLook/2), wholeLook/2)
	}
	cut, text, long := abridge(begin, end, whole, room, e.Limits.Lines())
	if !long {
		return text, meta
	}
	meta["truncated"] = true
	lines := 0
	if whole {
		lines = strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	} else {
		cut.first = 0
	}
	gap := cut.gap(lines, size)
	path := s.Info.Path
	if path == "" { // it fits in memory
		path, _ = e.Limits.In(call.Outputs).Save(string(end))
	}
	if path != "" {
		meta["outputPath"] = path
		gap += "; the newest output of the job is in " + path
	}
	return strings.TrimRight(cut.head, "\n") + "\n\n... " + gap + " ...\n\n" + cut.tail, meta
}
