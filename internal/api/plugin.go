package api

// Plugins are the plugins, custom tools and hooks of a directory.
type Plugins struct {
	Runtime  string          `json:"runtime,omitempty"` // "node 22.1.0"; empty while nothing runs
	Sandbox  string          `json:"sandbox,omitempty"` // how their process is confined, in words
	Plugins  []Plugin        `json:"plugins"`
	Accounts []PluginAccount `json:"accounts"` // of the last thirty days
	Problems []string        `json:"problems,omitempty"`
}

// Plugin is a plugin, a file of tools, or a program that is a hook.
type Plugin struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // "plugin", "tool" or "hook"
	Spec       string   `json:"spec"`
	File       string   `json:"file,omitempty"`
	From       string   `json:"from,omitempty"` // the file or directory that names it
	Repository bool     `json:"repository,omitempty"`
	Hooks      []string `json:"hooks,omitempty"`
	Tools      []string `json:"tools,omitempty"`
	Logins     []string `json:"logins,omitempty"` // providers that it logs in to
	Late       bool     `json:"late,omitempty"`
	Off        bool     `json:"off,omitempty"` // the person switched it off
	Error      string   `json:"error,omitempty"`
}

// PluginAccount is what the calls of one hook came to.
type PluginAccount struct {
	Plugin    string  `json:"plugin"`
	Hook      string  `json:"hook"`
	Calls     int     `json:"calls"`
	Failed    int     `json:"failed"`
	Millis    float64 `json:"ms"`        // of all calls
	Longest   float64 `json:"longestMs"` // of one
	LastError string  `json:"lastError,omitempty"`
}

// PluginChange adds, removes, updates or switches a plugin. An update of an empty spec is one of
// all packages.
type PluginChange struct {
	Do      string `json:"do"` // "add", "remove", "update", "on" or "off"
	Spec    string `json:"spec"`
	Project bool   `json:"project,omitempty"` // in the directory's configuration
}

// PluginChanged says what was done.
type PluginChanged struct {
	File    string   `json:"file,omitempty"` // the configuration that was written
	Updated []string `json:"updated,omitempty"`
}
