package api

// Trust is what a repository brings, and whether it counts.
type Trust struct {
	Dir     string    `json:"dir"`
	Given   bool      `json:"given"`
	Stored  bool      `json:"stored,omitempty"`  // by a decision for good
	Changed []Steered `json:"changed,omitempty"` // why a stored decision does not hold any more
	State   string    `json:"state"`             // in words
	Files   []string  `json:"files"`             // that steer lathe
	LeftOut []LeftOut `json:"leftOut"`           // what has no effect without trust
	Unused  []LeftOut `json:"unused,omitempty"`  // what has no effect with it either, since this build does not use it
	Digest  string    `json:"digest"`            // of the files, to decide about these alone
}

// Steered is a file that steers lathe and was changed since it was trusted.
type Steered struct {
	Path string `json:"path"` // in the checkout, with forward slashes; empty: all of it
	What string `json:"what"` // in words
}

// LeftOut is a setting without effect.
type LeftOut struct {
	Path   string `json:"path"`
	Where  string `json:"where"`
	Reason string `json:"reason"`
}

// Decision trusts the files that a [Trust] showed: for good, or as long as the
// engine runs.
type Decision struct {
	Digest string `json:"digest"`
	Keep   bool   `json:"keep"`
}

// Trusted is a directory that was trusted for good.
type Trusted struct {
	Dir   string `json:"dir"`
	Time  int64  `json:"time"`  // of the decision, in milliseconds since 1970
	Files int    `json:"files"` // how many files it is bound to
}

// Withdrawn says what became of decisions that were taken back.
type Withdrawn struct {
	Dir   string `json:"dir"`             // that they were about
	Found bool   `json:"found"`           // there was one
	Still string `json:"still,omitempty"` // why it is trusted all the same, in words
}

// Approval is something that a person allowed from then on.
type Approval struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
	Stored     bool   `json:"stored"` // for the project; else until the process ends
}
