package acp

import (
	"context"
	"encoding/json"
	"slices"

	"lathe"
	"lathe/internal/api"
)

// Names of the options of a session.
const (
	optionMode   = "mode"
	optionModel  = "model"
	optionEffort = "effort"
)

// noEffort is the value of the effort that is the model's own.
const noEffort = "default"

// choices is what can be chosen in a conversation, and what has been chosen. The
// conversation's mu guards it.
type choices struct {
	agents  []api.Agent
	models  []api.Model
	agent   string
	model   lathe.ModelRef
	picked  bool // the model was chosen here, so it is sent with each prompt
	variant string
}

// read finds out what there is to choose from, and the defaults.
func (c *choices) read(ctx context.Context, t *conversation) error {
	agents, err := t.c.Agents(ctx)
	if err != nil {
		return err
	}
	models, err := t.c.Models(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.models = models
	c.agents = slices.DeleteFunc(slices.Clone(agents), func(a api.Agent) bool { return a.Hidden || a.Subagent() })
	if c.agent == "" {
		c.agent = c.leader(ctx, t)
	}
	c.variant = c.model.Variant
	if c.model.IsZero() {
		for _, m := range models {
			if m.Default {
				c.model = lathe.ModelRef{Provider: m.ProviderID, Model: m.ModelID}
			}
		}
	}
	return nil
}

// leader returns the agent that is used if none was chosen.
func (c *choices) leader(ctx context.Context, t *conversation) string {
	var conf struct {
		Agent string `json:"default_agent"`
	}
	if raw, err := t.c.Settings(ctx); err == nil {
		_ = json.Unmarshal(raw, &conf) // without it the first agent leads
	}
	for _, a := range c.agents {
		if a.Name == conf.Agent {
			return a.Name
		}
	}
	if len(c.agents) > 0 {
		return c.agents[0].Name
	}
	return ""
}

// ref is the model that a prompt names: none if the session's own is used.
func (c *choices) ref() lathe.ModelRef {
	if !c.picked {
		return lathe.ModelRef{}
	}
	ref := c.model
	ref.Variant = c.variant
	return ref
}

func (c *choices) response() sessionResponse {
	out := sessionResponse{ConfigOptions: c.options()}
	if len(c.agents) > 0 {
		out.Modes = &modes{Current: c.agent}
		for _, a := range c.agents {
			out.Modes.Available = append(out.Modes.Available, mode{a.Name, a.Name, a.Description})
		}
	}
	return out
}

// options returns the choices in the protocol's format.
func (c *choices) options() []configOption {
	out := []configOption{}
	if len(c.agents) > 0 {
		o := configOption{ID: optionMode, Name: "Agent", Category: "mode", Type: "select", Current: c.agent}
		for _, a := range c.agents {
			o.Options = append(o.Options, configChoice{Value: a.Name, Name: a.Name, Description: a.Description})
		}
		out = append(out, o)
	}
	if len(c.models) == 0 {
		return out
	}
	o := configOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", Current: c.model.String()}
	listed := false
	for _, m := range c.models {
		ref := m.ProviderID + "/" + m.ModelID
		listed = listed || ref == o.Current
		name := m.Name
		if name == "" {
			name = m.ModelID
		}
		o.Options = append(o.Options, configChoice{Value: ref, Name: name, Description: m.ProviderID})
	}
	if !listed {
		o.Options = append([]configChoice{{Value: o.Current, Name: o.Current}}, o.Options...)
	}
	out = append(out, o)
	if variants := c.variants(); len(variants) > 0 {
		o := configOption{ID: optionEffort, Name: "Effort", Category: "thought_level", Type: "select", Current: c.variant, Options: []configChoice{{Value: noEffort, Name: "default"}}}
		if o.Current == "" {
			o.Current = noEffort
		}
		for _, v := range variants {
			o.Options = append(o.Options, configChoice{Value: v, Name: v})
		}
		out = append(out, o)
	}
	return out
}

// variants returns those of the model that is chosen.
func (c *choices) variants() []string {
	for _, m := range c.models {
		if m.ProviderID == c.model.Provider && m.ModelID == c.model.Model {
			return m.Variants
		}
	}
	return nil
}

// window returns the size of a model's window in tokens, or 0 when it is not known.
func (t *conversation) window(ref lathe.ModelRef) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.chosen.models {
		if m.ProviderID == ref.Provider && m.ModelID == ref.Model {
			return int64(m.Context)
		}
	}
	return 0
}

func (a *agent) setMode(_ context.Context, p struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}) (struct{}, error) {
	t, err := a.opened(p.SessionID)
	if err != nil {
		return struct{}{}, err
	}
	_, err = t.choose(optionMode, p.ModeID)
	return struct{}{}, err
}

func (a *agent) setOption(_ context.Context, p struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     any    `json:"value"`
}) (configResponse, error) {
	t, err := a.opened(p.SessionID)
	if err != nil {
		return configResponse{}, err
	}
	value, ok := p.Value.(string)
	if !ok {
		return configResponse{}, invalid("the value of %s is a text", p.ConfigID)
	}
	options, err := t.choose(p.ConfigID, value)
	return configResponse{options}, err
}

type configResponse struct {
	Options []configOption `json:"configOptions"`
}

// choose sets an option and returns all of them.
func (t *conversation) choose(option, value string) ([]configOption, error) {
	t.mu.Lock()
	err := t.chosen.set(option, value)
	options := t.chosen.options()
	t.mu.Unlock()
	if err == nil && option == optionMode {
		t.a.notify(t.id, modeUpdate{"current_mode_update", value})
	}
	return options, err
}

func (c *choices) set(option, value string) error {
	switch option {
	case optionMode:
		if !slices.ContainsFunc(c.agents, func(a api.Agent) bool { return a.Name == value }) {
			return invalid("there is no agent %q", value)
		}
		c.agent = value
	case optionModel:
		i := slices.IndexFunc(c.models, func(m api.Model) bool { return m.ProviderID+"/"+m.ModelID == value })
		if i < 0 {
			return invalid("the model %q cannot be used", value)
		}
		c.model = lathe.ModelRef{Provider: c.models[i].ProviderID, Model: c.models[i].ModelID}
		c.picked = true
		if !slices.Contains(c.models[i].Variants, c.variant) {
			c.variant = ""
		}
	case optionEffort:
		if value == noEffort {
			value = ""
		} else if !slices.Contains(c.variants(), value) {
			return invalid("the model has no effort %q", value)
		}
		c.variant, c.picked = value, true
	default:
		return invalid("there is no option %q", option)
	}
	return nil
}

// led notes that the engine gave the session to another agent, as when a plan
// is carried out.
func (t *conversation) led(agent string) {
	t.mu.Lock()
	known := slices.ContainsFunc(t.chosen.agents, func(a api.Agent) bool { return a.Name == agent })
	changed := known && agent != t.chosen.agent
	if changed {
		t.chosen.agent = agent
	}
	options := t.chosen.options()
	t.mu.Unlock()
	if changed {
		t.a.notify(t.id, modeUpdate{"current_mode_update", agent})
		t.a.notify(t.id, configUpdate{"config_option_update", options})
	}
}
