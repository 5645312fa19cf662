package instance

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/permission"
	"lathe/internal/provider"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Tools are the tools of a directory, and which of them suit which model or agent.
type Tools struct {
	*tool.Registry
	agents   *Agents
	search   bool // web searches are on for every model
	patching func() *tool.Registry
	// Now returns the plugins' tools as they are now; nil: there are none.
	Now   func() []tool.Tool
	known []string // the plugins' tools that the registry has
}

// offer completes the tools' environment with what sessions can do for them,
// and makes the tools.
func (i *Instance) offer(env builtin.Env, o Options) {
	flags := i.Config.Flags
	i.Shell.Runner, i.Shell.Env, i.Limits = o.Runner, env.ShellEnv, env.Limits
	i.Hooks = i.hookChain(o)
	env.EnvFor = func(ctx context.Context, call *tool.Call, dir string) []string {
		return i.EnvFor(ctx, call.SessionID, call.CallID, dir)
	}
	env.Locks = &workspace.Locks{}
	env.Window = func(ref lathe.ModelRef) int {
		m := i.Models.Described(ref)
		if m == nil {
			return 0
		}
		return m.Limit.Context
	}
	env.Delegate = i.Agents.Delegates
	env.Spawn = func(ctx context.Context, in builtin.SpawnInput) (builtin.SpawnResult, error) {
		return i.sessions.Spawn(ctx, i, in)
	}
	env.Subagents = i.Agents.subagents
	if o.Jobs != nil {
		env.Jobs = &builtin.Jobs{Manager: o.Jobs, Owner: func(ctx context.Context, id lathe.SessionID) lathe.SessionID {
			return i.sessions.JobOwner(ctx, id)
		}}
	}
	env.Skills = i.Skills.load
	env.History = func(ctx context.Context, id lathe.SessionID, before int64) iter.Seq2[lathe.Message, error] {
		return i.sessions.History(ctx, id, before)
	}
	if slices.Contains([]string{"app", "cli", "desktop"}, flags.Client) || flags.EnableQuestionTool {
		env.Ask = func(ctx context.Context, call *tool.Call, list []lathe.Question) ([][]string, error) {
			return i.sessions.Ask(ctx, i, call, list)
		}
	}
	if i.Config.Learn {
		env.Notes = i.Instructions.Notes
	}
	if i.Config.Experimental.BatchTool {
		env.Call = func(ctx context.Context, call *tool.Call, name string, input json.RawMessage) (tool.Result, error) {
			if call.Beside == nil {
				return tool.Failf("no other tool can be called here"), nil
			}
			return call.Beside(ctx, name, input)
		}
	}
	if flags.ExperimentalPlanMode && flags.Client == "cli" {
		env.SwitchAgent = func(ctx context.Context, call *tool.Call, agent string) error {
			return i.sessions.SwitchAgent(ctx, i, call, agent)
		}
	}
	key := o.Getenv("EXA_API_KEY")
	env.Search = &builtin.SearchService{Key: key}
	i.Tools.search = key != "" || flags.EnableExa || flags.ExperimentalExa
	i.Tools.Registry = tool.NewRegistry(i.withPlugins(builtin.New(env))...)
	env.Patch = true
	i.Tools.patching = sync.OnceValue(func() *tool.Registry { return tool.NewRegistry(builtin.New(env)...) })
}

// For returns the tools that suit a model, in their fixed order. Late are those that the
// window has of [Tools.Late].
func (t *Tools) For(m *provider.Model, late []string) []tool.Tool {
	tools := t.with(late)
	if writesPatches(m.APIID) {
		tools = t.swapEdits(tools)
	}
	if t.search || strings.HasPrefix(m.Ref.Provider, "opencode") {
		return tools
	}
	return slices.DeleteFunc(tools, func(t tool.Tool) bool {
		name := t.Spec().Name
		return name == "websearch" || name == "codesearch"
	})
}

// writesPatches reports whether a model was trained to change files by patches.
func writesPatches(apiID string) bool {
	id := strings.ToLower(apiID)
	return strings.Contains(id, "gpt-") && !strings.Contains(id, "oss") && !strings.Contains(id, "gpt-4")
}

// swapEdits offers apply_patch in place of the tools it stands for; calls to
// those still work. Tools that others added stay.
func (t *Tools) swapEdits(tools []tool.Tool) []tool.Tool {
	changing := []string{"apply_patch", "edit", "multiedit", "write"}
	var swapped []tool.Tool
	for _, name := range changing {
		if one, ok := t.patching().Lookup(name); ok {
			swapped = append(swapped, one)
		}
	}
	var out []tool.Tool
	for _, t := range tools {
		switch name := t.Spec().Name; {
		case name == "edit":
			out = append(out, swapped...)
		case !slices.Contains(changing, name):
			out = append(out, t)
		}
	}
	return out
}

// ForAgent returns the tool as an agent under this policy gets it, or nil if the
// agent has no use for it.
func (t *Tools) ForAgent(one tool.Tool, policy permission.Policy) tool.Tool {
	if one.Spec().Name != "task" {
		return one
	}
	var permitted []builtin.Subagent
	for _, a := range t.agents.all {
		if a.Mode == ModePrimary || a.Hidden || policy.Action("task", a.Name) == lathe.Deny {
			continue
		}
		permitted = append(permitted, builtin.Subagent{Name: a.Name, Description: a.Description})
	}
	if len(permitted) == 0 {
		return nil
	}
	return builtin.DescribeTask(one, permitted)
}

// decide lets plugins answer an ask. They cannot allow what must be asked about.
func (i *Instance) decide(ask lathe.Ask) (lathe.Reply, bool) {
	switch i.Hooks.PermissionAsk(context.Background(), ask) {
	case lathe.Deny:
		return lathe.Reply{Kind: lathe.Reject, Message: "A plugin does not allow this call. Do without it, or in another way.", Alone: true}, true
	case lathe.Allow:
		return lathe.Reply{Kind: lathe.Once}, ask.Metadata[tool.MetaProtected] != true
	}
	return lathe.Reply{}, false
}

// Task returns what runs subtasks, or nil.
func (t *Tools) Task() tool.Tool {
	task, _ := t.Lookup("task")
	return task
}
