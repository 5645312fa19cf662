package ledger

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe"
)

// input is what the ledger reads from a call's arguments.
type input struct {
	FilePath string `json:"filePath"`
	Path     string `json:"path"`
	Command  string `json:"command"`
	Pattern  string `json:"pattern"`
	Query    string `json:"query"`
	URL      string `json:"url"`
	Name     string `json:"name"`
	Todos    []Todo `json:"todos"`

	Description string `json:"description"`

	Offset int `json:"offset"`
}

// decode reads arguments. A field of an unexpected type does not affect the others.
func decode(raw json.RawMessage) (in input) {
	_ = json.Unmarshal(raw, &in)
	return in
}

func (f *Facts) addCall(seq int64, c *lathe.ToolCall) {
	switch s := c.State.(type) {
	case *lathe.ToolDone:
		f.use(seq, string(s.Input))
		f.addDone(seq, c.Tool, decode(s.Input), s)
	case *lathe.ToolFailed:
		f.use(seq, string(s.Input))
		f.addFailed(seq, c.Tool, decode(s.Input), s)
	}
}

func (f *Facts) addDone(seq int64, tool string, in input, s *lathe.ToolDone) {
	target := in.FilePath
	f.Failures = remove(f.Failures, tool+" "+target)
	switch tool {
	case "read":
		f.touch(seq, target, read)
		f.shown(target, in.Offset > 1 || s.Metadata["truncated"] == true)
	case "write":
		if exists, known := s.Metadata["exists"].(bool); known && !exists {
			f.touch(seq, target, created)
		} else {
			f.touch(seq, target, changed)
		}
	case "edit", "multiedit":
		f.touch(seq, target, changed)
	case "apply_patch", "patch", "lsp":
		f.addPatch(seq, s.Metadata)
	case "bash":
		f.addRun(seq, in.Command, s.Metadata, s.Output)
	case "todowrite":
		f.Todos = slices.Clone(in.Todos[:min(len(in.Todos), maxTodos)])
	case "question":
		f.Answers = push(f.Answers, Fact{Seq: seq, Text: clip(oneLine(s.Output), maxOutcome)}, maxAnswers)
	case "grep", "glob", "websearch", "codesearch", "webfetch", "skill", "task":
		f.addLookup(seq, tool, in)
	}
	f.addProblems(seq, s.Metadata)
}

func (f *Facts) addLookup(seq int64, tool string, in input) {
	var what string
	for _, v := range []string{in.Pattern, in.Query, in.URL, in.Name, in.Description} {
		if what == "" {
			what = v
		}
	}
	if what == "" {
		return
	}
	text := tool + " " + clip(oneLine(what), 200)
	if in.Path != "" {
		text += " in " + in.Path
	}
	f.Lookups = replace(f.Lookups, Fact{Seq: seq, Key: text, Text: text}, maxLookups)
}

func (f *Facts) addFailed(seq int64, tool string, in input, s *lathe.ToolFailed) {
	why := oneLine(s.Error)
	if rejection(why) {
		f.Answers = push(f.Answers, Fact{Seq: seq, Text: clip(fmt.Sprintf("refused: %s %s: %s", tool, subject(in), why), maxOutcome)}, maxAnswers)
		return
	}
	if tool == "bash" && in.Command != "" {
		f.addRun(seq, in.Command, nil, s.Error)
		return
	}
	text := clip(fmt.Sprintf("%s %s: %s", tool, subject(in), why), maxOutcome)
	f.Failures = replace(f.Failures, Fact{Seq: seq, Key: tool + " " + in.FilePath, Text: text}, maxFailures)
}

// rejection reports whether a person or a rule said no.
func rejection(why string) bool {
	w := strings.ToLower(why)
	return strings.Contains(w, "rejected permission") || strings.Contains(w, "user rejected") ||
		strings.Contains(w, "rule which prevents") || strings.Contains(w, "dismissed")
}

func subject(in input) string {
	for _, v := range []string{in.FilePath, in.Command, in.Pattern, in.Query, in.URL, in.Path} {
		if v != "" {
			return clip(oneLine(v), 200)
		}
	}
	return ""
}

// addRun notes a command. The newest run replaces older runs of the same
// command, so a failure that was fixed does not stay.
func (f *Facts) addRun(seq int64, command string, meta map[string]any, output string) {
	script := command
	command = clip(oneLine(command), maxCommandText)
	if command == "" {
		return
	}
	now := Run{Seq: seq, Command: command, Times: 1}
	now.Exit, now.Ended = lathe.MetaInt(meta["exit"])
	now.Sure = now.Exit == 0 && certain(script)
	if !now.Ended || now.Exit != 0 || !now.Sure {
		now.Outcome = tail(output, maxOutcome)
	}
	f.print(seq, command, output)
	if i := slices.IndexFunc(f.Commands, func(r Run) bool { return r.Command == command }); i >= 0 {
		now.Times += f.Commands[i].Times
		f.Commands = slices.Delete(f.Commands, i, i+1)
	}
	f.Commands = push(f.Commands, now, maxCommands)
}

// addPatch notes the files of an apply_patch call.
func (f *Facts) addPatch(seq int64, meta map[string]any) {
	files, _ := meta["files"].([]any)
	for _, v := range files {
		file, _ := v.(map[string]any)
		path, _ := file["filePath"].(string)
		to, _ := file["movePath"].(string)
		switch file["type"] {
		case "add":
			f.touch(seq, path, created)
		case "delete":
			f.touch(seq, path, deleted)
		case "move":
			f.touch(seq, path, deleted)
			f.touch(seq, to, created)
		default:
			f.touch(seq, path, changed)
		}
	}
}

// addProblems notes the diagnostics that a change left; a report without any for
// a file closes those it had.
func (f *Facts) addProblems(seq int64, meta map[string]any) {
	all, ok := meta["diagnostics"].(map[string]any)
	if !ok {
		return
	}
	if path, ok := meta["filepath"].(string); ok {
		f.Problems = remove(f.Problems, path)
	}
	paths := make([]string, 0, len(all))
	for path := range all {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		list := errorsAmong(all[path])
		f.Problems = remove(f.Problems, path)
		if len(list) == 0 {
			continue
		}
		first, _ := list[0].(map[string]any)
		text := fmt.Sprintf("%s: %d, first: %v", path, len(list), first["message"])
		f.Problems = replace(f.Problems, Fact{Seq: seq, Key: path, Text: clip(oneLine(text), maxOutcome)}, maxFailures)
	}
}

// errorsAmong returns the diagnostics that are errors; one without a severity counts as
// an error.
func errorsAmong(list any) (out []any) {
	all, _ := list.([]any)
	for _, d := range all {
		m, _ := d.(map[string]any)
		switch severity := m["severity"].(type) {
		case float64:
			if severity != 1 {
				continue
			}
		case int:
			if severity != 1 {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// shown notes how much of a file the model was shown: a part, or all of it.
func (f *Facts) shown(path string, part bool) {
	if i := slices.IndexFunc(f.Files, func(x File) bool { return x.Path == path }); i >= 0 {
		f.Files[i].Part = part
	}
}
