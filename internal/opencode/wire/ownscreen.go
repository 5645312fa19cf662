package wire

// What follows is what the screen asks for beyond the other routes below /lathe.

// OwnFound is what can answer, beside what a stored key connects.
type OwnFound struct {
	Keys    []OwnFoundKey    `json:"keys"`
	Servers []OwnFoundServer `json:"servers"`
	Stored  []string         `json:"stored"`
}

// OwnFoundKey is a key in the environment. Its value is not told.
type OwnFoundKey struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	Variable string `json:"variable"`
}

// OwnFoundServer is a model server on the machine of the engine.
type OwnFoundServer struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Models   int    `json:"models"`
}

// OwnKeyTest is what came back when a provider's key was tried.
type OwnKeyTest struct {
	Outcome string `json:"outcome"` // "accepted", "refused" or "unknown"
	Model   string `json:"model"`
	Detail  string `json:"detail"`
	Hint    string `json:"hint"`
}

// OwnTrust is what a repository brings, and whether it counts.
type OwnTrust struct {
	Dir     string       `json:"dir"`
	Given   bool         `json:"given"`
	State   string       `json:"state"`
	Files   []string     `json:"files"`
	LeftOut []OwnLeftOut `json:"leftOut"`
	Digest  string       `json:"digest"` // of the files, to decide about these alone
}

// OwnLeftOut is a setting without effect.
type OwnLeftOut struct {
	Path   string `json:"path"`
	Where  string `json:"where"`
	Reason string `json:"reason"`
}

// OwnDecision is a decision about what an [OwnTrust] showed.
type OwnDecision struct {
	Digest string `json:"digest"`
	Keep   bool   `json:"keep"`
}

// OwnWeight is what the next request of a session would send and cost.
type OwnWeight struct {
	Used        int64          `json:"used"`
	Window      int64          `json:"window"`
	Usable      int64          `json:"usable"`
	Counted     int64          `json:"counted"`
	Fresh       string         `json:"fresh"`
	Cached      string         `json:"cached"`
	Kinds       []OwnPortion   `json:"kinds"`
	Parts       []OwnPortion   `json:"parts"`
	Compactions int            `json:"compactions"`
	Prunes      int            `json:"prunes"`
	Read        int64          `json:"read"`
	Written     int64          `json:"written"`
	Sent        int64          `json:"sent"` // neither read from a cache nor written to it
	ByModel     []OwnModelCost `json:"byModel"`
}

// OwnPortion is something that fills a window.
type OwnPortion struct {
	Name   string `json:"name"`
	Part   string `json:"part,omitempty"`
	Count  int    `json:"count"`
	Tokens int64  `json:"tokens"`
}

// OwnModelCost is what one model cost in a session.
type OwnModelCost struct {
	Model    string `json:"model"`
	Answers  int    `json:"answers"`
	Sent     int64  `json:"sent"`
	Cached   int64  `json:"cached"`
	Answered int64  `json:"answered"`
	Cost     string `json:"cost"`
}

// OwnSetup is how lathe is set up for a directory.
type OwnSetup struct {
	Version    string          `json:"version"`
	MCP        []OwnConfigured `json:"mcp"`
	LSP        []OwnConfigured `json:"lsp"`
	Formatters []OwnConfigured `json:"formatters"`
	Skills     []OwnSkill      `json:"skills"`
	Plugins    []string        `json:"plugins"`
	Files      []string        `json:"files"`
	Warnings   []string        `json:"warnings"`
	Snapshots  string          `json:"snapshots"`
	Share      string          `json:"share"`
	Checks     []OwnCheck      `json:"checks"`
}

// OwnConfigured is something that the configuration names, and whether it runs.
type OwnConfigured struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	State string `json:"state"`
}

// OwnSkill is a skill that models can load.
type OwnSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Path        string `json:"path"`
}

// OwnCheck is one look at whether something works.
type OwnCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}
