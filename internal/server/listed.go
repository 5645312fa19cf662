package server

import (
	"encoding/json"

	"lathe/internal/api"
	"lathe/internal/instance"
	"lathe/internal/provider"
	"lathe/internal/terminal"
	"lathe/internal/tool"
)

// What follows describes the engine's choices in the types of package api.

func listedProviders(all []*provider.Provider) []api.ListedProvider {
	out := make([]api.ListedProvider, len(all))
	for i, p := range all {
		out[i] = instance.ListedProvider(p)
	}
	return out
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
