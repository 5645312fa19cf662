package builtin

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// readOp is the operation of a [sandbox.Refusal] of reading.
const readOp = "read"

// maxHeard is how much of the end of an output is looked at for what a command complains
// about.
const maxHeard = 16 << 10

// said is the end of what the command printed.
func (o *output) said() string {
	tail := o.spool.Tail()
	return string(tail[max(0, len(tail)-maxHeard):])
}

// unread lists what the command, which failed, could not read and names in what it says,
// or speaks of in words that stand for it.
// What lathe keeps for itself is not named.
func (e shellTools) unread(exit shell.Exit, said string) (list []sandbox.Refusal) {
	if exit.Hidden == nil || said == "" {
		return nil
	}
	hidden := exit.Hidden()
	var paths []string
	for _, path := range hidden {
		if e.names(said, path) {
			paths = append(paths, cmp.Or(socketBelow(said, path), path))
		}
	}
	paths = append(paths, e.missedKeepers(said, hidden)...)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if len(list) < maxRefusals && !e.closed(path) && !e.inner(path) {
			list = append(list, sandbox.Refusal{Op: readOp, Path: path})
		}
	}
	return list
}

// names reports whether a text names a path, or something below it, whole or from the
// home directory.
func (e shellTools) names(text, path string) bool {
	if mentions(text, path) {
		return true
	}
	rel, err := filepath.Rel(e.Home, path)
	return e.Home != "" && err == nil && filepath.IsLocal(rel) && (mentions(text, "~/"+rel) || mentions(text, "$HOME/"+rel))
}

// mentions reports whether a text has a path that ends there, or goes on below.
func mentions(text, path string) bool {
	for {
		at := strings.Index(text, path)
		if at < 0 {
			return false
		}
		text = text[at+len(path):]
		if text == "" || !strings.ContainsAny(text[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") {
			return true
		}
	}
}

// unreadOf returns the paths of what was not read.
func unreadOf(refused []sandbox.Refusal) (paths []string) {
	for _, r := range refused {
		if r.Op == readOp {
			paths = append(paths, r.Path)
		}
	}
	return paths
}
