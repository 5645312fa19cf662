package api

import (
	"encoding/json"

	"lathe"
)

// RuledAgent is an agent with the rules that apply to it, and where each rule comes from.
type RuledAgent struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Mode        string        `json:"mode"`
	Model       string        `json:"model,omitempty"`
	Hidden      bool          `json:"hidden,omitempty"`
	Capped      bool          `json:"capped,omitempty"` // bound by the default agent's rules too
	Rules       []SourcedRule `json:"rules"`
}

// SourcedRule is a rule and where it was written: a place, "default", or "built into NAME".
type SourcedRule struct {
	Permission string       `json:"permission"`
	Pattern    string       `json:"pattern"`
	Action     lathe.Action `json:"action"`
	Source     string       `json:"source"`
}

// NamedCommand is a command and where it comes from.
type NamedCommand struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Source      string   `json:"source"`
	File        string   `json:"file,omitempty"`
	Hints       []string `json:"hints,omitempty"`
}

// AgentDraft is what a model makes of a description of an agent.
type AgentDraft struct {
	Identifier   string `json:"identifier"`
	WhenToUse    string `json:"whenToUse"`
	SystemPrompt string `json:"systemPrompt"`
}

// Config is the configuration in effect, without its credentials.
type Config struct {
	Values   json.RawMessage `json:"values"`
	Origins  []Origin        `json:"origins"` // of each value
	Sources  []ConfigSource  `json:"sources"`
	Warnings []string        `json:"warnings"`
	LeftOut  []LeftOut       `json:"leftOut"`
}

// Origin says where a value was written. Path is its keys, separated by dots.
type Origin struct {
	Path  string `json:"path"`
	Where string `json:"where"`
	Trust string `json:"trust"`
}

// ConfigSource is a place that configuration was read from.
type ConfigSource struct {
	Name  string `json:"name"`
	Trust string `json:"trust"`
}

// ModelFilter chooses models of the catalogue.
type ModelFilter struct {
	Provider string // empty: any
	All      bool   // also models that are not connected
	Details  bool
}

// ModelList is what a [ModelFilter] selects.
type ModelList struct {
	Models   []ModelEntry `json:"models"`
	Unusable []Unusable   `json:"unusable"` // logins that were found but cannot be used
}

// ModelEntry is a model of the catalogue.
type ModelEntry struct {
	Ref     string       `json:"ref"`
	Default bool         `json:"default,omitempty"`
	Details *ModelDetail `json:"details,omitempty"`
}

// Unusable is a login that lathe cannot use, and why.
type Unusable struct {
	Provider string `json:"provider"`
	Why      string `json:"why"`
}

// ModelDetail is what is known about a model. Prices are in dollars per million tokens.
type ModelDetail struct {
	APIID       string      `json:"apiID"`
	Attachments bool        `json:"attachments"`
	Cost        ModelPrices `json:"cost"`
	ID          string      `json:"id"`
	Input       []string    `json:"input"`
	Limit       ModelLimit  `json:"limit"`
	Name        string      `json:"name"`
	Protocol    string      `json:"protocol"`
	Reasoning   bool        `json:"reasoning"`
	Released    string      `json:"released"`
	Status      string      `json:"status"`
	Tools       bool        `json:"tools"`
	Variants    []string    `json:"variants"`
}

// ModelPrices are prices in dollars per million tokens.
type ModelPrices struct {
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
}

// ModelLimit is in tokens; 0 is unknown.
type ModelLimit struct {
	Context int `json:"context"`
	Input   int `json:"input"`
	Output  int `json:"output"`
}
