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
	Answers int          `json:"answers"`
	Tokens  lathe.Tokens `json:"tokens"`
	USD     float64      `json:"cost"`
}

// ToolTally is how often a tool was called, and how long it took.
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
