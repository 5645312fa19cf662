package api

import "lathe"

// Job is a process of a session that outlives its call. Times are milliseconds since 1970.
type Job struct {
	ID        string          `json:"id"`
	SessionID lathe.SessionID `json:"sessionID"`
	CallID    string          `json:"callID,omitempty"` // the tool call that started it
	Command   string          `json:"command"`
	Title     string          `json:"title,omitempty"`
	Dir       string          `json:"cwd"`
	Directory string          `json:"directory"`
	PID       int             `json:"pid"`
	Terminal  bool            `json:"terminal"` // it runs in a terminal
	Left      bool            `json:"left"`     // a command left it behind
	Running   bool            `json:"running"`
	State     string          `json:"state"` // in words: "running", or how it ended
	Started   int64           `json:"started"`
	Ended     int64           `json:"ended,omitempty"`
	Code      int             `json:"exit"`            // exit code, once it has ended
	Ports     []int           `json:"ports,omitempty"` // that it listens on
	Output    int64           `json:"output"`          // bytes so far
	Path      string          `json:"path,omitempty"`  // file with the newest output
	Files     []string        `json:"files,omitempty"` // files that it is known to have changed
}

// JobFilter chooses jobs: those of a session if one is named, else those of the directory, else
// those of all directories.
type JobFilter struct {
	SessionID lathe.SessionID
	All       bool
}

// JobInput is what is typed into a job: text, then keys by name.
type JobInput struct {
	Data string   `json:"data,omitempty"`
	Keys []string `json:"keys,omitempty"`
}

// JobSize is the size of a job's terminal.
type JobSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// KeepCall names a running command that should go on as a job.
type KeepCall struct {
	CallID string `json:"callID"`
}

// Headers of a job's output.
const (
	JobOutputFrom = "Lathe-Output-From" // which byte comes first
	JobOutputOver = "Lathe-Output-Over" // of a piece: whether nothing follows
)
