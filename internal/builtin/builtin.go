package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/netguard"
	"lathe/internal/shell"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Env is what the tools of one instance work with. Fields marked optional may be nil
// or zero. Each kind of tool is its own type over it; what several kinds share are
// methods of Env and its parts.
type Env struct {
	Places
	Commands
	Abilities

	Limits *tool.Limits
	Seen   *tool.Seen
	Locks  *workspace.Locks
	// Buffers has the files of sessions that a person is editing. Optional.
	Buffers *tool.Buffers
	HTTP    *http.Client // for webfetch, which guards the connections it makes, and searches; optional
	Todos   Todos
	// Own is where lathe listens, which webfetch must not reach. Optional.
	Own *netguard.Listeners
	// Search is where and how web and code searches go. Optional: without it
	// there are no such tools.
	Search *SearchService
	// Window returns how many tokens a model's context holds, 0 if that is not known.
	// It may be nil.
	Window func(lathe.ModelRef) int

	Publish func(lathe.Event)
	Now     func() time.Time // optional

	// Known reports whether an instruction file is already part of the system
	// prompt. Optional.
	Known func(path string) bool
	// Format formats files that were just written. What it cannot format it leaves as
	// it is. Optional.
	Format func(ctx context.Context, paths []string)
	// Languages tell what a change breaks. Optional.
	Languages Languages
	// Code answers questions about code. Without it there is no lsp tool.
	Code Code
	// Patch offers apply_patch instead of edit and write, which are carried out all the
	// same, as apply_patch is without it.
	Patch bool
}

// Places are where the tools work, and where they do not.
type Places struct {
	Root workspace.Root
	Home string // the user's home directory; optional

	// DataDir is where lathe keeps sessions and credentials. Tools neither read
	// nor write in it, except for the spilled outputs and plans.
	DataDir string
	// GlobalIgnore is the user's ignore file for all repositories; optional.
	GlobalIgnore string
	// Private lists further files and directories that tools never write:
	// lathe's own configuration and state. Absolute; optional.
	Private []string
}

// Commands is how commands run.
type Commands struct {
	Shell    string   // path of the shell; empty means the environment's
	ShellEnv []string // whole environment of commands
	// HeldBack names variables of the person that ShellEnv does not have, since they look
	// like secrets.
	HeldBack []string
	// Processes is how many processes commands may have together, and Memory how many MB
	// each; 0: that is not known, or not bounded.
	Processes, Memory int
	Runner            Runner
	// EnvFor returns the environment of one call's command. Nil: it is ShellEnv.
	EnvFor func(ctx context.Context, call *tool.Call, dir string) []string
	// Scratch is a directory outside the workspace that commands may use; it is made
	// when the first one runs. Optional.
	Scratch     string
	BashTimeout time.Duration // default for commands; 0 means 2 minutes
	// Network opens the ways of commands to other hosts. Optional: without it they have
	// the machine's network.
	Network OpenWay
	// Confine says how the commands of a call are confined: by the rules of its agent,
	// with edits as if whatever they ask about had been allowed. Nil: as the Runner says.
	Confine func(rules tool.Rules, edits bool) shell.Confine
	// Hold makes what holds back the changes of one command. Optional: without it a
	// command that is to be reviewed is asked about before it runs.
	Hold func() (Held, error)
	// Jobs are the processes that live on. Optional: without them no command goes on
	// in the background, and there is no job tool.
	Jobs *Jobs
}

// Abilities are what sessions can do for tools. All are optional: tools that need a
// missing one are not there.
type Abilities struct {
	// Delegate reports whether the agent may use the task tool.
	Delegate func(agent string) bool
	// Ask puts questions to the user and returns, for each, the chosen labels.
	// An error of it ends the call. Without it there is no question tool.
	Ask func(ctx context.Context, call *tool.Call, questions []lathe.Question) ([][]string, error)
	// Call runs another tool for the call, as a part of its own. Without it there is
	// no batch tool.
	Call func(ctx context.Context, call *tool.Call, name string, input json.RawMessage) (tool.Result, error)
	// SwitchAgent makes the session go on with another agent ("build", "plan").
	// Without it, and Ask, there are no plan tools.
	SwitchAgent func(ctx context.Context, call *tool.Call, agent string) error
	// Skills lists what the skill tool can load.
	Skills func(ctx context.Context) ([]Skill, error)
	// Spawn has a subagent do a piece of work and returns when it has ended; its
	// error ends the call. Without it, and Subagents, there is no task tool.
	Spawn func(ctx context.Context, in SpawnInput) (SpawnResult, error)
	// Subagents lists the agents that Spawn can start.
	Subagents func() []Subagent
	// Notes returns the file of the project's instructions. Without it there is no remember
	// tool.
	Notes func() (string, error)
	// History reads a session's own past. Without it there is no recall tool.
	History History
}

// Runner runs commands; *shell.Runner does.
type Runner interface {
	Run(ctx context.Context, c shell.Command) (shell.Exit, error)
}

// Todos keeps the task list of each session, and publishes changes.
type Todos interface {
	Todos(ctx context.Context, id lathe.SessionID) ([]lathe.Todo, error)
	SetTodos(ctx context.Context, id lathe.SessionID, todos []lathe.Todo) error
}

