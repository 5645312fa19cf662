package instance

import (
	"slices"

	"lathe/internal/config"
	"lathe/internal/permission"
	"lathe/internal/turn"
)

// Policy is what an agent is judged by outside a session.
func (a Agent) Policy() permission.Policy { return PolicyOf(a.Agent) }

func PolicyOf(a turn.Agent) permission.Policy {
	return permission.Policy{Rules: a.Rules, Ceilings: a.Ceilings}
}

// boundForeign puts agents that only an untrusted repository defines under the
// person's default agent: they may do what it may, and nothing more.
func boundForeign(agents []Agent, conf *config.Config, paths permission.Paths) {
	ceiling := personsDefault(agents, conf, paths).Policy()
	for i := range agents {
		if agents[i].foreign {
			agents[i].Ceilings = permission.Policy{}.Below(ceiling).Ceilings
		}
	}
}

// personsDefault returns the agent that leads when no agent is named, regardless
// of what an untrusted repository defines. If there is none it is build, as if
// that were enabled.
func personsDefault(agents []Agent, conf *config.Config, paths permission.Paths) Agent {
	leads := func(a Agent) bool { return !a.foreign && !a.Hidden && a.Mode != ModeSubagent }
	i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == conf.DefaultAgent && leads(a) })
	if i < 0 {
		i = slices.IndexFunc(agents, leads)
	}
	if i >= 0 {
		return agents[i]
	}
	a := Agent{Agent: turn.Agent{Name: "build"}}
	a.Rules = conf.Tighten(a.Name, permission.Merge(paths, permission.Builtin(a.Name, paths), conf.Permission, nil))
	return a
}

// Persons returns the agent that leads when no agent is named, regardless of
// what an untrusted repository defines.
func (g *Agents) Persons() Agent { return personsDefault(g.all, g.conf, g.paths) }

// MayLead reports whether a command of an untrusted repository may make an agent
// lead the session. The session stays with that agent afterwards, so it must be
// one that may do no more than the person's default: the default itself, one of
// the repository's own, or the built-in plan if build is the default and the
// person gave neither of them rules.
func (g *Agents) MayLead(a Agent) bool {
	def := g.Persons()
	if a.foreign || a.Name == def.Name {
		return true
	}
	plain := func(name string) bool {
		c := g.conf.Agent(name)
		return c == nil || len(c.Permission) == 0
	}
	return a.Name == "plan" && a.Native && def.Name == "build" && plain("plan") && plain("build")
}

// leaveOutLeaders says which commands of an untrusted repository name an agent
// that they may not choose, and takes the name out of them.
func (g *Agents) leaveOutLeaders() {
	for j := range g.conf.Commands {
		c := &g.conf.Commands[j]
		if !g.conf.Untrusted("command", c.Name) || c.Agent == "" {
			continue
		}
		a, err := g.Get(c.Agent)
		if err != nil || (Command{Subtask: c.Subtask}).InSubagent(a) || g.MayLead(a) {
			continue
		}
		g.conf.LeftOut = append(g.conf.LeftOut, config.LeftOut{
			Path: "command." + c.Name + ".agent", Pos: c.Pos, Reason: "the agent may do other things than your default agent",
		})
		c.Agent = ""
	}
}
