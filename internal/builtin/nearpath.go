package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/search"
	"lathe/internal/tool"
	"lathe/internal/typo"
)

const (
	maxSuggestions = 3
	nearTime       = 500 * time.Millisecond // for the search of a name in the whole workspace
)

// missing makes the error for a missing file, with paths that may be meant.
func (e Places) missing(ctx context.Context, call *tool.Call, path string) error {
	return failf("File not found: %s%s", path, e.meant(ctx, call, path))
}

// meant is what an error about a missing path adds: the paths that may be meant.
func (e Places) meant(ctx context.Context, call *tool.Call, path string) string {
	near := nearby(path)
	if len(near) == 0 {
		near = e.elsewhere(ctx, call, path)
	}
	rules := e.reading(call)
	var out []string
	for _, p := range near {
		if !hides(rules.Path(p)) && !e.secret(call, p) && e.Root.Contains(p) == e.Root.Contains(path) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "\n\nDid you mean one of these?\n" + strings.Join(out, "\n")
}

// nearby returns existing paths that differ from a missing one in one slightly
// different name, likeliest first.
func nearby(path string) []string {
	dir, rest := filepath.Dir(path), []string{filepath.Base(path)}
	for !isDir(dir) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir, rest = parent, append([]string{filepath.Base(dir)}, rest...)
	}
	return below(dir, rest)
}

// below returns existing paths below a directory that are similar to the names.
func below(dir string, names []string) []string {
	if exact := filepath.Join(dir, names[0]); len(names) > 1 && isDir(exact) {
		return below(exact, names[1:])
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, entry := range entries {
		if len(names) == 1 || isDir(filepath.Join(dir, entry.Name())) {
			all = append(all, entry.Name())
		}
	}
	var out []string
	for _, name := range typo.Suggest(names[0], all) {
		path := filepath.Join(dir, name)
		if len(names) == 1 {
			out = append(out, path)
			continue
		}
		if exact := filepath.Join(append([]string{path}, names[1:]...)...); exists(exact) {
			out = append(out, exact)
			continue
		}
		out = append(out, below(path, names[1:])...)
	}
	return out[:min(len(out), maxSuggestions)]
}

// elsewhere returns files of the workspace that have the name of a missing one.
func (e Places) elsewhere(ctx context.Context, call *tool.Call, path string) []string {
	name := filepath.Base(path)
	if strings.ContainsAny(name, `*?[]{}\!`) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, nearTime)
	defer cancel()
	opt := e.options(e.Root.Dir)
	e.sieve(call, e.Root.Dir).names(&opt)
	opt.Glob, opt.Limit = "**/"+name, maxSuggestions
	var out []string
	for f, err := range search.Files(ctx, e.Root.Dir, opt) {
		if err != nil {
			break
		}
		out = append(out, filepath.Join(e.Root.Dir, filepath.FromSlash(f.Path)))
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
