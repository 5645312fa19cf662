package api

// Programs whose work lathe looks for on the engine's machine.
const (
	OpenCode   = "OpenCode"
	ClaudeCode = "Claude Code"
	Codex      = "Codex"
)

// Elsewhere is what another program has on the engine's machine. Nothing of it but its number
// is told.
type Elsewhere struct {
	Program  string `json:"program"`
	Dir      string `json:"dir"`                // where most of it is
	Sessions int    `json:"sessions,omitempty"` // that were not imported
	More     bool   `json:"more,omitempty"`     // there are more sessions than were counted
	Servers  int    `json:"servers,omitempty"`  // of the model context protocol
	Plugins  int    `json:"plugins,omitempty"`
	Hooks    int    `json:"hooks,omitempty"`
	Commands int    `json:"commands,omitempty"` // that could be copied
	Agents   int    `json:"agents,omitempty"`
	Told     bool   `json:"told,omitempty"` // it has instructions that lathe does not read where they are
	Login    bool   `json:"login,omitempty"`
}
