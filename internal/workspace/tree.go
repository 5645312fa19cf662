package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tree finds files below a directory that anybody may have filled: it looks at a
// bounded number of entries, those nearest first, and follows links to directories
// only within that bound.
type Tree struct {
	Depth   int // levels of directories below the root to look into
	Entries int // entries to look at in all
	// Enter reports whether a directory to which a link leads is looked into, by its
	// resolved path; nil means yes. One that holds the root never is.
	Enter func(real string) bool
	// Pass reports whether to skip a directory, by its name; nil skips none.
	Pass func(name string) bool
}

// Find returns the files for whose name want is true, links to files among them, by
// path. All is false when something was left out because there was too much of it.
// A root that cannot be read holds nothing.
func (t Tree) Find(root string, want func(name string) bool) (paths []string, all bool) {
	real, err := Resolve(root)
	if err != nil {
		return nil, true
	}
	left, all, seen := t.Entries, true, map[string]bool{}
	for level, depth := []string{root}, 0; len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if left <= 0 {
				return paths, false
			}
			entries, _ := ReadDir(dir, left+1) // what cannot be read is not there
			if len(entries) > left {
				entries, all = entries[:left], false
			}
			left -= len(entries)
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			for _, e := range entries {
				path := filepath.Join(dir, e.Name())
				switch {
				case !t.isDir(path, e):
					if want(e.Name()) {
						paths = append(paths, path)
					}
				case depth < t.Depth && (t.Pass == nil || !t.Pass(e.Name())) && t.enters(real, path, e, seen):
					next = append(next, path)
				}
			}
		}
		level = next
	}
	slices.Sort(paths)
	return paths, all
}

func (t Tree) isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// enters reports whether a directory is looked into. Where a link leads is only
// looked into once, so that links cannot lead in circles.
func (t Tree) enters(root, path string, e fs.DirEntry, seen map[string]bool) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return true
	}
	real, err := Resolve(path)
	if err != nil || seen[real] || Within(real, root) || t.Enter != nil && !t.Enter(real) {
		return false
	}
	seen[real] = true
	return true
}
