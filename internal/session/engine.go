package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/shell"
	"lathe/internal/tool"
	"lathe/internal/turn"
	"lathe/internal/workspace"
)

// engine is what the tools of an instance need of the sessions they run in.
type engine struct {
	svc      *Service // set before the instance is used
	skills   []Skill  // when the instance was made
	runner   *shell.Runner
	shellEnv []string
	limits   *tool.Limits
	search   bool // web searches are on for every model
	patching func() *tool.Registry
	hooks    *plugin.Chain

	unlisten      context.CancelFunc // nil where nothing listens
	skillProblems []error
}

// offer completes the environment of the tools with what sessions can do for
// them, and makes them.
func (i *Instance) offer(env builtin.Env, o InstanceOptions) {
	flags := i.Config.Flags
	i.engine.runner, i.engine.shellEnv, i.engine.limits, i.engine.hooks = o.Runner, env.ShellEnv, env.Limits, o.Hooks
	env.Locks = &workspace.Locks{}
	env.Window = func(ref lathe.ModelRef) int {
		m, err := i.Model(ref)
		if err != nil {
			return 0
		}
		return m.Limit.Context
	}
	env.Delegate = i.delegates
	env.Spawn = i.spawn
	env.Subagents = i.subagents
	env.Skills = i.loadSkills
	env.History = i.past
	if slices.Contains([]string{"app", "cli", "desktop"}, flags.Client) || flags.EnableQuestionTool {
		env.Ask = i.askUser
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
		env.SwitchAgent = i.switchAgent
	}
	key := o.Getenv("EXA_API_KEY")
	env.Search = &builtin.SearchService{Key: key}
	i.engine.search = key != "" || flags.EnableExa || flags.ExperimentalExa
	i.Tools = tool.NewRegistry(builtin.New(env)...)
	env.Patch = true
	i.engine.patching = sync.OnceValue(func() *tool.Registry { return tool.NewRegistry(builtin.New(env)...) })
}

// toolsFor returns the tools that suit a model, in their fixed order.
func (i *Instance) toolsFor(m *provider.Model) []tool.Tool {
	tools := i.Tools.Tools()
	if writesPatches(m.APIID) {
		tools = i.swapEdits(tools)
	}
	if i.engine.search || strings.HasPrefix(m.Ref.Provider, "opencode") {
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

// swapEdits puts apply_patch in the place of the tools it stands for. Tools that
// others added stay.
func (i *Instance) swapEdits(tools []tool.Tool) []tool.Tool {
	patch, ok := i.engine.patching().Lookup("apply_patch")
	if !ok {
		return tools
	}
	var out []tool.Tool
	for _, t := range tools {
		switch t.Spec().Name {
		case "edit":
			out = append(out, patch)
		case "multiedit", "write":
		default:
			out = append(out, t)
		}
	}
	return out
}

// forAgent returns the tool as an agent under this policy gets it, or nil when it
// has no use for it.
func (i *Instance) forAgent(t tool.Tool, policy permission.Policy) tool.Tool {
	if t.Spec().Name != "task" {
		return t
	}
	var permitted []builtin.Subagent
	for _, a := range i.Agents {
		if a.Mode == ModePrimary || a.Hidden || policy.Action("task", a.Name) == lathe.Deny {
			continue
		}
		permitted = append(permitted, builtin.Subagent{Name: a.Name, Description: a.Description})
	}
	if len(permitted) == 0 {
		return nil
	}
	return builtin.DescribeTask(t, permitted)
}

// subagents lists what the task tool can start.
func (i *Instance) subagents() []builtin.Subagent {
	var out []builtin.Subagent
	for _, a := range i.Agents {
		if a.Mode != ModePrimary {
			out = append(out, builtin.Subagent{Name: a.Name, Description: a.Description})
		}
	}
	return out
}

// delegates reports whether an agent may start subagents.
func (i *Instance) delegates(agent string) bool {
	a, err := i.agent(agent)
	return err == nil && a.policy().Action("task", "*") != lathe.Deny
}

// decide lets plugins answer an ask. What must be asked about cannot be allowed.
func (i *Instance) decide(ask lathe.Ask) (lathe.Reply, bool) {
	switch i.engine.hooks.PermissionAsk(context.Background(), ask) {
	case lathe.Deny:
		return lathe.Reply{Kind: lathe.Reject, Message: "a plugin does not allow it"}, true
	case lathe.Allow:
		return lathe.Reply{Kind: lathe.Once}, ask.Metadata[tool.MetaProtected] != true
	}
	return lathe.Reply{}, false
}

// listen hands the directory's events to plugins until the instance is closed or
// the service ends.
func (s *Service) listen(inst *Instance) {
	dir, hooks := inst.Root.Dir, inst.engine.hooks
	if !hooks.Listens() {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	inst.engine.unlisten = cancel
	subscribe := func() *bus.Subscription { return s.opts.Bus.Subscribe(ctx, bus.Filter{Directory: dir}, bus.Limits{}) }
	sub := subscribe()
	s.wg.Go(func() {
		for {
			ev, err := sub.Next(ctx)
			switch {
			case err == nil:
				hooks.Event(ctx, ev)
				continue
			case errors.Is(err, bus.ErrSlow):
				s.opts.Log.Warn("plugins were too slow and missed events", "dir", dir)
				sub.Close()
				sub = subscribe()
				continue
			}
			sub.Close()
			return
		}
	})
}

// taskTool returns what runs subtasks, or nil.
func (i *Instance) taskTool() tool.Tool {
	t, _ := i.Tools.Lookup("task")
	return t
}

// rulesOf returns what an agent is judged by in this run.
func (h *host) rulesOf(a turn.Agent) []lathe.Rule {
	return slices.Concat(a.Rules, h.current().Rules, h.rules)
}

// runCeilings returns what no agent of this run may go beyond.
func (h *host) runCeilings() [][]lathe.Rule {
	h.runner.mu.Lock()
	defer h.runner.mu.Unlock()
	return slices.Clone(h.ceilings)
}

// cut returns what bounds the results of an agent's tools. outputs is where the
// whole of what is cut goes.
func (i *Instance) cut(agent, outputs string) func(tool.Result) tool.Result {
	limits := i.engine.limits.In(outputs)
	return func(res tool.Result) tool.Result {
		return i.fitAttachments(limits.Apply(res, i.delegates(agent)))
	}
}

// fitAttachments makes the pictures of a result small enough, and leaves out those
// where that fails.
func (i *Instance) fitAttachments(res tool.Result) tool.Result {
	if len(res.Attachments) == 0 {
		return res
	}
	var kept []lathe.File
	left := 0
	for _, f := range res.Attachments {
		if data, ok := prompt.DataURL(f.URL); ok {
			if err := i.fitPicture(&f, data); err != nil {
				i.log.Debug("a picture of a tool was left out", "err", err)
				left++
				continue
			}
		}
		kept = append(kept, f)
	}
	res.Attachments = kept
	if left > 0 {
		res.Output += fmt.Sprintf("\n\n(%d pictures were left out: they are too large or cannot be read.)", left)
	}
	return res
}
