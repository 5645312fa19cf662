package api

import "lathe"

// Reviewed is what one prompt of a session changed.
type Reviewed struct {
	Message lathe.MessageID `json:"message"` // the prompt
	Text    string          `json:"text"`
	Created int64           `json:"created"` // Unix ms
	// Taken says that it is what the person took back after this prompt.
	Taken bool           `json:"taken,omitempty"`
	Files []ReviewedFile `json:"files"`
}

// ReviewedFile is the change of one file. Before and After are empty for binary files and large
// ones.
type ReviewedFile struct {
	File      string `json:"file"` // relative to the worktree, with slashes
	Before    string `json:"before"`
	After     string `json:"after"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Status    string `json:"status"` // "added", "deleted" or "modified"
}

// Readable reports whether the file's text is known.
func (f ReviewedFile) Readable() bool { return f.Before != "" || f.After != "" }

// Counts returns how many lines were added and removed in all files.
func (r Reviewed) Counts() (added, removed int) {
	for _, f := range r.Files {
		added, removed = added+f.Additions, removed+f.Deletions
	}
	return added, removed
}

// TakeBack says which changes of a prompt are taken back: all, those of a file, or one hunk of
// it. What later prompts changed stays.
type TakeBack struct {
	Message lathe.MessageID `json:"message"`
	File    string          `json:"file,omitempty"` // empty: all files
	// Hunk counts the stretches of changed lines in the file, from 1; 0 means all.
	Hunk   int  `json:"hunk,omitempty"`
	DryRun bool `json:"dryRun,omitempty"` // only say what would be changed and what would be kept
}
