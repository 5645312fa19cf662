package host

// Login is how a plugin logs in to a provider.
type Login struct {
	Provider string   `json:"provider"`
	Loader   bool     `json:"loader"` // it says how requests are made
	Methods  []Method `json:"methods"`
}

// Method is one way to log in.
type Method struct {
	Type       string   `json:"type"` // "oauth" or "api"
	Label      string   `json:"label"`
	Authorizes bool     `json:"authorizes"`
	Prompts    []Prompt `json:"prompts,omitempty"`
}

// Prompt is a question before a login.
type Prompt struct {
	Type        string         `json:"type"` // "text" or "select"
	Key         string         `json:"key"`
	Message     string         `json:"message"`
	Placeholder string         `json:"placeholder,omitempty"`
	Options     []PromptOption `json:"options,omitempty"`
	When        *When          `json:"when,omitempty"`
}

// PromptOption is one answer to a "select" prompt.
type PromptOption struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Hint  string `json:"hint,omitempty"`
}

// When says which earlier answer makes lathe ask.
type When struct {
	Key   string `json:"key"`
	Op    string `json:"op"` // "eq" or "neq"
	Value string `json:"value"`
}
