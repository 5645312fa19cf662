package api

// ForeignHooks are the hooks in the settings of another tool, which run once the person
// has agreed to them.
type ForeignHooks struct {
	File       string        `json:"file"`
	Digest     string        `json:"digest"` // stands for them as they are
	Repository bool          `json:"repository,omitempty"`
	State      HooksState    `json:"state"`
	Hooks      []ForeignHook `json:"hooks"`
	Problems   []string      `json:"problems,omitempty"` // what of the file is not used, and why
}

// HooksState says whether hooks of another tool run.
type HooksState string

// States of hooks of another tool.
const (
	HooksRun       HooksState = "run"
	HooksAsk       HooksState = "ask"       // the person has not said yet
	HooksRefused   HooksState = "refused"   // the person does not want them
	HooksUntrusted HooksState = "untrusted" // the repository that brings them is not trusted
	HooksUnusable  HooksState = "unusable"
)

// ForeignHook is one of them.
type ForeignHook struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	Command string  `json:"command"`
	Seconds float64 `json:"timeout"`
}

// HooksDecision is what the person says of the hooks of a file as they were shown.
type HooksDecision struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Run    bool   `json:"run"`
}
