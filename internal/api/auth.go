package api

// Credentials are what is stored and what the environment holds to log in to providers.
// No secret is told.
type Credentials struct {
	Stored      []Credential `json:"stored"`
	Environment []FoundKey   `json:"environment"`
}

// Credential is a stored way to log in.
type Credential struct {
	Provider string `json:"provider"` // its id, or the address of an organisation
	Kind     string `json:"kind"`     // in words, and why it cannot be used
}
