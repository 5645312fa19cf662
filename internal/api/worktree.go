package api

import "lathe"

// Worktree is a linked worktree that lathe made, and what was changed in it, committed or not.
type Worktree struct {
	Name      string       `json:"name"`
	Branch    string       `json:"branch"`
	Directory string       `json:"directory"`
	Base      string       `json:"base"` // the commit that it began with
	Commit    string       `json:"commit"`
	Changes   []WorkChange `json:"changes"`
}

// WorkChange is a file that was changed in a worktree.
type WorkChange struct {
	File    string `json:"file"`
	Status  string `json:"status"` // added, deleted or modified
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
}

// Total counts the lines that were added and removed.
func (w Worktree) Total() (added, removed int) {
	for _, c := range w.Changes {
		added += c.Added
		removed += c.Removed
	}
	return added, removed
}

// WorktreeName names a worktree. Where one is made, an empty name gets a made-up one, and a
// name that is taken gets another word.
type WorktreeName struct {
	Name string `json:"name"`
}

// MergedWorktree is what became of a merge into the files of the directory.
type MergedWorktree struct {
	SessionID lathe.SessionID `json:"sessionID"` // reverting its newest prompt takes the merge back
	Worktree  Worktree        `json:"worktree"`
	Changed   []string        `json:"changed"`
	Conflicts []WorkConflict  `json:"conflicts"`
}

// WorkConflict is a file that was left as it is, since both sides changed it.
type WorkConflict struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Text string `json:"text,omitempty"` // with both sides marked
}

// RemovedWorktree says where the work of a worktree that was removed is kept.
type RemovedWorktree struct {
	Kept string `json:"kept,omitempty"` // a branch; empty where nothing would have been lost
}
