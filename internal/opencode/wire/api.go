package wire

import (
	"time"

	"lathe"
	"lathe/internal/api"
)

// The shapes of the /api routes of 1.18: what its screen reads besides the
// routes of 1.1, with other names for the same things.

// Location is where an answer of the /api routes is about.
type Location struct {
	Directory string          `json:"directory"`
	Project   LocationProject `json:"project"`
}

// LocationProject is the project of a [Location].
type LocationProject struct {
	ID        string `json:"id"`
	Directory string `json:"directory"`
}

// Located is a list of things with their place.
type Located struct {
	Location Location `json:"location"`
	Data     any      `json:"data"`
}

// APISession is a session as /api says it.
type APISession struct {
	ID        lathe.SessionID `json:"id"`
	ParentID  lathe.SessionID `json:"parentID,omitempty"`
	ProjectID string          `json:"projectID"`
	Agent     string          `json:"agent,omitempty"`
	Model     *apiModelRef    `json:"model,omitempty"`
	Cost      dollars         `json:"cost"`
	Tokens    tokens          `json:"tokens"`
	Time      apiTime         `json:"time"`
	Title     string          `json:"title"`
	Location  apiPlace        `json:"location"`
}

type apiTime struct {
	Created  int64 `json:"created"`
	Updated  int64 `json:"updated"`
	Archived int64 `json:"archived,omitempty"`
}

type apiPlace struct {
	Directory string `json:"directory"`
}

type apiModelRef struct {
	ID         string `json:"id"`
	ProviderID string `json:"providerID"`
	Variant    string `json:"variant,omitempty"`
}

func apiModelOf(ref lathe.ModelRef) *apiModelRef {
	if ref.IsZero() {
		return nil
	}
	return &apiModelRef{ID: ref.Model, ProviderID: ref.Provider, Variant: ref.Variant}
}

// EncodeAPISession returns a session.
func EncodeAPISession(s lathe.Session) APISession {
	out := APISession{
		ID: s.ID, ParentID: s.ParentID, ProjectID: s.ProjectID, Agent: s.Agent, Cost: encodeMoney(s.Cost), Tokens: encodeTokens(s.Tokens),
		Time: apiTime{Created: s.Created.UnixMilli(), Updated: s.Updated.UnixMilli()}, Title: s.Title, Location: apiPlace{s.Directory},
	}
	if old := encodeSession(&s); old.Model != nil {
		out.Model = &apiModelRef{ID: old.Model.ID, ProviderID: old.Model.ProviderID, Variant: old.Model.Variant}
	}
	if !s.Archived.IsZero() {
		out.Time.Archived = s.Archived.UnixMilli()
	}
	return out
}

type globalSession struct {
	session
	Project *projectName `json:"project"`
}

type projectName struct {
	ID       string `json:"id"`
	Name     string `json:"name,omitempty"`
	Worktree string `json:"worktree"`
}

// EncodeGlobalSessions returns sessions with the projects that they belong to.
func EncodeGlobalSessions(all []lathe.Session, projects []lathe.Project) any {
	names := map[string]*projectName{}
	for _, p := range projects {
		names[p.ID] = &projectName{p.ID, p.Name, p.Worktree}
	}
	out := make([]globalSession, 0, len(all))
	for i := range all {
		out = append(out, globalSession{*encodeSession(&all[i]), names[all[i].ProjectID]})
	}
	return out
}

type apiRequest struct {
	Headers struct{} `json:"headers"`
	Body    struct{} `json:"body"`
}

type apiRule struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
	Effect   string `json:"effect"`
}

type apiAgent struct {
	ID          string       `json:"id"`
	Model       *apiModelRef `json:"model,omitempty"`
	Request     apiRequest   `json:"request"`
	System      string       `json:"system,omitempty"`
	Description string       `json:"description,omitempty"`
	Mode        string       `json:"mode"`
	Hidden      bool         `json:"hidden"`
	Color       string       `json:"color,omitempty"`
	Steps       int          `json:"steps,omitempty"`
	Permissions []apiRule    `json:"permissions"`
}

// EncodeAPIAgents returns the agents, hidden ones too.
func EncodeAPIAgents(agents []api.Agent) any {
	out := make([]apiAgent, 0, len(agents))
	for _, a := range agents {
		e := apiAgent{
			ID: a.Name, Model: apiModelOf(a.Model), System: a.Prompt, Description: a.Description, Mode: a.Mode, Hidden: a.Hidden,
			Color: a.Color, Steps: a.Steps, Permissions: []apiRule{},
		}
		for _, r := range a.Rules {
			in := known(r)
			e.Permissions = append(e.Permissions, apiRule{Action: in.Permission, Resource: in.Pattern, Effect: string(in.Action)})
		}
		out = append(out, e)
	}
	return out
}

