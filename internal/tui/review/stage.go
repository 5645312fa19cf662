package review

import (
	"strings"

	"lathe/internal/api"
	"lathe/internal/diff"
)

// commitPrompt asks the model for the commit.
const commitPrompt = "Commit what is staged: read it with `git diff --cached`, write a message as this repository's history does it, and commit. Stage nothing else."

const atTop = `cd "$(git rev-parse --show-toplevel)" && `

// stageFiles is the command that puts files into git's index as they are now.
func stageFiles(files []api.ReviewedFile) string {
	out := atTop + "git add -A --"
	for _, f := range files {
		out += " " + quote(f.File)
	}
	return out
}

// stageHunk is the command that puts one hunk of a change into git's index; empty if the file
// can only be staged whole.
func stageHunk(f api.ReviewedFile, h diff.Hunk) string {
	if f.Status != "modified" || strings.ContainsAny(f.File, "\"\\\n\t\r") {
		return ""
	}
	lines := strings.SplitAfter(f.Before, "\n")
	from := h.OldStart - 1
	if h.OldLines == 0 {
		from++
	}
	with := strings.Join(lines[:from], "")
	for _, l := range h.Lines {
		if l.Op == diff.Insert {
			with += l.Text
		}
	}
	with += strings.Join(lines[from+h.OldLines:], "")
	patch := diff.Unified("a/"+f.File, "b/"+f.File, f.Before, with, hunkContext)
	end := "LATHE_PATCH"
	for strings.Contains(patch, end) {
		end += "_"
	}
	return atTop + "git apply --cached - <<'" + end + "'\n" + patch + end
}

// quote makes a word of a shell's command.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
