package server

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/opencode/wire"
	"lathe/internal/server/gate"
	"lathe/internal/worktree"
)

type vcsOut struct {
	Branch  string `json:"branch"`
	Default string `json:"default_branch,omitempty"` // 1.18
}

// vcs reads the branch from the git directory; a detached head has none.
func (c projects) vcs() (any, error) {
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	return vcsOut{worktree.Branch(inst.Root), worktree.DefaultBranch(inst.Root)}, nil
}

// changes lists what changed below the request's directory.
func (c projects) changes(since worktree.Since) ([]worktree.Change, error) {
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	list, err := c.s.opts.Service.Projects.Changes(c.ctx(), dir, since)
	return slices.DeleteFunc(list, func(f worktree.Change) bool {
		return c.s.own().hold(filepath.Join(inst.Root.Dir, filepath.FromSlash(f.File)))
	}), err
}

// changed18 is a file that changed. Of a list of states it has no patch.
type changed18 struct {
	File      string `json:"file"`
	Patch     string `json:"patch,omitempty"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Status    string `json:"status"`
}

// vcsStatus is /file/status with the names of 1.18.
func (c projects) vcsStatus() (any, error) { return c.listChanges(worktree.Since{}) }

func (c projects) listChanges(since worktree.Since) (any, error) {
	changes, err := c.changes(since)
	out := []changed18{}
	for _, f := range changes {
		out = append(out, changed18{f.File, f.Patch, f.Added, f.Removed, f.Status})
	}
	return out, err
}

const (
	patchContext = 3   // lines, as git has them
	mostContext  = 1e6 // so that a whole file is shown
)

func (c projects) vcsDiff() (any, error) {
	since := worktree.Since{Patches: true, Context: patchContext}
	switch c.query("mode") {
	case "git":
	case "branch":
		since.Branch = true
	default:
		return nil, badQuery("mode", "expected git or branch")
	}
	if c.r.URL.Query().Has("context") {
		lines, err := c.number("context")
		if err != nil {
			return nil, err
		}
		since.Context = int(min(lines, mostContext))
	}
	return c.listChanges(since)
}

// vcsDiffRaw answers one patch with all that is not committed.
func (c projects) vcsDiffRaw() (any, error) {
	changes, err := c.changes(worktree.Since{Patches: true, Context: patchContext})
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for _, f := range changes {
		b.WriteString(f.Patch)
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(gate.WriteTimeout + time.Duration(b.Len()>>10)*time.Millisecond))
	c.w.Header().Set("Content-Type", "text/x-diff; charset=utf-8")
	c.s.send(c.w, c.r, http.StatusOK, wire.Raw([]byte(b.String())))
	return done{}, nil
}
