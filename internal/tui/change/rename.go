package change

import (
	"lathe"
	"lathe/internal/api"
)

// Renamed finds the other half of a file that got another name and was not changed
// otherwise, and says which way it went. Without one, or with several that it could be,
// both are empty.
func Renamed(files []api.ReviewedFile, f api.ReviewedFile) (other, way string) {
	text, from, to, way := f.Before, "deleted", "added", "renamed to %s"
	if f.Status == "added" {
		text, from, to, way = f.After, "added", "deleted", "renamed from %s"
	}
	if f.Status != from || text == "" {
		return "", ""
	}
	here, there := 0, 0
	for _, g := range files {
		switch {
		case g.Status == from && g.Before+g.After == text:
			here++
		case g.Status == to && g.Before+g.After == text:
			there++
			other = g.File
		}
	}
	if here != 1 || there != 1 {
		return "", ""
	}
	return other, way
}

// Counts returns how many lines were added and removed. A file that only got another name has
// none: its row shows none either.
func Counts(files []api.ReviewedFile) (added, removed int) {
	for _, f := range files {
		if other, _ := Renamed(files, f); other == "" {
			added, removed = added+f.Additions, removed+f.Deletions
		}
	}
	return added, removed
}

// CountsOf is [Counts] for files as messages have them.
func CountsOf(diffs []lathe.FileDiff) (added, removed int) {
	files := make([]api.ReviewedFile, len(diffs))
	for i, d := range diffs {
		files[i] = api.ReviewedFile{File: d.File, Before: d.Before, After: d.After, Additions: d.Additions, Deletions: d.Deletions, Status: d.Status}
	}
	return Counts(files)
}
