package builtin

import (
	"cmp"
	"context"
	_ "embed" // the description
	"fmt"
	"html"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/tool"
)

//go:embed task.md
var taskText string

// maxAbout bounds what the description says about one subagent.
const maxAbout = 1000

// Subagent is an agent that the task tool can start.
type Subagent struct {
	Name        string
	Description string
}

// SpawnInput is the work that a subagent is given.
type SpawnInput struct {
	Call        *tool.Call
	Agent       string
	Description string // three to five words, for the title
	Prompt      string
	Resume      lathe.SessionID // the session to go on with; empty for a new one
	Command     string          // the command that asked for it, if one did
	Background  bool            // return before it has ended
	Worktree    bool            // a new subagent works in a worktree of its own
	Merge       bool            // merge its branch at the end; with Resume and no prompt, only that
}

// SpawnResult is how a subagent ended. Failure is empty if it finished its
// work; Text is the last thing it said; Changes tells what it changed in a
// worktree of its own. One that is Running works in the background.
type SpawnResult struct {
	Running  bool
	Changes  string
	Session  lathe.SessionID
	Text     string
	Failure  string
	Metadata map[string]any
}

type taskInput struct {
	Description string `json:"description"`
	Prompt      string `json:"prompt"`
	Agent       string `json:"subagent_type"`
	TaskID      string `json:"task_id"`
	SessionID   string `json:"session_id"`
	Command     string `json:"command"`
	Background  bool   `json:"background"`
	Worktree    bool   `json:"worktree"`
	Merge       bool   `json:"merge"`
}

func (e sessionTools) taskTool() tool.Tool {
	s := spec("task", taskText, `{"type":"object","properties":{`+
		`"description":{"type":"string","description":"The work in 3 to 5 words"},`+
		`"prompt":{"type":"string","description":"What the subagent is told"},`+
		`"subagent_type":{"type":"string","description":"Name of the subagent"},`+
		`"task_id":{"type":"string","description":"Id of an earlier subagent to go on with"},`+
		`"background":{"type":"boolean","description":"Return at once; use it for what you need only later"},`+
		`"worktree":{"type":"boolean","description":"Work in a git worktree of its own"},`+
		`"merge":{"type":"boolean","description":"Then merge its branch; only that, with task_id and an empty prompt"},`+
		`"command":{"type":"string","description":"Command that asked for it"}},`+
		`"required":["description","prompt","subagent_type"],"additionalProperties":false}`)
	return typed(s, e.task)
}

// DescribeTask returns the task tool with the subagents that may be called in
// its description. The same list always gives the same bytes.
func DescribeTask(t tool.Tool, subagents []Subagent) tool.Tool {
	s := t.Spec()
	var b strings.Builder
	b.WriteString(s.Description + "\n\nThe subagents:")
	for _, a := range subagents {
		about := cmp.Or(clip(strings.Join(strings.Fields(a.Description), " "), maxAbout), "Call it only when the user asks for it.")
		fmt.Fprintf(&b, "\n- %s: %s", a.Name, about)
	}
	s.Description = b.String()
	return described{t, s}
}

// quietly returns a tool that works but is not offered.
func quietly(t tool.Tool) tool.Tool {
	s := t.Spec()
	s.Quiet = true
	return described{t, s}
}

// described is a tool with a different Spec.
type described struct {
	tool.Tool
	spec tool.Spec
}

// Bare and Adapt are those of the tool.
func (d described) Bare() string {
	if a, ok := d.Tool.(tool.Adapter); ok {
		return a.Bare()
	}
	return ""
}

// Adapt is that of the tool.
func (d described) Adapt(args map[string]any) error {
	if a, ok := d.Tool.(tool.Adapter); ok {
		return a.Adapt(args)
	}
	return nil
}

func (d described) Spec() tool.Spec { return d.spec }

func (e sessionTools) task(ctx context.Context, call *tool.Call, in taskInput) (tool.Result, error) {
	id := lathe.SessionID(cmp.Or(in.TaskID, in.SessionID))
	in.Prompt = strings.TrimSpace(in.Prompt)
	switch {
	case in.Merge && in.Background:
		return tool.Result{}, failf("A subagent in the background is merged after it has reported: leave merge out, then call again with its task_id, merge and an empty prompt.")
	case in.Prompt == "" && in.Merge && id != "":
	case in.Prompt == "":
		return tool.Result{}, failf("The prompt is empty: say what the subagent has to do.")
	}
	agent, err := e.subagent(in.Agent)
	if err != nil {
		return tool.Result{}, err
	}
	in.Agent = agent
	if err := ask(ctx, call, tool.Request{
		Permission: "task", Patterns: []string{in.Agent}, Always: []string{"*"},
		Metadata: map[string]any{"description": in.Description, "subagent_type": in.Agent},
		Doing:    "this would start the agent " + in.Agent, Instead: "use another agent",
	}); err != nil {
		return tool.Result{}, err
	}
	res, err := e.Spawn(ctx, SpawnInput{
		Call: call, Agent: in.Agent, Description: in.Description, Prompt: in.Prompt,
		Resume: id, Command: in.Command,
		Background: in.Background, Worktree: in.Worktree, Merge: in.Merge,
	})
	if err != nil {
		return tool.Result{}, err
	}
	return res.result(in.Description), nil
}

// subagent returns the name of a subagent, which may be given in another letter case.
func (e sessionTools) subagent(name string) (string, error) {
	known := e.Subagents()
	if slices.ContainsFunc(known, func(a Subagent) bool { return a.Name == name }) {
		return name, nil
	}
	for _, a := range known {
		if tool.Canonical(a.Name) == tool.Canonical(name) {
			return a.Name, nil
		}
	}
	names := make([]string, len(known))
	for i, a := range known {
		names[i] = a.Name
	}
	return "", failf("Unknown agent type: %s is not a valid agent type. The subagents are: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
}

// result is what the calling model is told. Both forms of the session id are
// there: clients and models know one or the other.
func (r SpawnResult) result(title string) tool.Result {
	id := string(r.Session)
	if r.Running {
		return tool.Result{
			Title: title, Metadata: r.Metadata,
			Output: fmt.Sprintf("<task id=\"%s\" state=\"running\">\nIt works in the background. Its result comes to you as a message; do not wait for it, do not do its work.\n</task>", html.EscapeString(id)),
		}
	}
	if r.Failure != "" {
		res := tool.Failf("Subagent failed (task_id: %s): %s", id, r.Failure)
		res.Title, res.Metadata = title, r.Metadata
		return res
	}
	text := cmp.Or(strings.TrimSpace(r.Text), "(the subagent said nothing)")
	if r.Changes != "" {
		text += "\n\n" + r.Changes
	}
	return tool.Result{
		Title: title,
		Output: fmt.Sprintf("<task id=\"%s\" state=\"completed\">\n<task_result>\n%s\n</task_result>\n</task>\n\n<task_metadata>\nsession_id: %s\n</task_metadata>",
			html.EscapeString(id), text, id),
		Metadata: r.Metadata,
	}
}
