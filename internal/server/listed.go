package server

import (
	"encoding/json"

	"lathe/internal/api"
	"lathe/internal/catalog"
	"lathe/internal/instance"
	"lathe/internal/provider"
	"lathe/internal/terminal"
	"lathe/internal/tool"
)

// What follows describes the engine's choices in the types of package api.

func listedProviders(all []*provider.Provider) []api.ListedProvider {
	out := make([]api.ListedProvider, len(all))
	for i, p := range all {
		out[i] = listedProvider(p)
	}
	return out
}

func listedProvider(p *provider.Provider) api.ListedProvider {
	out := api.ListedProvider{ID: p.ID, Name: p.Name, Source: p.Source, Env: p.Env, NPM: p.NPM, URL: p.API, Models: make([]api.ListedModel, len(p.Models))}
	for i, m := range p.Models {
		out.Models[i] = listedModel(m)
	}
	return out
}

func listedModel(m *provider.Model) api.ListedModel {
	out := api.ListedModel{
		Ref: m.Ref, APIID: m.APIID, Name: m.Name, Family: m.Family, Released: m.Released, Status: m.Status, NPM: m.NPM, URL: m.URL,
		Context: m.Limit.Context, Input: m.Limit.Input, Output: m.Limit.Output, Price: m.Price.Prices, PriceOver200K: m.Price.Over200K,
		Abilities: api.Abilities{
			Temperature: m.Caps.Temperature, Reasoning: m.Caps.Reasoning, Attachment: m.Caps.Attachment, ToolCall: m.Caps.ToolCall,
			Takes: kindsOf(m.Caps.Input), Gives: kindsOf(m.Caps.Output), Interleaved: m.Caps.Interleaved,
		},
	}
	for _, v := range m.Variants {
		out.Variants = append(out.Variants, api.Variant(v))
	}
	return out
}

func kindsOf(m catalog.Modality) api.Kinds {
	return api.Kinds{
		Text: m.Has(catalog.Text), Audio: m.Has(catalog.Audio), Image: m.Has(catalog.Image),
		Video: m.Has(catalog.Video), PDF: m.Has(catalog.PDF),
	}
}

func listedAgents(all []instance.Agent) []api.Agent {
	out := make([]api.Agent, len(all))
	for i, a := range all {
		out[i] = api.Agent{
			Name: a.Name, Description: a.Description, Mode: a.Mode, Native: a.Native, Hidden: a.Hidden, Color: a.Color, Model: a.Model,
			Prompt: a.Prompt, Rules: a.Rules, Temperature: a.Temperature, TopP: a.TopP, Options: a.Options, Steps: a.Steps,
		}
	}
	return out
}

func listedCommands(all []instance.Command) []api.Command {
	out := make([]api.Command, len(all))
	for i, c := range all {
		out[i] = api.Command{
			Name: c.Name, Description: c.Description, Agent: c.Agent, Model: c.Model, Template: c.Template, Subtask: c.Subtask,
			Source: c.Source, Hints: c.Hints(),
		}
	}
	return out
}

func listedSkills(all []instance.Skill) []api.Skill {
	out := make([]api.Skill, len(all))
	for i, s := range all {
		out[i] = api.Skill{Name: s.Name, Description: s.Description, Path: s.File}
	}
	return out
}

// listedTools returns tools with their schemas in the form that schema says a model is given.
func listedTools(all []tool.Spec, schema func(json.RawMessage) json.RawMessage) []api.Tool {
	out := make([]api.Tool, len(all))
	for i, s := range all {
		out[i] = api.Tool{Name: s.Name, Description: s.Description, Schema: schema(s.Schema)}
	}
	return out
}

func listedTerminal(t terminal.Info) api.Terminal {
	return api.Terminal{ID: t.ID, Title: t.Title, Command: t.Command, Args: t.Args, Dir: t.Dir, PID: t.PID, Exited: t.Exited, Code: t.Code}
}

func listedTerminals(all []terminal.Info) []api.Terminal {
	out := make([]api.Terminal, len(all))
	for i, t := range all {
		out[i] = listedTerminal(t)
	}
	return out
}