// New returns the tools in the order they are offered. Which of the optional
// ones are among them depends on what env has.
func New(env Env) []tool.Tool {
	e := &env
	e.complete()
	session, find, web := sessionTools{e.Places, e.Abilities, e.Todos, e.Now}, searchTools{e.Places, e.Seen}, webTools{e.HTTP, e.Own, e.Now, e.Search}
	tools := []tool.Tool{invalidTool()}
	if e.Ask != nil {
		tools = append(tools, session.questionTool())
	}
	tools = append(tools, shellTools{e}.bashTool())
	if e.Jobs != nil {
		tools = append(tools, shellTools{e}.jobTool())
	}
	tools = append(tools, e.readTool(), find.listTool(), find.globTool(), find.grepTool())
	tools = append(tools, e.changing()...)
	if e.Spawn != nil && e.Subagents != nil {
		tools = append(tools, session.taskTool())
	}
	tools = append(tools, web.webfetchTool(), session.todowriteTool(), session.todoreadTool())
	if e.History != nil {
		tools = append(tools, session.recallTool())
	}
	if e.Search != nil {
		tools = append(tools, web.websearchTool(), web.codesearchTool())
	}
	if e.Skills != nil {
		tools = append(tools, session.skillTool())
	}
	if e.Notes != nil {
		tools = append(tools, editTools{e}.rememberTool())
	}
	if e.Code != nil {
		tools = append(tools, codeTools{editTools{e}}.lspTool())
	}
	if e.Call != nil {
		tools = append(tools, session.batchTool())
	}
	if e.Ask != nil && e.SwitchAgent != nil {
		tools = append(tools, session.planTool("plan_exit"), session.planTool("plan_enter"))
	}
	return tools
}

// changing returns the tools that change files. Models know both kinds; one kind is offered.
func (e *Env) changing() []tool.Tool {
	files := []tool.Tool{editTools{e}.editTool(), editTools{e}.multieditTool(), editTools{e}.writeTool()}
	patch := editTools{e}.patchTool()
	if !e.Patch {
		return append(files, quietly(patch))
	}
	for i, t := range files {
		files[i] = quietly(t)
	}
	return append([]tool.Tool{patch}, files...)
}

func (e *Env) complete() {
	e.DataDir = resolved(e.DataDir)
	e.Private = slices.Clone(e.Private)
	for i, path := range e.Private {
		e.Private[i] = resolved(path)
	}
	if e.Limits == nil {
		e.Limits = &tool.Limits{}
	}
	if e.Seen == nil {
		e.Seen = &tool.Seen{}
	}
	if e.Locks == nil {
		e.Locks = &workspace.Locks{}
	}
	if e.Runner == nil {
		e.Runner = shell.New(shell.Options{})
	}
	if e.Publish == nil {
		e.Publish = func(lathe.Event) {}
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.BashTimeout <= 0 {
		e.BashTimeout = 2 * time.Minute
	}
	if e.Delegate == nil {
		e.Delegate = func(string) bool { return false }
	}
	if e.Known == nil {
		e.Known = func(string) bool { return false }
	}
}

// resolved resolves symbolic links in a directory that lathe was given, because
// it is compared with resolved paths.
func resolved(path string) string {
	if real, err := workspace.Resolve(path); err == nil {
		return real
	}
	return path
}

// builtIn is a tool of lathe's own.
type builtIn struct {
	spec tool.Spec
	run  func(ctx context.Context, call *tool.Call) (tool.Result, error)
}

// typed returns a tool whose arguments are decoded into T. An error of run that is
// neither a refused permission nor the end of the context is told to the model. Only the
// decoding depends on T: what does is compiled once for each tool.
func typed[T any](spec tool.Spec, run func(ctx context.Context, call *tool.Call, in T) (tool.Result, error)) tool.Tool {
	return builtIn{spec, func(ctx context.Context, call *tool.Call) (tool.Result, error) {
		var in T
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return unreadable(spec.Name, err), nil
		}
		return run(ctx, call, in)
	}}
}

func unreadable(name string, err error) tool.Result {
	return tool.Failf("The %s tool was called with arguments that cannot be read: %v", name, err)
}

// Spec describes the tool to the model.
func (t builtIn) Spec() tool.Spec { return t.spec }

// Run carries out one call.
func (t builtIn) Run(ctx context.Context, call *tool.Call) (tool.Result, error) {
	res, err := t.run(ctx, call)
	if err == nil {
		return res, nil
	}
	if d, ok := errors.AsType[*refused](err); ok {
		return tool.Result{}, d.err
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	return tool.Failf("%s", err), nil
}

// refused carries an error of Call.Ask past the code in between.
type refused struct{ err error }

func (r *refused) Error() string { return r.err.Error() }
func (r *refused) Unwrap() error { return r.err }

// ask asks for permission, unless the user made the call.
func ask(ctx context.Context, call *tool.Call, req tool.Request) error {
	if call.UserAsked || len(req.Patterns) == 0 {
		return nil
	}
	if err := call.Ask(ctx, req); err != nil {
		return &refused{err}
	}
	return nil
}

// progress shows what a call does, if anyone looks.
func progress(call *tool.Call, title string, metadata map[string]any) {
	if call.Progress != nil {
		call.Progress(title, metadata)
	}
}

// spec builds a Spec from an embedded description and a schema.
func spec(name, description, schema string) tool.Spec {
	return tool.Spec{Name: name, Description: strings.TrimSpace(description), Schema: json.RawMessage(schema)}
}

type failure string

func (f failure) Error() string { return string(f) }

// failf makes an error whose text goes to the model verbatim.
func failf(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// The kinds of tools. Each has the methods that only it needs.
type (
	shellTools  struct{ *Env } // bash and job
	editTools   struct{ *Env } // edit, multiedit, write and apply_patch
	searchTools struct {       // list, glob and grep
		Places
		seen *tool.Seen
	}
	webTools struct { // webfetch, websearch and codesearch
		http   *http.Client
		own    *netguard.Listeners
		now    func() time.Time
		search *SearchService
	}
	sessionTools struct { // what concerns the session: tasks, questions, todos, skills, its past
		Places
		Abilities
		todos Todos
		now   func() time.Time
	}
)
