package wire

import (
	"encoding/json"

	"lathe"
	"lathe/internal/api"
)

type providerInfo struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	Source  string              `json:"source"`
	Env     []string            `json:"env"`
	Options map[string]any      `json:"options"`
	Models  map[string]modelOut `json:"models"`
}

type modelOut struct {
	ID           string                    `json:"id"`
	ProviderID   string                    `json:"providerID"`
	API          modelAPI                  `json:"api"`
	Name         string                    `json:"name"`
	Family       string                    `json:"family"`
	Capabilities capabilities              `json:"capabilities"`
	Cost         modelCost                 `json:"cost"`
	Limit        modelLimit                `json:"limit"`
	Status       string                    `json:"status"`
	Options      map[string]any            `json:"options"`
	Headers      map[string]string         `json:"headers"`
	ReleaseDate  string                    `json:"release_date"`
	Variants     map[string]map[string]any `json:"variants"`
}

type modelAPI struct {
	ID  string `json:"id"`
	URL string `json:"url"`
	NPM string `json:"npm"`
}

type capabilities struct {
	Temperature bool  `json:"temperature"`
	Reasoning   bool  `json:"reasoning"`
	Attachment  bool  `json:"attachment"`
	Toolcall    bool  `json:"toolcall"`
	Input       kinds `json:"input"`
	Output      kinds `json:"output"`
	Interleaved any   `json:"interleaved"`
}

type kinds struct {
	Text  bool `json:"text"`
	Audio bool `json:"audio"`
	Image bool `json:"image"`
	Video bool `json:"video"`
	PDF   bool `json:"pdf"`
}

type modelCost struct {
	Input    dollars    `json:"input"`
	Output   dollars    `json:"output"`
	Cache    cacheCost  `json:"cache"`
	Over200K *modelCost `json:"experimentalOver200K,omitempty"`
}

type cacheCost struct {
	Read  dollars `json:"read"`
	Write dollars `json:"write"`
}

type modelLimit struct {
	Context int `json:"context"`
	Input   int `json:"input,omitempty"`
	Output  int `json:"output"`
}

// EncodeProvider returns a provider with its models. No key, header or option
// that may hold one is part of it.
func EncodeProvider(p api.ListedProvider) any {
	out := providerInfo{
		ID: p.ID, Name: p.Name, Source: source(p.Source), Env: list(p.Env), Options: map[string]any{},
		Models: map[string]modelOut{},
	}
	for i := range p.Models {
		m := &p.Models[i]
		out.Models[m.Ref.Model] = encodeListed(m)
	}
	return out
}

// EncodeModel returns a model as it stands in its provider.
func EncodeModel(m api.ListedModel) any { return encodeListed(&m) }

// EncodeProviders returns a list of them.
func EncodeProviders(all []api.ListedProvider) any {
	out := make([]any, 0, len(all))
	for _, p := range all {
		out = append(out, EncodeProvider(p))
	}
	return out
}

func source(s string) string {
	switch s {
	case "env", "config", "api":
		return s
	}
	return "custom"
}

func encodeListed(m *api.ListedModel) modelOut {
	can := &m.Abilities
	out := modelOut{
		ID: m.Ref.Model, ProviderID: m.Ref.Provider, API: modelAPI{ID: m.APIID, URL: m.URL, NPM: m.NPM},
		Name: m.Name, Family: m.Family, Status: modelStatus(m.Status), ReleaseDate: m.Released,
		Capabilities: capabilities{
			Temperature: can.Temperature, Reasoning: can.Reasoning, Attachment: can.Attachment, Toolcall: can.ToolCall,
			Input: kinds(can.Takes), Output: kinds(can.Gives), Interleaved: interleaved(can.Interleaved),
		},
		Cost:    encodePrices(m.Price),
		Limit:   modelLimit{m.Context, m.Input, m.Output},
		Options: map[string]any{}, Headers: map[string]string{}, Variants: map[string]map[string]any{},
	}
	if over := m.PriceOver200K; over != nil {
		out.Cost.Over200K = new(encodePrices(*over))
	}
	for _, v := range m.Variants {
		out.Variants[v.Name] = object(v.Options)
	}
	return out
}

func modelStatus(s string) string {
	switch s {
	case "alpha", "beta", "deprecated":
		return s
	}
	return "active"
}

func interleaved(field string) any {
	switch field {
	case "":
		return false
	case "reasoning_content", "reasoning_details":
		return map[string]string{"field": field}
	}
	return true
}

// encodePrices says prices as dollars for a million tokens.
func encodePrices(p lathe.Prices) modelCost {
	usd := func(v lathe.Price) dollars { return dollars(float64(v) / 1e6) }
	return modelCost{Input: usd(p.Input), Output: usd(p.Output), Cache: cacheCost{Read: usd(p.CacheRead), Write: usd(p.CacheWrite)}}
}

