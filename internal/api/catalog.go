package api

import (
	"encoding/json"

	"lathe"
)

// Model is a model to choose.
type Model struct {
	ProviderID string       `json:"providerID"`
	ModelID    string       `json:"modelID"`
	Variant    string       `json:"variant,omitempty"`
	Name       string       `json:"name,omitempty"`
	Context    int          `json:"context,omitempty"` // tokens; 0: unknown
	Output     int          `json:"output,omitempty"`  // the longest answer, in tokens; 0: unknown
	Price      lathe.Prices `json:"price,omitzero"`    // in units of [lathe.Price]
	Free       bool         `json:"free,omitempty"`    // a token is known to cost nothing
	Variants   []string     `json:"variants,omitempty"`
	Default    bool         `json:"default,omitempty"`
}

// Ref returns the name of the model.
func (m Model) Ref() lathe.ModelRef {
	return lathe.ModelRef{Provider: m.ProviderID, Model: m.ModelID, Variant: m.Variant}
}

// Provider is a provider that can be connected.
type Provider struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Connected bool   `json:"connected"`
}

// ListedProvider is a provider with its models, as anyone may see it: it has no key, and no header
// or option that may hold one.
type ListedProvider struct {
	ID, Name string
	Source   string // "env", "config", "api", "custom" or "builtin"; empty: not connected
	Env      []string
	NPM, URL string // OpenCode's adapter name, and the base address
	Models   []ListedModel
}

// ListedModel is a model and what is known about it.
type ListedModel struct {
	Ref           lathe.ModelRef // without a variant
	APIID         string         // the name that the provider is sent
	Name, Family  string
	Released      string // a date
	Status        string // "active", "alpha", "beta" or "deprecated"
	NPM, URL      string
	Context       int // tokens; 0: unknown
	Input, Output int // limits in tokens; 0: unknown
	Abilities     Abilities
	Price         lathe.Prices
	PriceOver200K *lathe.Prices // for prompts of more than 200,000 tokens, if it differs
	Variants      []Variant
}

// Abilities says what a model can do.
type Abilities struct {
	Temperature, Reasoning, Attachment, ToolCall bool

	Takes, Gives Kinds
	// Interleaved is the message field that sends reasoning back; "true" if the field is not known,
	// empty if there is none.
	Interleaved string
}

// Kinds are kinds of content.
type Kinds struct{ Text, Audio, Image, Video, PDF bool }

// Variant is a named set of options of a model.
type Variant struct {
	Name    string
	Options map[string]any
}

// Agent is an agent that a session can have, or that is mentioned.
type Agent struct {
	Name, Description string
	Mode              string // "primary", "subagent" or "all"
	Native            bool   // built in
	Hidden            bool
	Color             string
	Model             lathe.ModelRef
	Prompt            string
	Rules             []lathe.Rule
	Temperature, TopP *float64
	Options           map[string]any
	Steps             int // most steps of one turn; 0 is no limit of its own
}

// Subagent reports whether the agent can only be mentioned, not chosen.
func (a Agent) Subagent() bool { return a.Mode == "subagent" }

// Command is a command that the engine expands.
type Command struct {
	Name, Description string
	Agent, Model      string // the ones it names; empty: those of the session
	Template          string
	Subtask           *bool    // nil: not set
	Source            string   // "skill", or anything else for a command
	Hints             []string // placeholders of the template: $1, $2 …, then $ARGUMENTS
}

// Tool is a tool as it is given to a model.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// Terminal is a terminal that a client opened.
type Terminal struct {
	ID, Title, Command string
	Args               []string
	Dir                string
	PID                int
	Exited             bool
	Code               int // exit code, once exited
}

// Paths are directories on the machine of the server.
type Paths struct{ Home, Directory, Worktree string }
