package api

// Trust is what a repository brings along, and whether it takes effect.
type Trust struct {
	Dir     string    `json:"dir"`
	Given   bool      `json:"given"`
	Stored  bool      `json:"stored,omitempty"`  // by a stored decision
	Changed []Steered `json:"changed,omitempty"` // why a stored decision no longer holds
	State   string    `json:"state"`             // in words
	Files   []string  `json:"files"`             // files that steer lathe
	LeftOut []LeftOut `json:"leftOut"`           // what has no effect without trust
	Unused  []LeftOut `json:"unused,omitempty"`  // what has no effect even with trust, because this build does not use it
	Digest  string    `json:"digest"`            // of the files, to decide about exactly these
}

// Steered is a file that steers lathe and has changed since it was trusted.
type Steered struct {
	Path string `json:"path"` // in the checkout, with forward slashes; empty: all of it
	What string `json:"what"` // what changed, in words
}

// LeftOut is a setting that has no effect.
type LeftOut struct {
	Path   string `json:"path"`
	Where  string `json:"where"`
	Reason string `json:"reason"`
}

// Decision trusts the files that a [Trust] showed, either permanently or while the engine runs.
type Decision struct {
	Digest string `json:"digest"`
	Keep   bool   `json:"keep"`
}

// Trusted is a directory that was trusted permanently.
type Trusted struct {
	Dir   string `json:"dir"`
	Time  int64  `json:"time"`  // of the decision, in milliseconds since 1970
	Files int    `json:"files"` // how many files it covers
}

// Withdrawn says what became of decisions that were withdrawn.
type Withdrawn struct {
	Dir   string `json:"dir"`             // the directory they were about
	Found bool   `json:"found"`           // there was one
	Still string `json:"still,omitempty"` // why the directory is still trusted, in words
}

// Approval is something that a person has allowed from then on.
type Approval struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Stored     bool   `json:"stored"` // for the project; otherwise until the process ends
	// On servers that share a database: who gave it, and until when it holds if that is not for good.
	By    string `json:"by,omitempty"`
	Until int64  `json:"until,omitempty"` // ms since 1970
}