type agentOut struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Mode        string         `json:"mode"`
	Native      bool           `json:"native,omitempty"`
	Hidden      bool           `json:"hidden,omitempty"`
	TopP        *float64       `json:"topP,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Color       string         `json:"color,omitempty"`
	Permission  []rule         `json:"permission"`
	Model       *model         `json:"model,omitempty"`
	Variant     string         `json:"variant,omitempty"`
	Prompt      string         `json:"prompt,omitempty"`
	Options     map[string]any `json:"options"`
	Steps       int            `json:"steps,omitempty"`
}

// EncodeAgents returns the agents, hidden ones too.
func EncodeAgents(agents []api.Agent) any {
	out := make([]agentOut, 0, len(agents))
	for _, a := range agents {
		e := agentOut{
			Name: a.Name, Description: a.Description, Mode: a.Mode, Native: a.Native, Hidden: a.Hidden,
			TopP: a.TopP, Temperature: a.Temperature, Color: a.Color, Permission: []rule{}, Variant: a.Model.Variant,
			Prompt: a.Prompt, Options: object(a.Options), Steps: a.Steps,
		}
		for _, r := range a.Rules {
			e.Permission = append(e.Permission, known(r))
		}
		if !a.Model.IsZero() {
			e.Model = new(encodeModel(a.Model))
		}
		out = append(out, e)
	}
	return out
}

// DecodeAgents reads what [EncodeAgents] wrote.
func DecodeAgents(data []byte) ([]api.Agent, error) {
	return decodeList(data, func(raw []byte) (api.Agent, error) {
		var in agentOut
		if err := json.Unmarshal(raw, &in); err != nil {
			return api.Agent{}, err
		}
		a := api.Agent{
			Name: in.Name, Description: in.Description, Mode: in.Mode, Native: in.Native, Hidden: in.Hidden, Color: in.Color,
			Prompt: in.Prompt, Temperature: in.Temperature, TopP: in.TopP, Options: in.Options, Steps: in.Steps,
		}
		if in.Model != nil {
			a.Model = in.Model.decode(in.Variant)
		}
		for _, r := range in.Permission {
			a.Rules = append(a.Rules, lathe.Rule(r))
		}
		return a, nil
	})
}

type commandOut struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Agent       string   `json:"agent,omitempty"`
	Model       string   `json:"model,omitempty"`
	Template    string   `json:"template"`
	Subtask     *bool    `json:"subtask,omitempty"`
	Source      string   `json:"source"`
	Hints       []string `json:"hints"`
}

// EncodeCommands returns slash commands.
func EncodeCommands(commands []api.Command) any {
	out := make([]commandOut, 0, len(commands))
	for _, c := range commands {
		out = append(out, commandOut{
			Name: c.Name, Description: c.Description, Agent: c.Agent, Model: c.Model, Template: c.Template,
			Subtask: c.Subtask, Source: source18(c.Source), Hints: list(c.Hints),
		})
	}
	return out
}

// source18 names where a command comes from as 1.18 does.
func source18(s string) string {
	if s == "skill" {
		return s
	}
	return "command"
}

type skillOut struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Location    string `json:"location"`
}

// EncodeSkills returns skills.
func EncodeSkills(skills []api.Skill) any {
	out := make([]skillOut, 0, len(skills))
	for _, s := range skills {
		out = append(out, skillOut{s.Name, s.Description, s.Path})
	}
	return out
}

type toolOut struct {
	ID          string          `json:"id"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// EncodeTools returns the tools with their schemas as a model is given them.
func EncodeTools(all []api.Tool) any {
	out := make([]toolOut, 0, len(all))
	for _, t := range all {
		out = append(out, toolOut{t.Name, t.Description, t.Schema})
	}
	return out
}

type ptyOut struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	Status  string   `json:"status"`
	PID     int      `json:"pid"`
}

// EncodePTY returns a terminal.
func EncodePTY(t api.Terminal) any {
	status := "running"
	if t.Exited {
		status = "exited"
	}
	return ptyOut{t.ID, t.Title, t.Command, list(t.Args), t.Dir, status, t.PID}
}

// EncodePTYs returns a list of them.
func EncodePTYs(all []api.Terminal) any {
	out := make([]any, 0, len(all))
	for _, t := range all {
		out = append(out, EncodePTY(t))
	}
	return out
}

// EncodePTYEvent returns the event of a terminal's change: "created", "updated",
// "exited" or "deleted".
func EncodePTYEvent(change string, t api.Terminal) lathe.ClientEvent {
	var props any
	switch change {
	case "exited":
		props = struct {
			ID   string `json:"id"`
			Code int    `json:"exitCode"`
		}{t.ID, t.Code}
	case "deleted":
		props = struct {
			ID string `json:"id"`
		}{t.ID}
	default:
		props = struct {
			Info any `json:"info"`
		}{EncodePTY(t)}
	}
	b, err := Marshal(props)
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return lathe.ClientEvent{Type: "pty." + change, Properties: b}
}

// EncodeStatuses returns what sessions do, by session.
func EncodeStatuses(all map[lathe.SessionID]lathe.Status) map[string]any {
	out := make(map[string]any, len(all))
	for id, st := range all {
		out[string(id)] = EncodeStatus(st)
	}
	return out
}
