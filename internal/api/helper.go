package api

import "lathe"

// Helper is a session in the tree of one that a person talks to: that session itself, or a
// subagent that works for it. Times are milliseconds since 1970.
type Helper struct {
	ID         lathe.SessionID `json:"id"`
	ParentID   lathe.SessionID `json:"parentID,omitempty"`
	Title      string          `json:"title"`
	Agent      string          `json:"agent,omitempty"`
	State      string          `json:"state"` // working, waiting, elsewhere, interrupted, failed or idle
	Background bool            `json:"background,omitempty"`
	Branch     string          `json:"branch,omitempty"` // of a worktree of its own
	Directory  string          `json:"directory"`
	Cost       lathe.Money     `json:"cost"`
	Tokens     int64           `json:"tokens"`
	Created    int64           `json:"created"`
	Updated    int64           `json:"updated"`
	Helpers    []Helper        `json:"helpers,omitempty"`
}

// Working reports whether it, or one that works for it, has something to do.
func (h Helper) Working() bool {
	if h.State == "working" || h.State == "waiting" {
		return true
	}
	for _, below := range h.Helpers {
		if below.Working() {
			return true
		}
	}
	return false
}

// Beside counts the helpers in the background, at any depth, that are not done.
func (h Helper) Beside() (n int) {
	for _, below := range h.Helpers {
		if below.Background && below.Working() {
			n++
		}
		n += below.Beside()
	}
	return n
}
