package api

// LoginMethod is a way to log in to a provider that a plugin brings.
type LoginMethod struct {
	Type    string        `json:"type"` // "oauth" or "api"
	Label   string        `json:"label"`
	Prompts []LoginPrompt `json:"prompts"`
	// Authorizes says that the plugin takes part; else a key is asked for and stored.
	Authorizes bool `json:"authorizes"`
}

// LoginPrompt is a question before a login.
type LoginPrompt struct {
	Type        string `json:"type"` // "text" or "select"
	Key         string `json:"key"`
	Message     string `json:"message"`
	Placeholder string `json:"placeholder"`
	Options     []struct{ Label, Value, Hint string }
	When        *struct{ Key, Op, Value string }
}

// Applies reports whether the question is asked after these answers.
func (p *LoginPrompt) Applies(inputs map[string]string) bool {
	w := p.When
	return w == nil || (inputs[w.Key] == w.Value) == (w.Op == "eq")
}

// LoginBegun is a login that waits for the person.
type LoginBegun struct {
	URL          string `json:"url"`    // empty: it is done
	Method       string `json:"method"` // "auto", or "code" where the person brings one back
	Instructions string `json:"instructions"`
}
