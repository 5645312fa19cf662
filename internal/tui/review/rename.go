package review

import "lathe/internal/api"

// renamed finds the other half of a file that got another name and was not changed
// otherwise, and says which way it went. Without one, or with several that it could be,
// both are empty.
func renamed(files []api.ReviewedFile, f api.ReviewedFile) (other, way string) {
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

// counts returns how many lines were added and removed. A file that only got another name has
// none: its row shows none either.
func counts(files []api.ReviewedFile) (added, removed int) {
	for _, f := range files {
		if other, _ := renamed(files, f); other == "" {
			added, removed = added+f.Additions, removed+f.Deletions
		}
	}
	return added, removed
}

// both are the names of a file, with the other one of a file that was renamed.
func both(files []api.ReviewedFile, f api.ReviewedFile) []string {
	if other, _ := renamed(files, f); other != "" {
		return []string{f.File, other}
	}
	return []string{f.File}
}
