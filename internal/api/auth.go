package api

// Credentials lists the stored credentials and those in the environment with which to log in to
// providers. It holds no secrets.
type Credentials struct {
	Stored      []Credential `json:"stored"`
	Environment []FoundKey   `json:"environment"`
}

// Credential is a stored way to log in.
type Credential struct {
	Provider string `json:"provider"` // its id, or the address of an organisation
	Kind     string `json:"kind"`     // in words; if it cannot be used, why
}
