package api

import (
	"time"

	"lathe"
)

// StatsFilter chooses what is summed up.
type StatsFilter struct {
	Since     time.Time // zero: everything
	Directory string    // of the sessions; empty: any
}

// Stats is what sessions used.
type Stats struct {
	Sessions int               `json:"sessions"`
	Total    Tally             `json:"total"`
	Days     map[string]*Tally `json:"days"` // by date, in the engine's time zone
	Models   map[string]*Tally `json:"models"`
	Projects map[string]*Tally `json:"projects"` // by directory
	// Beside is what was asked beside the answers, by what for: "title", "learn", "sampling". All other
	// sums but that of answers include it.
	Beside  map[string]*Tally     `json:"beside,omitempty"`
	Tools   map[string]*ToolTally `json:"tools"`
	Hooks   []PluginAccount       `json:"hooks,omitempty"` // of plugins and programs, on the engine's machine
	Windows WindowTally           `json:"windows"`
}

// Tally is what a group of answers used.
type Tally struct {
	Answers int     `json:"answers"`
	Tokens  Tokens  `json:"tokens"`
	USD     float64 `json:"cost"`
}

// Tokens are [lathe.Tokens] in the form that messages show them in.
type Tokens struct {
	Input     int64       `json:"input"`
	Output    int64       `json:"output"` // excludes reasoning
	Reasoning int64       `json:"reasoning"`
	Cache     CacheTokens `json:"cache"`
}

// CacheTokens came from a provider's cache and went into it.
type CacheTokens struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// TokensOf gives tokens the form of the wire.
func TokensOf(t lathe.Tokens) Tokens {
	return Tokens{t.Input, t.Output, t.Reasoning, CacheTokens{t.CacheRead, t.CacheWrite}}
}

// Counted is the inverse of [TokensOf].
func (t Tokens) Counted() lathe.Tokens {
	return lathe.Tokens{Input: t.Input, Output: t.Output, Reasoning: t.Reasoning, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write}
}

// ToolTally is how often a tool was called, and how long it worked: not how long it waited for a
// person.
type ToolTally struct {
	Calls  int   `json:"calls"`
	Failed int   `json:"failed"`
	Millis int64 `json:"ms"`
}

// WindowTally sums up what happened to the sessions' windows: compactions, prunes, and how much of
// the prefix that requests shared came from the providers' caches.
type WindowTally struct {
	Compactions int     `json:"compactions"`
	Prunes      int     `json:"prunes"`
	Pruned      int64   `json:"pruned"` // tokens that prunes freed
	Requests    int     `json:"requests"`
	Expected    int64   `json:"expected"` // tokens shared with the request before, estimated
	Read        int64   `json:"read"`     // of these, read from a cache
	Announced   int     `json:"announced"`
	Ours        int     `json:"ours"`
	Theirs      int     `json:"theirs"`
	Missed      int64   `json:"missed"`     // tokens that were sent again
	MissedUSD   float64 `json:"missed_usd"` // how much more that cost than reading them would have
}
