package api

// Setup is how lathe is set up for a directory.
type Setup struct {
	Version    string       `json:"version"`
	MCP        []Configured `json:"mcp"`
	LSP        []Configured `json:"lsp"`
	Formatters []Configured `json:"formatters"`
	Skills     []Skill      `json:"skills"`
	Plugins    []string     `json:"plugins"`
	Files      []string     `json:"files"` // configuration files that were read
	Warnings   []string     `json:"warnings"`
	Sandbox    string       `json:"sandbox,omitempty"`
	Snapshots  string       `json:"snapshots"`
	Share      string       `json:"share"`
}

// Configured is something that the configuration names.
type Configured struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	State string `json:"state"` // in words: for instance whether it runs
}

// Skill is a skill that models can load.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Path        string `json:"path"`
}

// Check is the result of checking whether something works.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Broken bool   `json:"broken,omitempty"` // not OK, and lathe does not work properly because of it
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"` // what to do
}

// Found is what could answer, apart from what a stored key connects.
type Found struct {
	Keys    []FoundKey    `json:"keys"`
	Servers []FoundServer `json:"servers"`
	Stored  []string      `json:"stored"` // providers with a stored credential
}

// FoundKey is a key in the environment, without its value.
type FoundKey struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	Variable string `json:"variable"`
}

// FoundServer is a model server on the machine of the engine.
type FoundServer struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Models   int    `json:"models"`
}

// Outcomes of a [KeyTest].
const (
	KeyAccepted = "accepted"
	KeyRefused  = "refused"
	KeyUnknown  = "unknown" // no provider was reached, or nothing useful came back
)

// KeyTest is what came back when a provider's key was tried with a small request.
type KeyTest struct {
	Outcome string `json:"outcome"`
	Model   string `json:"model"`  // the model that was asked
	Detail  string `json:"detail"` // what the provider said
	Hint    string `json:"hint"`   // what to do
}

// Notices are what a person should know about a directory's configuration.
type Notices struct {
	Config []string `json:"config"` // problems with it
	Skills []string `json:"skills"` // skills that cannot be used
	Trust  string   `json:"trust"`  // what was left out because nobody trusts the repository
	Unused []string `json:"unused"` // what was found but is not used; to be shown once
}
