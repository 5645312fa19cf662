package search

import (
	"slices"
	"strings"
)

// Tree shows paths, relative to root and with forward slashes, as an indented
// list under root: directories first, each group by name, two spaces a level. A
// path that ends in a slash is a directory.
func Tree(root string, paths []string) string {
	type node struct {
		depth int
		name  string
	}
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, compareDirsFirst)
	out := []node{}
	var open []string // the directories that were shown last
	for _, p := range slices.Compact(sorted) {
		parts := strings.Split(p, "/")
		dirs, file := parts[:len(parts)-1], parts[len(parts)-1]
		same := 0
		for same < len(dirs) && same < len(open) && dirs[same] == open[same] {
			same++
		}
		for i := same; i < len(dirs); i++ {
			out = append(out, node{i + 1, dirs[i] + "/"})
		}
		open = dirs
		if file != "" {
			out = append(out, node{len(dirs) + 1, file})
		}
	}
	var text strings.Builder
	text.WriteString(strings.TrimSuffix(root, "/") + "/\n")
	for _, n := range out {
		text.WriteString(strings.Repeat("  ", n.depth) + n.name + "\n")
	}
	return text.String()
}

// compareDirsFirst orders paths as Tree shows them.
func compareDirsFirst(a, b string) int {
	for {
		x, aRest, aDir := strings.Cut(a, "/")
		y, bRest, bDir := strings.Cut(b, "/")
		switch {
		case x == "" || y == "": // the directory itself comes before what it holds
			return len(a) - len(b)
		case aDir != bDir && aDir:
			return -1
		case aDir != bDir:
			return 1
		case x != y:
			return strings.Compare(x, y)
		case !aDir:
			return 0
		}
		a, b = aRest, bRest
	}
}
