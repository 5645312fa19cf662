package api

import "lathe"

// Workers is who offers directories to the servers that share a store, and what is done and
// waits there. Times are milliseconds since 1970.
type Workers struct {
	Shared  bool         `json:"shared"` // servers share the store, so there can be workers
	Workers []Worker     `json:"workers"`
	Work    []QueuedWork `json:"work"` // oldest first
}

// Worker is a machine that offers directories.
type Worker struct {
	Name        string   `json:"name"`
	Directories []string `json:"directories"`
	// Remotes are the git remotes of those directories that are clones.
	Remotes map[string]string `json:"remotes,omitempty"`
	Turns   int               `json:"turns"`   // that it runs at once; 0: it takes no more
	Running int               `json:"running"` // that it runs now
	State   string            `json:"state"`   // ready, stopping or gone
	Since   int64             `json:"since"`
}

// QueuedWork is a prompt, or another request that starts a turn, which waits for a worker or is
// done by one.
type QueuedWork struct {
	SessionID lathe.SessionID `json:"sessionID"`
	Directory string          `json:"directory"`
	Person    string          `json:"person,omitempty"`
	Worker    string          `json:"worker,omitempty"` // "": it waits
	Added     int64           `json:"added"`
	Taken     int64           `json:"taken,omitempty"`
	Waited    int64           `json:"waited"` // milliseconds until it was taken, or until now
}
