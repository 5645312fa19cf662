package instance

import (
	"slices"
	"strings"

	"lathe"
	"lathe/internal/builtin"
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

// Agents are the agents of a directory, and what each of them may do.
type Agents struct {
	all   []Agent
	conf  *config.Config
	paths permission.Paths
}

func newAgents(conf *config.Config, paths permission.Paths) *Agents {
	g := &Agents{all: resolveAgents(conf, paths), conf: conf, paths: paths}
	g.leaveOutLeaders()
	return g
}

// All returns the agents in the order they are listed; it must not be changed.
func (g *Agents) All() []Agent { return g.all }

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
	native := len(agents) // the configuration has each of their keys only once
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

// Get returns an agent by name.
func (g *Agents) Get(name string) (Agent, error) {
	for _, a := range g.all {
		if a.Name == name {
			return a, nil
		}
	}
	return Agent{}, lathe.Errorf(lathe.CodeNotFound, "the agents are: "+strings.Join(g.names(), ", "), "there is no agent %q", name)
}

func (g *Agents) names() []string {
	var names []string
	for _, a := range g.all {
		if !a.Hidden {
			names = append(names, a.Name)
		}
	}
	return names
}

// Pick returns the agent of a prompt: the one asked for, else the session's,
// else the default. A subagent cannot lead a session.
func (g *Agents) Pick(asked, last string) (Agent, error) {
	if asked != "" {
		return g.Get(asked)
	}
	if last != "" {
		if a, err := g.Get(last); err == nil {
			return a, nil
		}
	}
	return g.preferred()
}

func (g *Agents) preferred() (Agent, error) {
	if name := g.conf.DefaultAgent; name != "" {
		a, err := g.Get(name)
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
	for _, foreign := range []bool{false, true} { // the repository's own only if there is no other
		for _, a := range g.all {
			if a.Mode != ModeSubagent && !a.Hidden && a.foreign == foreign {
				return a, nil
			}
		}
	}
	return Agent{}, lathe.Errorf(lathe.CodeInvalid, "enable build or another primary agent", "every primary agent is disabled")
}

// subagents lists what the task tool can start.
func (g *Agents) subagents() []builtin.Subagent {
	var out []builtin.Subagent
	for _, a := range g.all {
		if a.Mode != ModePrimary {
			out = append(out, builtin.Subagent{Name: a.Name, Description: a.Description})
		}
	}
	return out
}

// Delegates reports whether an agent may start subagents.
func (g *Agents) Delegates(agent string) bool {
	a, err := g.Get(agent)
	return err == nil && a.Policy().Action("task", "*") != lathe.Deny
}

// Paths returns the directories that the built-in rules name.
func (g *Agents) Paths() permission.Paths { return g.paths }
