package api

import "lathe"

// Model is a model to choose.
type Model struct {
	ProviderID string       `json:"providerID"`
	ModelID    string       `json:"modelID"`
	Variant    string       `json:"variant,omitempty"`
	Name       string       `json:"name,omitempty"`
	Context    int          `json:"context,omitempty"` // tokens; 0: unknown
	Price      lathe.Prices `json:"price,omitzero"`    // in units of [lathe.Price]
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

// Agent is an agent that a session can have, or that is mentioned.
type Agent struct {
	Name, Description string
	Mode              string // "primary", "subagent" or "all"
	Hidden            bool
	Model             lathe.ModelRef
}

// Subagent reports an agent that cannot be chosen, only mentioned.
func (a Agent) Subagent() bool { return a.Mode == "subagent" }

// Command is a command that the engine expands.
type Command struct{ Name, Description string }

// Paths are directories on the machine of the server.
type Paths struct{ Home, Directory, Worktree string }
