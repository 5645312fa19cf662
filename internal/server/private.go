package server

import (
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/workspace"
)

// ownPlaces are the directories with lathe's data, configuration and state, and
// with OpenCode's. They hold keys, sessions and approvals: no route for files shows
// what is in them, whatever directory a request names.
type ownPlaces struct {
	dirs []string
	open string // where worktrees are that were made over the interface
}

func newOwnPlaces(p config.Paths) ownPlaces {
	var o ownPlaces
	for _, dir := range []string{p.Data, p.Config, p.State, p.OpenCodeData, p.OpenCodeConfig} {
		if real, err := workspace.Resolve(dir); err == nil {
			o.dirs = append(o.dirs, real)
		}
	}
	if real, err := workspace.Resolve(filepath.Join(p.Data, "worktree")); err == nil {
		o.open = real
	}
	return o
}

// hold reports whether a resolved path lies in one of them.
func (o ownPlaces) hold(path string) bool {
	if o.open != "" && beneath(o.open, path) && path != o.open {
		return false
	}
	for _, dir := range o.dirs {
		if beneath(dir, path) {
			return true
		}
	}
	return false
}

// excludes are rules, as search has them, that leave out those below a directory.
func (o ownPlaces) excludes(dir string) []string {
	var out []string
	for _, own := range o.dirs {
		if own != dir && beneath(dir, own) {
			out = append(out, "/"+ignoreLiteral.Replace(relative(dir, own)))
		}
	}
	return out
}

// ignoreLiteral turns a path into an ignore-file rule that matches exactly that path.
var ignoreLiteral = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `)

// beneath reports whether path is dir or below it. Case is ignored, since a file
// system may ignore it.
func beneath(dir, path string) bool {
	prefix := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	return strings.EqualFold(dir, path) || len(path) >= len(prefix) && strings.EqualFold(path[:len(prefix)], prefix)
}

func ownFilesDenied() error {
	return lathe.Errorf(lathe.CodePermission, "", "Access denied: these are lathe's own files")
}

// project is instance for the routes that show a directory's files.
func (c *call) project() (*instance.Instance, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	if c.s.own().hold(inst.Root.Dir) {
		return nil, ownFilesDenied()
	}
	return inst, nil
}
