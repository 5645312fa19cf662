package api

import (
	"fmt"
	"hash/fnv"

	"lathe"
)

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

// Key names a change by its content, so that a change of the same file which became another one
// has another key.
func (f ReviewedFile) Key() string {
	h := fnv.New64a()
	for _, s := range []string{f.File, f.Before, f.After, f.Status} {
		_, _ = h.Write([]byte(s))
		_, _ = h.Write([]byte{0})
	}
	return f.File + fmt.Sprintf(" %x", h.Sum64())
}

// Counts returns how many lines were added and removed in all files; those of a file that only
// got another name count for nothing.
func (r Reviewed) Counts() (added, removed int) { return lathe.CountLines(r.diffs()) }

// Renames gives for the old and the new name of each file that only got another one the other.
func (r Reviewed) Renames() map[string]string { return lathe.Renames(r.diffs()) }

func (r Reviewed) diffs() []lathe.FileDiff {
	out := make([]lathe.FileDiff, len(r.Files))
	for i, f := range r.Files {
		out[i] = lathe.FileDiff{File: f.File, Before: f.Before, After: f.After, Additions: f.Additions, Deletions: f.Deletions, Status: f.Status}
	}
	return out
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

// Now stands for the prompt before which a comparison ends that goes on to the end of the session.
const Now lathe.MessageID = "now"

// Stage says what is put into git's index: files as they are now, or one hunk of a change.
type Stage struct {
	Message lathe.MessageID `json:"message"` // the prompt that made the change
	// Until is the prompt before which a comparison ends that begins with Message, or [Now]; empty: it
	// is the change of Message alone, or what was taken back of it.
	Until lathe.MessageID `json:"until,omitempty"`
	Files []string        `json:"files,omitempty"` // of the change; empty: all of them
	// Hunk counts the stretches of changed lines in the one file that is named, from 1; 0: all of it.
	Hunk int `json:"hunk,omitempty"`
	// Change is the [ReviewedFile.Key] of what the person saw; a hunk needs it.
	Change string `json:"change,omitempty"`
}

// Staged is what came of [Stage].
type Staged struct {
	Files []string `json:"files"`
	// Whole says that all of a file was staged instead of a hunk of it: it is new, or gone.
	Whole bool `json:"whole,omitempty"`
	// Already says that the index had it before.
	Already bool `json:"already,omitempty"`
}
