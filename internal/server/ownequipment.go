package server

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/provider"
)

// gear answers what lathe's own faces ask about a directory's equipment.
type gear struct{ *call }

func gearRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/agent", on(gear.agents), ""},
		{http.MethodPost, "/lathe/agent/draft", on(gear.draftAgent), ""},
		{http.MethodGet, "/lathe/command", on(gear.commands), ""},
		{http.MethodGet, "/lathe/config/effective", on(gear.config), ""},
		{http.MethodGet, "/lathe/catalog", on(gear.catalog), ""},
		{http.MethodPost, "/lathe/catalog/refresh", on(gear.refresh), ""},
	}
}

// agents lists agents, hidden ones too, with the rules that hold for them.
func (c gear) agents() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := []api.RuledAgent{}
	for _, a := range inst.Agents.All() {
		r := api.RuledAgent{Name: a.Name, Description: a.Description, Mode: a.Mode, Hidden: a.Hidden, Capped: len(a.Ceilings) > 0, Rules: []api.SourcedRule{}}
		if !a.Model.IsZero() {
			r.Model = a.Model.String()
		}
		for _, rule := range inst.Agents.Rules(a) {
			r.Rules = append(r.Rules, api.SourcedRule{Permission: rule.Permission, Pattern: rule.Pattern, Action: rule.Action, Source: rule.Source})
		}
		out = append(out, r)
	}
	return out, nil
}

// draftAgent lets a model design an agent.
func (c gear) draftAgent() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	var in struct{ Description, Model string }
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return c.s.opts.Service.Designs.Agent(c.ctx(), dir, in.Model, in.Description)
}

func (c gear) commands() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := []api.NamedCommand{}
	for _, cmd := range inst.Commands.All() {
		out = append(out, api.NamedCommand{Name: cmd.Name, Description: cmd.Description, Source: cmd.Source, File: cmd.File, Hints: cmd.Hints()})
	}
	return out, nil
}

// config answers the configuration that holds, with the origin of each value.
func (c gear) config() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	conf := inst.Config
	out := api.Config{Values: conf.JSON(), Origins: []api.Origin{}, Sources: []api.ConfigSource{}, Warnings: []string{}, LeftOut: leftOut(conf.LeftOut)}
	for _, o := range conf.Origins() {
		out.Origins = append(out.Origins, api.Origin{Path: o.Path, Where: o.Pos.String(), Trust: string(o.Trust)})
	}
	for _, s := range conf.Sources {
		out.Sources = append(out.Sources, api.ConfigSource{Name: s.Name, Trust: string(s.Trust)})
	}
	for _, w := range conf.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	return out, nil
}

func leftOut(list []config.LeftOut) []api.LeftOut {
	out := []api.LeftOut{}
	for _, l := range list {
		out = append(out, api.LeftOut{Path: l.Path, Where: l.Pos.String(), Reason: l.Reason})
	}
	return out
}

// catalog lists models, of a provider or of all, connected or not.
func (c gear) catalog() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	f := api.ModelFilter{Provider: c.query("provider"), All: c.query("all") == "true", Details: c.query("details") == "true"}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	list, err := models.Models(f.Provider, f.All)
	if err != nil {
		return nil, err
	}
	def, _, _ := models.Default(c.ctx()) // without one none is marked
	out := api.ModelList{Models: make([]api.ModelEntry, 0, len(list)), Unusable: []api.Unusable{}}
	for _, m := range list {
		e := api.ModelEntry{Ref: m.Ref.String(), Default: m.Ref.Provider == def.Provider && m.Ref.Model == def.Model}
		if f.Details {
			e.Details = detail(m)
		}
		out.Models = append(out.Models, e)
	}
	for _, l := range models.UnusableLogins() {
		if f.All || f.Provider == l.Provider {
			out.Unusable = append(out.Unusable, api.Unusable{Provider: l.Provider, Why: l.Why})
		}
	}
	return out, nil
}

func detail(m *provider.Model) *api.ModelDetail {
	dollars := func(p lathe.Price) float64 { return float64(p) / 1e6 }
	prices := m.Price.For(0)
	out := &api.ModelDetail{
		ID: m.Ref.String(), Name: m.Name, APIID: m.APIID, Protocol: string(m.Protocol), Status: m.Status, Released: m.Released,
		Limit:     api.ModelLimit{Context: m.Limit.Context, Input: m.Limit.Input, Output: m.Limit.Output},
		Cost:      api.ModelPrices{Input: dollars(prices.Input), Output: dollars(prices.Output), CacheRead: dollars(prices.CacheRead), CacheWrite: dollars(prices.CacheWrite)},
		Reasoning: m.Caps.Reasoning, Tools: m.Caps.ToolCall, Attachments: m.Caps.Attachment, Input: m.Caps.Input.List(), Variants: []string{},
	}
	for _, v := range m.Variants {
		out.Variants = append(out.Variants, v.Name)
	}
	return out
}

// refresh fetches the newest catalogue.
func (c gear) refresh() (any, error) {
	if c.s.opts.Refresh == nil {
		return nil, &unsupported{"refreshing the catalogue here"}
	}
	if err := c.s.opts.Refresh(context.WithoutCancel(c.ctx())); err != nil {
		return nil, lathe.Errorf(lathe.CodeProvider, "check the network; the catalogue that is there stays in use", "refresh the catalogue: %v", err)
	}
	return true, nil
}
