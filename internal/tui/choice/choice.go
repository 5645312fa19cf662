// Package choice is what answers next: the agent and the model, what there is to choose
// from, and the lists to choose in.
package choice

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
)

// Host is what the room has to know about the screen.
type Host interface {
	dialog.Host
	Session() lathe.Session // on screen
	Used() (tokens, window int64)
}

// Choice is what answers next: the agent and the model that the person chose, and
// what there is to choose from.
type Choice struct {
	host   Host
	access *engine.Access
	book   *prefs.Book
	last   bool // take the model of the run before

	models   []api.Model
	agents   []api.Agent
	commands []api.Command
	agent    string         // empty: the session's
	model    lathe.ModelRef // zero: the agent's, the session's or the default one
}

// Listed is what there is to choose from, as far as it has been read.
type Listed struct {
	models   []api.Model
	agents   []api.Agent
	commands []api.Command
	Err      error
}

// Connect asks for the key of a provider.
type Connect struct{}

// ShowModels offers the models, the mark on the first one of a provider.
type ShowModels struct{ Provider string }

// New returns a choice among nothing yet. With last set, the model of the
// previous run is used if nothing names one.
func New(h Host, access *engine.Access, book *prefs.Book, last bool) *Choice {
	return &Choice{host: h, access: access, book: book, last: last}
}

// Begin sets the agent and model that a session begins with; empty ones mean the
// session's own.
func (c *Choice) Begin(agent string, model lathe.ModelRef) { c.agent, c.model = agent, model }

// Chosen returns the agent and the model that the person chose; empty ones mean
// the session's own.
func (c *Choice) Chosen() (agent string, model lathe.ModelRef) { return c.agent, c.model }

// DropAgent goes back to the session's agent.
func (c *Choice) DropAgent() { c.agent = "" }

// Take takes what was read.
func (c *Choice) Take(l Listed) {
	c.models, c.agents, c.commands = l.models, l.agents, l.commands
	c.lastModel()
}

// Commands returns the commands that the engine expands.
func (c *Choice) Commands() []api.Command { return c.commands }

// Subagents returns the agents that can be mentioned.
func (c *Choice) Subagents() (out []api.Agent) {
	for _, g := range c.agents {
		if g.Subagent() {
			out = append(out, g)
		}
	}
	return out
}

// Guide chooses the offline guide, unless it answers anyway.
func (c *Choice) Guide() {
	for _, m := range c.models {
		if m.Ref().Provider == "offline" && c.Current().Provider != "offline" {
			c.model = m.Ref()
		}
	}
}

// Current returns the model that answers next, as far as it is known.
func (c *Choice) Current() lathe.ModelRef {
	if !c.model.IsZero() {
		return c.model
	}
	for _, g := range c.agents {
		if g.Name == c.AgentName() && !g.Model.IsZero() {
			return g.Model
		}
	}
	if !c.host.Session().Model.IsZero() {
		return c.host.Session().Model
	}
	for _, m := range c.models {
		if m.Default {
			return m.Ref()
		}
	}
	return lathe.ModelRef{}
}

func (c *Choice) AgentName() string {
	switch {
	case c.agent != "":
		return c.agent
	case c.host.Session().Agent != "":
		return c.host.Session().Agent
	}
	for _, g := range c.agents {
		if !g.Subagent() {
			return g.Name
		}
	}
	return ""
}

func (c *Choice) ModelInfo(ref lathe.ModelRef) api.Model {
	for _, m := range c.models {
		if m.Ref().Provider == ref.Provider && m.Ref().Model == ref.Model {
			return m
		}
	}
	return api.Model{ProviderID: ref.Provider, ModelID: ref.Model, Variant: ref.Variant}
}

func (c *Choice) CycleAgent(dir int) tea.Msg {
	var names []string
	for _, g := range c.agents {
		if !g.Subagent() {
			names = append(names, g.Name)
		}
	}
	if len(names) > 0 {
		at := slices.Index(names, c.AgentName())
		c.agent = names[(at+dir+len(names))%len(names)]
	}
	return nil
}

// Load reads what there is to choose from.
func (c *Choice) Load() tea.Cmd {
	return c.access.Do(func(ctx context.Context) tea.Msg { return c.Read(ctx) })
}

// Read reads what there is to choose from and returns it.
func (c *Choice) Read(ctx context.Context) Listed {
	var l Listed
	if l.agents, l.Err = c.access.Agents(ctx); l.Err != nil {
		return l
	}
	if l.models, l.Err = c.access.Models(ctx); l.Err != nil {
		return l
	}
	l.commands, l.Err = c.access.Commands(ctx)
	return l
}

func (c *Choice) HasCommand(name string) bool {
	return slices.ContainsFunc(c.commands, func(x api.Command) bool { return x.Name == name })
}

// Guided reports whether nothing but the offline guide can answer.
func (c *Choice) Guided() bool {
	return !slices.ContainsFunc(c.models, func(m api.Model) bool {
		return m.Ref().Provider != "offline" && (m.Ref().Provider != "script" || m.Default) // a script answers if it is configured
	})
}

func (c *Choice) AgentList() tea.Msg {
	l := dialog.List{Title: "agents", Hint: "enter choose"}
	for _, g := range c.agents {
		if !g.Subagent() {
			l.Items = append(l.Items, dialog.Item{ID: g.Name, Title: styled.OneLine(g.Name), Detail: styled.OneLine(g.Description), Current: g.Name == c.AgentName()})
		}
	}
	l.Pick = func(it dialog.Item) tea.Msg { c.agent = it.ID; return nil }
	return dialog.Open{Sheet: dialog.NewList(l)}
}
