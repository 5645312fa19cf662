package review

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/diff"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/styled"
)

// commitPrompt asks the model for the commit.
const commitPrompt = "Commit what is staged: read it with `git diff --cached`, write a message as this repository's history does it, and commit. Stage nothing else."

const (
	atTop = `cd "$(git rev-parse --show-toplevel)" && `
	// longest is how many bytes of a command are given to a shell at once: a system takes no
	// more than 128 KiB as one word.
	longest = 100_000
)

// stages runs a command that stages something, and says so once it has.
func (r *Room) stages(command, said string) tea.Msg {
	if len(command) > longest {
		return dialog.Tell{Kind: dialog.Warning, Text: "this is too much to be staged at once; git add does it"}
	}
	r.staging[command] = said
	return Run{command}
}

// Ended says what came of a command of this room; ok is false for all other calls, and
// until the command has ended.
func (r *Room) Ended(p lathe.Part) (tell dialog.Tell, ok bool) {
	call, isCall := p.Body.(*lathe.ToolCall)
	if !isCall || len(r.staging) == 0 {
		return tell, false
	}
	input, output, exit := result(call.State)
	said, ok := r.staging[input]
	if !ok || output == nil {
		return tell, false
	}
	delete(r.staging, input)
	if exit == 0 {
		return dialog.Tell{Kind: dialog.Info, Text: said}, true
	}
	return dialog.Tell{Kind: dialog.Failure, Text: "git did not stage it: " + styled.OneLine(why(*output))}, true
}

// result returns the command of a call, and what it printed and its exit code once it has ended.
func result(state lathe.ToolState) (command string, output *string, exit int) {
	var in struct{ Command string }
	var raw json.RawMessage
	switch st := state.(type) {
	case *lathe.ToolDone:
		raw, output = st.Input, &st.Output
		exit, _ = lathe.MetaInt(st.Metadata["exit"])
	case *lathe.ToolFailed:
		raw, output, exit = st.Input, &st.Error, -1
	}
	_ = json.Unmarshal(raw, &in) // what is not a command is none of ours
	return in.Command, output, exit
}

// why returns the line of git's output that says what is wrong: the first one, without what
// announces it.
func why(output string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(output), "\n")
	for _, word := range []string{"error: ", "fatal: "} {
		line = strings.TrimPrefix(line, word)
	}
	if line == "" {
		return "it says nothing"
	}
	return line
}

// stageFiles is the command that puts files into git's index as they are now; those that are
// gone are taken out of it. A name is a name, whatever signs are in it, and one that git has
// never heard of and that is gone is none of its business.
func stageFiles(files []api.ReviewedFile) string {
	out := atTop + "git update-index --add --remove --replace --"
	for _, f := range files {
		out += " " + quote(f.File)
	}
	return out
}

// stageHunk is the command that puts one hunk of a change into git's index; empty if the file
// can only be staged whole.
func stageHunk(f api.ReviewedFile, h diff.Hunk) string {
	if f.Status != "modified" {
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
	apply := "git apply --cached -"
	if strings.Contains(patch, "\r\n") {
		// Where git keeps the file with other line ends than the directory has, the index
		// takes a patch with those of its own.
		apply = "case $(git ls-files --eol -- " + quote(f.File) + `) in i/lf*) tr -d '\r' ;; *) cat ;; esac`
		return atTop + apply + " <<'" + end + "' | git apply --cached -\n" + patch + end
	}
	return atTop + apply + " <<'" + end + "'\n" + patch + end
}

// quote makes a word of a shell's command.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
