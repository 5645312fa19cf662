package reading

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lathe"
	"lathe/internal/search"
	"lathe/internal/workspace"
)

// Bounds of the search for the other names of a hard-linked file.
const (
	linkTime  = 5 * time.Second
	linkFiles = 3_000_000
	linkKept  = 10 * time.Second // how long what was found counts
)

// Links finds the names under which rules restrict what hard-linked files hold.
// The tree is only looked through when a file with more than one link is read,
// and what was found is kept for a moment. Package managers link thousands of
// files into their stores, so a second link alone is no reason to ask.
type Links struct {
	root  workspace.Root
	other []string // globs of files outside the workspace that hold secrets
	now   func() time.Time

	mu    sync.Mutex
	found map[string]*restricted // by the rules
}

// restricted are the files of a tree that some rules restrict.
type restricted struct {
	paths map[fileID]string
	all   bool // nothing was left out
	at    time.Time
}

// NewLinks returns the links of a workspace. Other are globs, in the syntax of
// [filepath.Glob], of further files that are nobody's to read under another name.
func NewLinks(root workspace.Root, now func() time.Time, other ...string) *Links {
	return &Links{root: root, other: other, now: now, found: map[string]*restricted{}}
}

// others returns the resolved paths under which a file is restricted beside its
// own; see [Rules.Others].
func (l *Links) others(r *Rules, path string) (paths []string, sure bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, true
	}
	id, count := identify(info)
	if count < 2 || !r.Restricts(lathe.AskMe, lathe.Deny) && len(l.other) == 0 {
		return nil, true
	}
	set := l.restricted(r)
	if other, ok := set.paths[id]; ok && other != path {
		paths = append(paths, other)
	}
	return paths, set.all
}

// restricted looks through the tree, unless it did a moment ago.
func (l *Links) restricted(r *Rules) *restricted {
	key := fmt.Sprint(r.sets)
	l.mu.Lock()
	defer l.mu.Unlock()
	if set := l.found[key]; set != nil && l.now().Sub(set.at) < linkKept {
		return set
	}
	clear(l.found)
	set := &restricted{paths: map[fileID]string{}, all: true}
	l.workspace(r, set)
	for _, glob := range l.other {
		paths, _ := filepath.Glob(glob) // the only error is a malformed glob
		for _, path := range paths {
			if real, err := workspace.Resolve(path); err == nil {
				set.add(real)
			}
		}
	}
	set.at = l.now()
	l.found[key] = set
	return set
}

// workspace adds the files of the checkout that the rules restrict, ignored ones too.
func (l *Links) workspace(r *Rules, set *restricted) {
	dir := l.root.TopLevel
	if l.root.VCS == "" {
		dir = l.root.Dir
	}
	ctx, cancel := context.WithTimeout(context.Background(), linkTime)
	defer cancel()
	n := 0
	for f, err := range search.Files(ctx, dir, search.FileOptions{Hidden: true, NoIgnore: true}) {
		if n++; err != nil || n > linkFiles {
			set.all = false
			return
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if v := r.Path(path); v.Action != lathe.Allow {
			set.add(path)
		}
	}
}

func (set *restricted) add(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeType != 0 {
		return
	}
	id, _ := identify(info)
	set.paths[id] = path
}
