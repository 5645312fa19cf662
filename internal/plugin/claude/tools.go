package claude

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"lathe/internal/tool"
)

// names are what Claude Code calls lathe's tools.
var names = map[string]string{
	"bash": "Bash", "edit": "Edit", "multiedit": "MultiEdit", "write": "Write", "read": "Read", "glob": "Glob", "grep": "Grep", "list": "LS",
	"webfetch": "WebFetch", "websearch": "WebSearch", "task": "Task", "todowrite": "TodoWrite", "todoread": "TodoRead", "skill": "Skill",
	"question": "AskUserQuestion", "plan_exit": "ExitPlanMode", "plan_enter": "EnterPlanMode", "lsp": "LSP",
}

// keys are arguments that have another name there.
var keys = map[string]string{
	"filePath": "file_path", "oldString": "old_string", "newString": "new_string", "replaceAll": "replace_all", "include": "glob",
}

// call is a tool call in Claude Code's words.
type call struct {
	Name  string
	Input map[string]any
	back  bool // changes of the input can be taken
}

// calls tells a call of lathe's in Claude Code's words: a patch is an edit or a writing of
// each of its files.
func (s *Set) calls(name string, args json.RawMessage) []call {
	var in map[string]any
	if json.Unmarshal(args, &in) != nil || in == nil {
		in = map[string]any{}
	}
	if name == "apply_patch" {
		text, _ := in["patchText"].(string)
		if out := patched(s.o.Place.Dir, text); len(out) > 0 {
			return out
		}
	}
	known, builtin := names[name]
	if !builtin {
		return []call{{Name: s.foreign(name), Input: in, back: true}}
	}
	renamed, _ := rename(in, keys).(map[string]any)
	if file, ok := renamed["file_path"].(string); ok && file != "" && !filepath.IsAbs(file) {
		renamed["file_path"] = filepath.Join(s.o.Place.Dir, file)
	}
	return []call{{Name: known, Input: renamed, back: true}}
}

// named is the name of a server as it stands in the names of its tools.
func named(server string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, server)
}

// foreign is the name of a tool that lathe did not bring.
func (s *Set) foreign(name string) string {
	best := ""
	for _, server := range s.o.Servers() {
		server = named(server)
		if strings.HasPrefix(name, server+"_") && len(server) > len(best) {
			best = server
		}
	}
	if best == "" {
		return name
	}
	return "mcp__" + best + "__" + strings.TrimPrefix(name, best+"_")
}

// unmapped turns changed input back into lathe's arguments.
func unmapped(name string, input map[string]any) (json.RawMessage, error) {
	if _, builtin := names[name]; !builtin {
		return json.Marshal(input)
	}
	back := make(map[string]string, len(keys))
	for mine, theirs := range keys {
		if theirs != "glob" || name == "grep" {
			back[theirs] = mine
		}
	}
	return json.Marshal(rename(input, back))
}

// rename renames the keys of objects at any depth.
func rename(v any, to map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			if other, ok := to[key]; ok {
				key = other
			}
			out[key] = rename(one, to)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = rename(one, to)
		}
		return out
	}
	return v
}

// patched tells what a patch does to each file.
func patched(dir, text string) (out []call) {
	var before, after strings.Builder
	flush := func() {
		if len(out) == 0 {
			return
		}
		in := out[len(out)-1].Input
		if out[len(out)-1].Name == "Write" {
			in["content"] = after.String()
		} else {
			in["old_string"], in["new_string"] = before.String(), after.String()
		}
		before.Reset()
		after.Reset()
	}
	begin := func(name, path string) {
		flush()
		if path = strings.TrimSpace(path); !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		out = append(out, call{Name: name, Input: map[string]any{"file_path": path}})
	}
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(line, "*** Update File: "); ok {
			begin("Edit", path)
		} else if path, ok := strings.CutPrefix(line, "*** Add File: "); ok {
			begin("Write", path)
		} else if path, ok := strings.CutPrefix(line, "*** Delete File: "); ok {
			begin("Edit", path)
		} else if path, ok := strings.CutPrefix(line, "*** Move to: "); ok {
			begin("Edit", path)
		} else if added, ok := strings.CutPrefix(line, "+"); ok {
			after.WriteString(added)
		} else if removed, ok := strings.CutPrefix(line, "-"); ok {
			before.WriteString(removed)
		} else if same, ok := strings.CutPrefix(line, " "); ok {
			before.WriteString(same)
			after.WriteString(same)
		}
	}
	flush()
	return out
}

// response tells a result in the shapes that hooks look for.
func response(c call, res tool.Result) map[string]any {
	out := map[string]any{"output": res.Output, "title": res.Title}
	switch c.Name {
	case "Bash":
		out["stdout"], out["stderr"], out["interrupted"] = res.Output, "", false
	case "Edit", "Write", "MultiEdit":
		out["filePath"], out["success"] = c.Input["file_path"], true
	case "Read":
		out["type"], out["file"] = "text", map[string]any{"filePath": c.Input["file_path"], "content": res.Output}
	}
	return out
}
