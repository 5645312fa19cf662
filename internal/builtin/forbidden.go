package builtin

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/workspace"
)

// Forbidden reports whether a file that is not there yet would be among those that
// [Protected] lists once it is made. Whole says that something complete is put at the
// path, so that it may also be a directory above one.
func Forbidden(root workspace.Root, home string, dirs []string) func(path string, whole bool) bool {
	hooks := Places{Root: root, Home: home}.hooksPath()
	return func(path string, whole bool) bool {
		if hooks != "" && root.Contains(hooks) && within(hooks, path) {
			return true
		}
		return slices.ContainsFunc(dirs, func(dir string) bool {
			rel, err := filepath.Rel(dir, path)
			if err != nil || !filepath.IsLocal(rel) || rel == "." {
				return false
			}
			return steersFrom(strings.Split(strings.ToLower(filepath.ToSlash(rel)), "/"), whole)
		})
	}
}

// steersFrom reports whether a path below a directory, in lower case, is one that steers
// lathe or another program from there; with whole also whether it is above one.
func steersFrom(elements []string, whole bool) bool {
	switch elements[0] {
	case ".opencode", ".lathe":
		plan := len(elements) == 3 && elements[1] == "plans" && strings.HasSuffix(elements[2], ".md")
		return !plan && (len(elements) > 1 || whole)
	case "opencode.json", "opencode.jsonc", "lathe.json", "lathe.jsonc":
		return true
	}
	for _, s := range steerings() {
		for _, name := range s.names {
			want := strings.Split(strings.TrimSuffix(name, "/"), "/")
			below := strings.HasSuffix(name, "/")
			switch {
			case len(elements) > len(want) && !below, len(elements) < len(want) && !whole:
			case len(elements) == len(want) && below && !whole: // the directory, which does nothing by itself
			case matches(want, elements):
				return true
			}
		}
	}
	return false
}

// matches compares two paths as far as both go.
func matches(want, elements []string) bool {
	for i := range min(len(want), len(elements)) {
		if ok, _ := path.Match(want[i], elements[i]); !ok {
			return false
		}
	}
	return true
}