// apiAddress has no settings and no headers: those may hold keys.
type apiAddress struct {
	ID       string   `json:"id,omitempty"`
	Type     string   `json:"type"`
	Package  string   `json:"package"`
	URL      string   `json:"url,omitempty"`
	Settings struct{} `json:"settings"`
}

type apiProvider struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	API     apiAddress `json:"api"`
	Request apiRequest `json:"request"`
}

// EncodeAPIProvider returns a provider without its models.
func EncodeAPIProvider(p api.ListedProvider) any {
	return apiProvider{ID: p.ID, Name: p.Name, API: apiAddress{Type: "aisdk", Package: p.NPM, URL: p.URL}}
}

type apiModel struct {
	ID           string          `json:"id"`
	ProviderID   string          `json:"providerID"`
	Family       string          `json:"family,omitempty"`
	Name         string          `json:"name"`
	API          apiAddress      `json:"api"`
	Capabilities apiCapabilities `json:"capabilities"`
	Request      apiRequest      `json:"request"`
	Variants     []apiVariant    `json:"variants"`
	Time         apiReleased     `json:"time"`
	Cost         []modelCost     `json:"cost"`
	Status       string          `json:"status"`
	Enabled      bool            `json:"enabled"`
	Limit        modelLimit      `json:"limit"`
}

type apiCapabilities struct {
	Tools  bool     `json:"tools"`
	Input  []string `json:"input"`
	Output []string `json:"output"`
}

type apiVariant struct {
	ID string `json:"id"`
	apiRequest
}

type apiReleased struct {
	Released int64 `json:"released"`
}

// EncodeAPIModels returns the models of providers.
func EncodeAPIModels(all []api.ListedProvider) any {
	out := []apiModel{}
	for _, p := range all {
		for i := range p.Models {
			out = append(out, encodeAPIModel(&p.Models[i]))
		}
	}
	return out
}

func encodeAPIModel(m *api.ListedModel) apiModel {
	price := encodePrices(m.Price)
	out := apiModel{
		ID: m.Ref.Model, ProviderID: m.Ref.Provider, Family: m.Family, Name: m.Name,
		API:          apiAddress{ID: m.APIID, Type: "aisdk", Package: m.NPM, URL: m.URL},
		Capabilities: apiCapabilities{Tools: m.Abilities.ToolCall, Input: kindNames(m.Abilities.Takes), Output: kindNames(m.Abilities.Gives)},
		Variants:     []apiVariant{}, Cost: []modelCost{price}, Status: modelStatus(m.Status), Enabled: true,
		Limit: modelLimit{m.Context, m.Input, m.Output},
	}
	if day, err := time.Parse(time.DateOnly, m.Released); err == nil {
		out.Time.Released = day.UnixMilli()
	}
	for _, v := range m.Variants {
		out.Variants = append(out.Variants, apiVariant{ID: v.Name})
	}
	return out
}

func kindNames(k api.Kinds) []string {
	out := []string{}
	for _, one := range []struct {
		is   bool
		name string
	}{{k.Text, "text"}, {k.Audio, "audio"}, {k.Image, "image"}, {k.Video, "video"}, {k.PDF, "pdf"}} {
		if one.is {
			out = append(out, one.name)
		}
	}
	return out
}

type apiCommand struct {
	Name        string       `json:"name"`
	Template    string       `json:"template"`
	Description string       `json:"description,omitempty"`
	Agent       string       `json:"agent,omitempty"`
	Model       *apiModelRef `json:"model,omitempty"`
	Subtask     bool         `json:"subtask,omitempty"`
}

// EncodeAPICommands returns the commands. parse reads the names of models.
func EncodeAPICommands(all []api.Command, parse func(string) (lathe.ModelRef, error)) any {
	out := make([]apiCommand, 0, len(all))
	for _, c := range all {
		e := apiCommand{Name: c.Name, Template: c.Template, Description: c.Description, Agent: c.Agent}
		if c.Subtask != nil {
			e.Subtask = *c.Subtask
		}
		if ref, err := parse(c.Model); c.Model != "" && err == nil {
			e.Model = apiModelOf(ref)
		}
		out = append(out, e)
	}
	return out
}

// APISkill is a skill with its text.
type APISkill struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Location    string `json:"location"`
	Content     string `json:"content"`
}
