package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"lathe"
	"lathe/internal/workspace"
)

// readers are the tools that make a file known to the session when they succeed.
var readers = []string{"read", "write", "edit", "multiedit"}

// restoreSeen tells the read tracker what the session read and wrote in earlier
// processes, so that a resumed session need not read again. A file that changed
// after the call is left out. Only the first call does anything.
func (r *runner) restoreSeen(history []lathe.Message) {
	if r.restored {
		return
	}
	r.restored = true
	for i := range history {
		for _, p := range history[i].Parts {
			call, ok := p.Body.(*lathe.ToolCall)
			if !ok || !slices.Contains(readers, call.Tool) {
				continue
			}
			if done, ok := call.State.(*lathe.ToolDone); ok {
				r.restoreFile(done)
			}
		}
	}
}

func (r *runner) restoreFile(done *lathe.ToolDone) {
	var in struct{ FilePath string }
	if json.Unmarshal(done.Input, &in) != nil || in.FilePath == "" {
		return
	}
	path := in.FilePath
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.inst.Root.Dir, path)
	}
	path, err := workspace.Resolve(path)
	if err != nil || r.inst.Seen.Known(r.current().ID, path) {
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.ModTime().After(done.Time.End) {
		return
	}
	r.inst.Seen.Record(r.current().ID, path, info, nil)
}
