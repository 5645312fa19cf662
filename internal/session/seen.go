package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/workspace"
)

// readers are the tools that make a file known to the session when they succeed.
var readers = []string{"read", "write", "edit", "multiedit"}

// earlier tells the read tracker what a session read and wrote in earlier processes,
// so that a resumed session need not read again.
type earlier struct {
	inst     *instance.Instance
	restored bool
}

// restore reads the history, the first time it is called. A file that changed after
// the call is left out.
func (e *earlier) restore(id lathe.SessionID, history []lathe.Message) {
	if e.restored {
		return
	}
	e.restored = true
	for i := range history {
		for _, p := range history[i].Parts {
			call, ok := p.Body.(*lathe.ToolCall)
			if !ok || !slices.Contains(readers, call.Tool) {
				continue
			}
			if done, ok := call.State.(*lathe.ToolDone); ok {
				e.file(id, done)
			}
		}
	}
}

func (e *earlier) file(id lathe.SessionID, done *lathe.ToolDone) {
	var in struct{ FilePath string }
	if json.Unmarshal(done.Input, &in) != nil || in.FilePath == "" {
		return
	}
	path := in.FilePath
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.inst.Root.Dir, path)
	}
	path, err := workspace.Resolve(path)
	if err != nil || e.inst.Seen.Known(id, path) {
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.ModTime().After(done.Time.End) {
		return
	}
	e.inst.Seen.Record(id, path, info, nil)
}
