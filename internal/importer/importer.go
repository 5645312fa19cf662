// Package importer takes in sessions from files: one that was exported, or all that
// OpenCode stored. What was stored is read back and compared with what was read.
package importer

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/disk"
	"lathe/internal/session"
)

// Importer takes in sessions. It may be used by several at once.
type Importer struct {
	Service  *session.Service
	OpenCode string // OpenCode's data directory
}

// Run takes in what is asked for; a single session goes into the directory. News are told
// as they come, the sum last; an error of tell ends the import. What was stored by then
// stays, and to repeat an import changes nothing.
func (i Importer) Run(ctx context.Context, dir string, in api.Import, tell func(api.ImportNews) error) error {
	path := in.Path
	if path == "" {
		path = i.OpenCode
	}
	if !filepath.IsAbs(path) {
		return lathe.Errorf(lathe.CodeInvalid, "name it from the root on", "import %q: not an absolute path", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && in.Path == "":
		return lathe.Errorf(lathe.CodeNotFound, "if its data is elsewhere, name the directory", "OpenCode has no data on this machine: there is no %s", path)
	case err != nil:
		return lathe.Errorf(lathe.CodeNotFound, "", "%v", err)
	case info.IsDir():
	case filepath.Base(path) == disk.Database:
		path = filepath.Dir(path)
	case in.DryRun || in.Store:
		return lathe.Errorf(lathe.CodeInvalid, "", "--dry-run and --report are for OpenCode's data directory")
	default:
		return i.file(ctx, dir, path, tell)
	}
	return i.all(ctx, path, in.DryRun, tell)
}
