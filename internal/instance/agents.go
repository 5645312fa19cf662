package instance

import (
	"context"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/prompt"
	"lathe/internal/turn"
)

// Modes of an agent: who may use it.
const (
	ModePrimary  = "primary"
	ModeSubagent = "subagent"
	ModeAll      = "all"
)

// Agent is a named preset as an instance knows it.
type Agent struct {
	turn.Agent
	Description string
	Mode        string
	Hidden      bool
	Native      bool // built in
	Color       string
	foreign     bool // only an untrusted repository defines it
}

// builtinAgents are the agents that need no configuration, in the order they are
// listed.
func builtinAgents() []Agent {
	return []Agent{
		{Agent: turn.Agent{Name: "build"}, Mode: ModePrimary, Description: "Reads, edits and runs code. The default."},
		{Agent: turn.Agent{Name: "plan"}, Mode: ModePrimary, Description: "Reads and plans; changes nothing."},
		{Agent: turn.Agent{Name: "general"}, Mode: ModeSubagent, Description: "Carries out research and work of several steps on its own. Use several at once for independent parts."},
		{Agent: turn.Agent{Name: "explore"}, Mode: ModeSubagent, Description: "Finds things in a codebase quickly, without changing anything. Say how thorough it should be: quick, medium or very thorough."},
		{Agent: turn.Agent{Name: "compaction"}, Mode: ModePrimary, Hidden: true},
		{Agent: turn.Agent{Name: "title", Temperature: new(0.5)}, Mode: ModePrimary, Hidden: true},
		{Agent: turn.Agent{Name: "summary"}, Mode: ModePrimary, Hidden: true},
	}
}

// resolveAgents merges the built-in agents with the configured ones.
func resolveAgents(conf *config.Config, paths permission.Paths) []Agent {
	agents := builtinAgents()
	for i := range agents {
		a := &agents[i]
		a.Native, a.Prompt = true, prompt.AgentText(a.Name)
		a.Rules = conf.Tighten(a.Name, permission.Merge(paths, permission.Builtin(a.Name, paths), conf.Permission, nil))
	}
	native := len(agents) // a configuration has each key once: others cannot be meant
	for _, c := range conf.Agents {
		i := slices.IndexFunc(agents[:native], func(a Agent) bool { return a.Name == c.Key })
		switch {
		case c.Disable && i >= 0:
			agents = slices.Delete(agents, i, i+1)
			native--
		case c.Disable:
		case i >= 0:
			agents[i].configure(c, conf, paths)
		default:
			a := Agent{Agent: turn.Agent{Name: c.Key}, Mode: ModeAll, foreign: conf.OnlyUntrusted("agent", c.Key)}
			a.configure(c, conf, paths)
			agents = append(agents, a)
		}
	}
	boundForeign(agents, conf, paths)
	return agents
}

// configure applies an agent's configuration; what it leaves out stays.
func (a *Agent) configure(c config.Agent, conf *config.Config, paths permission.Paths) {
	a.Rules = conf.Tighten(a.Name, permission.Merge(paths, permission.Builtin(a.Name, paths), conf.Permission, c.Permission))
	set(&a.Description, c.Description)
	set(&a.Mode, c.Mode)
	set(&a.Prompt, c.Prompt)
	set(&a.Color, c.Color)
	if c.Hidden != nil {
		a.Hidden = *c.Hidden
	}
	if c.Model != "" {
		a.Model = splitModel(c.Model)
	}
	set(&a.Model.Variant, c.Variant)
	if c.Temperature != nil {
		a.Temperature = c.Temperature
	}
	if c.TopP != nil {
		a.TopP = c.TopP
	}
	if c.Steps > 0 {
		a.Steps = c.Steps
	}
	if len(c.Options) > 0 {
		a.Options = c.Options
	}
}

func set(dst *string, v string) {
	if v != "" {
		*dst = v
	}
}

// splitModel reads "provider/model" or "provider/model#variant".
func splitModel(s string) lathe.ModelRef {
	s, variant, _ := strings.Cut(s, "#")
	p, m, _ := strings.Cut(s, "/")
	return lathe.ModelRef{Provider: p, Model: m, Variant: variant}
}

// Agent returns an agent by name.
func (i *Instance) Agent(name string) (Agent, error) {
	for _, a := range i.Agents {
		if a.Name == name {
			return a, nil
		}
	}
	return Agent{}, lathe.Errorf(lathe.CodeNotFound, "the agents are: "+strings.Join(i.agentNames(), ", "), "there is no agent %q", name)
}

func (i *Instance) agentNames() []string {
	var names []string
	for _, a := range i.Agents {
		if !a.Hidden {
			names = append(names, a.Name)
		}
	}
	return names
}

// PickAgent returns the agent of a prompt: the one asked for, else the session's,
// else the default. A subagent cannot lead a session.
func (i *Instance) PickAgent(asked, last string) (Agent, error) {
	if asked != "" {
		return i.Agent(asked)
	}
	if last != "" {
		if a, err := i.Agent(last); err == nil {
			return a, nil
		}
	}
	return i.defaultAgent()
}

func (i *Instance) defaultAgent() (Agent, error) {
	if name := i.Config.DefaultAgent; name != "" {
		a, err := i.Agent(name)
		switch {
		case err != nil:
			return a, err
		case a.Mode == ModeSubagent:
			return a, lathe.Errorf(lathe.CodeInvalid, "set default_agent to a primary agent", "the default agent %q is a subagent", name)
		case a.Hidden:
			return a, lathe.Errorf(lathe.CodeInvalid, "set default_agent to a visible agent", "the default agent %q is hidden", name)
		}
		return a, nil
	}
	for _, foreign := range []bool{false, true} { // the repository's own only where there is no other
		for _, a := range i.Agents {
			if a.Mode != ModeSubagent && !a.Hidden && a.foreign == foreign {
				return a, nil
			}
		}
	}
	return Agent{}, lathe.Errorf(lathe.CodeInvalid, "enable build or another primary agent", "every primary agent is disabled")
}

// PickModel returns the model of a prompt: the one asked for, else the agent's,
// else the session's, else the default. It can be called, or the error says why not.
func (i *Instance) PickModel(ctx context.Context, asked lathe.ModelRef, a Agent, last lathe.ModelRef) (lathe.ModelRef, error) {
	ref := asked
	for _, r := range []lathe.ModelRef{a.Model, last} {
		if ref.IsZero() && !r.IsZero() {
			variant := ref.Variant
			ref = r
			set(&ref.Variant, variant)
		}
	}
	if ref.IsZero() {
		def, _, err := i.Models.Default(ctx)
		if err != nil {
			return ref, err
		}
		def.Variant = ref.Variant
		ref = def
	}
	m, err := i.Model(ref)
	if err != nil {
		return ref, err
	}
	if ref.Variant != "" {
		if _, ok := m.Variant(ref.Variant); !ok {
			return ref, lathe.Errorf(lathe.CodeNotFound, variantHint(m.Variants), "model %s has no variant %q", ref, ref.Variant)
		}
	}
	return ref, nil
}

func variantHint(variants []catalog.Variant) string {
	if len(variants) == 0 {
		return "it has none"
	}
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	return "it has: " + strings.Join(names, ", ")
}
