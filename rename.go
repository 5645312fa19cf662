package lathe

// Renames finds the files that only got another name, and gives for the old and for the new
// name the other one. Nothing is guessed: a text that more than two files have or had,
// and one that is not known, belongs to no rename.
func Renames(files []FileDiff) map[string]string {
	out := map[string]string{}
	gone, came := byText(files, "deleted", FileDiff.before), byText(files, "added", FileDiff.after)
	for text, old := range gone {
		if now := came[text]; text != "" && len(old) == 1 && len(now) == 1 {
			out[old[0]], out[now[0]] = now[0], old[0]
		}
	}
	return out
}

func (f FileDiff) before() string { return f.Before }
func (f FileDiff) after() string  { return f.After }

// byText names the files of a status by the text that they had or have.
func byText(files []FileDiff, status string, text func(FileDiff) string) map[string][]string {
	out := map[string][]string{}
	for _, f := range files {
		if f.Status == status {
			out[text(f)] = append(out[text(f)], f.File)
		}
	}
	return out
}

// CountLines returns how many lines were added and removed in all files. Those of a file that
// only got another name count for nothing.
func CountLines(files []FileDiff) (added, removed int) {
	renames := Renames(files)
	for _, f := range files {
		if renames[f.File] == "" {
			added, removed = added+f.Additions, removed+f.Deletions
		}
	}
	return added, removed
}
