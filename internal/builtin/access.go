package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"lathe/internal/judge"
	"lathe/internal/store/local"
	"lathe/internal/tool"
)

// resolve returns the real path that a path argument means. It may be relative
// to the session's directory or begin with "~/".
func (e Places) resolve(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && e.Home != "" {
		path = filepath.Join(e.Home, rest)
	}
	real, err := e.Root.Resolve(path)
	if err != nil {
		return "", failf("The path %q cannot be used: %v", path, err)
	}
	return real, nil
}

// external asks for permission to leave the workspace, if the path does. Next is what the
// call will do there; nil if it only looks.
func (e Places) external(ctx context.Context, call *tool.Call, path string, dir bool, next *tool.Next) error {
	if e.Root.Contains(path) {
		return nil
	}
	req := e.outside(path, dir)
	proposed(call.Input, path, req.Metadata)
	req.Next = next
	return ask(ctx, call, req)
}

// outside is the request to use a path outside the workspace.
func (e Places) outside(path string, dir bool) tool.Request {
	parent := path
	if !dir {
		parent = filepath.Dir(path)
	}
	req := judge.External(parent)
	req.Metadata = map[string]any{"filepath": path, "parentDir": parent}
	req.Doing = fmt.Sprintf("this call uses %s, which is outside the project (%s)", path, e.Root.Dir)
	return req
}

// externalAll is [Places.external] for the files that a call changes: one ask is about
// all directories that they are in.
func (e Places) externalAll(ctx context.Context, call *tool.Call, paths []string, next *tool.Next) error {
	var all []tool.Request
	seen := map[string]bool{}
	for _, path := range paths {
		if parent := filepath.Dir(path); !e.Root.Contains(path) && !seen[parent] {
			seen[parent] = true
			all = append(all, e.outside(path, false))
		}
	}
	if len(all) == 0 {
		return nil
	}
	req := all[0]
	req.Also, req.Next = all[1:], next
	proposed(call.Input, req.Metadata["filepath"].(string), req.Metadata)
	return ask(ctx, call, req)
}

// secret reports whether a path is lathe's own data, which tools do not read, or
// the full output of another session's tools.
func (e Places) secret(call *tool.Call, path string) bool {
	if e.DataDir == "" {
		return false
	}
	if e.spilled(path) {
		return !within(filepath.Join(e.DataDir, local.OutputsDir, call.Outputs), path)
	}
	return e.inner(path)
}

// spilled reports whether a path is in the directory of full outputs.
func (e Places) spilled(path string) bool {
	return e.DataDir != "" && within(filepath.Join(e.DataDir, local.OutputsDir), path)
}

// inner reports whether a path is lathe's own data other than tool output.
func (e Places) inner(path string) bool {
	if e.DataDir == "" || within(filepath.Join(e.DataDir, "plans"), path) {
		return false
	}
	// A workspace that lies below the data directory, as linked worktrees do, is the
	// user's choice, with all of its checkout.
	work := e.Root.Dir
	if top := e.Root.TopLevel; within(e.DataDir, top) && !within(top, e.DataDir) {
		work = top
	}
	return within(e.DataDir, path) && (within(work, e.DataDir) || !within(work, path))
}

// closed reports whether no permission can make a path writable.
func (e Places) closed(path string) bool {
	if e.inner(path) || e.spilled(path) {
		return true
	}
	for _, private := range e.Private {
		if within(private, path) {
			return true
		}
	}
	return false
}

// within reports whether path is dir or below it. Case is ignored, since a file
// system may ignore it, and a wrong answer only asks once more.
func within(dir, path string) bool {
	if dir == "" {
		return false
	}
	sep := string(filepath.Separator)
	dir = strings.TrimSuffix(dir, sep)
	return len(path) >= len(dir) && strings.EqualFold(path[:len(dir)], dir) && (len(path) == len(dir) || path[len(dir):len(dir)+1] == sep)
}

// explain turns a file system error into words for the model.
func explain(doing, path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return failf("File not found: %s", path)
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return failf("Could not %s %s: %v", doing, path, err)
}
