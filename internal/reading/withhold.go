package reading

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

// Withheld stands for what a call printed that may not be shown any more.
const Withheld = "(withheld: the rules do not let this file be read without an ask)"

// Withholds reports whether a tool call of a session printed the content of a file
// that may not be shown under these rules: it may have run under others, or after
// an ask.
func Withholds(rules tool.Reading, root workspace.Root, call *lathe.ToolCall) bool {
	done, ok := call.State.(*lathe.ToolDone)
	if !ok {
		return false
	}
	shows := func(path string) bool {
		real, err := root.Resolve(path)
		return err != nil || rules.Content(real).Action == lathe.Allow
	}
	switch call.Tool {
	case Name:
		var in struct {
			FilePath string `json:"filePath"`
		}
		return json.Unmarshal(done.Input, &in) == nil && in.FilePath != "" && !shows(in.FilePath)
	case "grep":
		for line := range strings.Lines(done.Output) {
			path, header := strings.CutSuffix(strings.TrimRight(line, "\n"), ":")
			if header && filepath.IsAbs(path) && !shows(path) {
				return true
			}
		}
	}
	return false
}

// Parts returns the parts with what may not be shown under these rules replaced by
// [Withheld]; parts in which nothing is stay the same.
func Parts(rules tool.Reading, root workspace.Root, parts []lathe.Part) []lathe.Part {
	out := parts
	for i, p := range parts {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok || !Withholds(rules, root, call) {
			continue
		}
		if &out[0] == &parts[0] {
			out = append([]lathe.Part{}, parts...)
		}
		c, done := *call, *call.State.(*lathe.ToolDone)
		done.Output, done.Metadata, done.Attachments = Withheld, nil, nil
		c.State, out[i].Body = &done, &c
	}
	return out
}
