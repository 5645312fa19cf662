package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"lathe/internal/tool"
)

// aliases are the names that other agents' tools use for an argument, by tool, as
// [tool.Canonical] writes them: models know those by heart.
var aliases = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"bash": {
			"cmd": "command", "script": "command", "input": "command", "bash": "command", "shellcommand": "command", "commandline": "command", "code": "command",
			"cwd": "workdir", "workingdirectory": "workdir", "workingdir": "workdir", "dir": "workdir", "directory": "workdir", "path": "workdir",
			"timeoutms": "timeout", "explanation": "description", "reason": "description", "title": "description",
			"runinbackground": "background", "isbackground": "background", "detach": "background", "tty": "pty", "terminal": "pty",
		},
		"job": {"jobid": "id", "job": "id", "name": "id", "text": "input", "data": "input", "key": "keys", "pattern": "until", "regex": "until", "filter": "until", "timeoutms": "timeout"},
		"read": {
			"path": "filePath", "file": "filePath", "filename": "filePath", "absolutepath": "filePath", "targetfile": "filePath", "uri": "filePath",
			"startline": "offset", "start": "offset", "line": "offset", "from": "offset", "lines": "limit", "count": "limit", "maxlines": "limit", "numlines": "limit",
		},
		"write": {
			"path": "filePath", "file": "filePath", "filename": "filePath", "absolutepath": "filePath", "targetfile": "filePath",
			"text": "content", "contents": "content", "filetext": "content", "filecontent": "content", "code": "content", "data": "content", "newcontent": "content",
		},
		"edit": edits(), "multiedit": edits(),
		"grep": {
			"query": "pattern", "regex": "pattern", "search": "pattern", "searchterm": "pattern", "text": "pattern", "regexp": "pattern",
			"dir": "path", "directory": "path", "file": "path", "filepath": "path", "searchpath": "path", "cwd": "path",
			"glob": "include", "includepattern": "include", "filepattern": "include", "globpattern": "include",
		},
		"glob": {
			"globpattern": "pattern", "query": "pattern", "glob": "pattern", "name": "pattern", "filepattern": "pattern",
			"dir": "path", "directory": "path", "cwd": "path", "searchpath": "path",
		},
		"list": {
			"dir": "path", "directory": "path", "folder": "path", "filepath": "path", "relativeworkspacepath": "path", "dirpath": "path", "targetdirectory": "path",
		},
		"webfetch":    {"uri": "url", "link": "url", "address": "url"},
		"task":        {"sessionid": "task_id", "subagent": "subagent_type", "agent": "subagent_type", "agenttype": "subagent_type", "agentname": "subagent_type", "instructions": "prompt", "message": "prompt", "task": "prompt", "title": "description"},
		"todowrite":   {"items": "todos", "list": "todos", "tasks": "todos", "todolist": "todos", "plan": "todos", "steps": "todos"},
		"apply_patch": {"patch": "patchText", "input": "patchText", "diff": "patchText", "text": "patchText", "content": "patchText"},
		"skill":       {"skill": "name", "skillname": "name"},
		"recall":      {"q": "query", "pattern": "query", "text": "query"},
		"websearch":   {"q": "query", "search": "query"},
		"codesearch":  {"q": "query", "search": "query"},
	}
})

var edits = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"path": "filePath", "file": "filePath", "filename": "filePath", "absolutepath": "filePath", "targetfile": "filePath",
		"oldstr": "oldString", "old": "oldString", "oldtext": "oldString", "search": "oldString", "find": "oldString", "oldcontent": "oldString",
		"newstr": "newString", "new": "newString", "newtext": "newString", "replace": "newString", "replacement": "newString", "newcontent": "newString",
		"all": "replaceAll", "global": "replaceAll", "changes": "edits", "replacements": "edits",
	}
})

// bare is the argument that a plain text is taken for.
var bare = map[string]string{"bash": "command", "apply_patch": "patchText", "read": "filePath", "webfetch": "url"}

// decisive are arguments of other agents' tools that ours cannot honour: without them
// the call would do something other than what was meant.
var decisive = sync.OnceValue(func() map[string]map[string]string {
	return map[string]map[string]string{
		"bash": {
			"stdin": "commands get no input; put it into the command (a here-document)",
		},
		"write": {"append": "write replaces the whole file; use edit to add to it", "insertline": "write replaces the whole file; use edit to insert"},
		"edit":  {"regex": "oldString is plain text", "isregex": "oldString is plain text", "useregex": "oldString is plain text", "dryrun": "edit always changes the file"},
	}
})

// Bare and Adapt make the built-in tools a [tool.Adapter].
func (t builtIn) Bare() string { return bare[t.spec.Name] }

// Adapt accepts what models send to other agents' tools.
func (t builtIn) Adapt(args map[string]any) error {
	name := t.spec.Name
	for key, value := range args {
		if why := decisive()[name][tool.Canonical(key)]; why != "" && means(value) {
			return fmt.Errorf("%s cannot be carried out: %s", key, why)
		}
	}
	prepare(name, args)
	translate(aliases()[name], args)
	for _, list := range []string{"edits", "todos"} {
		items, _ := args[list].([]any)
		for _, item := range items {
			if entry, ok := item.(map[string]any); ok {
				translate(map[string]map[string]string{"edits": edits(), "todos": todoNames()}[list], entry)
			}
		}
	}
	finish(name, args)
	return nil
}

func means(value any) bool {
	return value != nil && value != false && value != "" && value != "false"
}

// translate renames arguments to our names. One given under our name keeps its value.
func translate(names map[string]string, args map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(args)) { // the same call always gives the same bytes
		own, ok := names[tool.Canonical(key)]
		if !ok || own == key {
			continue
		}
		if _, given := args[own]; !given {
			args[own] = args[key]
			delete(args, key)
		}
	}
}

// prepare converts arguments that have another unit or meaning elsewhere.
func prepare(name string, args map[string]any) {
	for key, value := range args {
		canon := tool.Canonical(key)
		switch {
		case name == "bash" && (canon == "timeoutseconds" || canon == "timeoutsec" || canon == "timeoutsecs"):
			if n, ok := number(value); ok {
				delete(args, key)
				args["timeout"] = n * 1000
			}
		case name == "grep" && (key == "-i" || canon == "ignorecase" || canon == "caseinsensitive") && means(value):
			delete(args, key)
			prefix(args, "(?i)")
		case name == "grep" && canon == "casesensitive" && value == false:
			delete(args, key)
			prefix(args, "(?i)")
		case name == "grep" && (key == "-F" || canon == "literal" || canon == "fixedstrings") && means(value):
			delete(args, key)
			if text, ok := args["pattern"].(string); ok {
				args["pattern"] = regexp.QuoteMeta(text)
			}
		}
	}
}

func prefix(args map[string]any, mark string) {
	for key, value := range args {
		if text, ok := value.(string); ok && (key == "pattern" || aliases()["grep"][tool.Canonical(key)] == "pattern") && !strings.HasPrefix(text, mark) {
			args[key] = mark + text
			return
		}
	}
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := json.Number(strings.TrimSpace(v)).Float64()
		return f, err == nil
	}
	return 0, false
}

var todoNames = sync.OnceValue(func() map[string]string {
	return map[string]string{"text": "content", "task": "content", "title": "content", "description": "content", "step": "content", "name": "content", "state": "status"}
})

var todoStates = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"done": "completed", "complete": "completed", "finished": "completed", "doing": "in_progress", "active": "in_progress", "inprogress": "in_progress",
		"started": "in_progress", "todo": "pending", "open": "pending", "notstarted": "pending", "canceled": "cancelled", "skipped": "cancelled",
	}
})

// finish fills in what follows from the rest.
func finish(name string, args map[string]any) {
	switch name {
	case "bash":
		if argv, ok := args["command"].([]any); ok {
			if line, ok := commandLine(argv); ok {
				args["command"] = line
			}
		}
	case "apply_patch":
		if argv, ok := args["command"].([]any); ok && len(argv) > 0 && args["patchText"] == nil {
			args["patchText"] = argv[len(argv)-1]
		}
	case "read":
		if lines, ok := args["view_range"].([]any); ok && len(lines) == 2 && args["offset"] == nil {
			args["offset"], args["end"] = lines[0], lines[1]
		}
		first, ok := number(args["offset"])
		last, given := number(firstOf(args, "end_line", "endLine", "end", "to"))
		if _, limited := args["limit"]; given && !limited && last >= max(first, 1) {
			if !ok {
				first = 1
			}
			args["limit"] = last - first + 1
		}
	case "edit":
		if list, ok := args["edits"].([]any); ok && len(list) == 1 {
			if only, ok := list[0].(map[string]any); ok {
				for _, key := range []string{"oldString", "newString", "replaceAll"} {
					if _, given := args[key]; !given && only[key] != nil {
						args[key] = only[key]
					}
				}
			}
		}
	case "task":
		if prompt, ok := args["prompt"].(string); ok && args["description"] == nil {
			args["description"] = strings.Join(strings.Fields(clip(prompt, 60)), " ")
		}
	case "todowrite":
		todos(args)
	}
}

func firstOf(args map[string]any, names ...string) any {
	for _, name := range names {
		if v, ok := args[name]; ok {
			return v
		}
	}
	return nil
}

// commandLine joins the words of a command; for a shell with a script, the script
// is the command.
func commandLine(argv []any) (string, bool) {
	words := make([]string, len(argv))
	for i, v := range argv {
		word, ok := v.(string)
		if !ok {
			return "", false
		}
		words[i] = word
	}
	if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") && strings.HasSuffix(words[0], "sh") {
		return words[2], true
	}
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]{}#~!\\") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " "), len(words) > 0
}

// todos accepts a list of texts, and entries without a state or priority.
func todos(args map[string]any) {
	list, _ := args["todos"].([]any)
	for i, v := range list {
		if text, ok := v.(string); ok {
			v = map[string]any{"content": text}
			list[i] = v
		}
		entry, ok := v.(map[string]any)
		if !ok {
			continue
		}
		if done, ok := entry["done"].(bool); ok && entry["status"] == nil && done {
			entry["status"] = "completed"
		}
		if state, ok := entry["status"].(string); ok {
			if own := todoStates()[tool.Canonical(state)]; own != "" {
				entry["status"] = own
			}
		} else {
			entry["status"] = "pending"
		}
		if entry["priority"] == nil {
			entry["priority"] = "medium"
		}
		if n, ok := entry["id"].(json.Number); ok {
			entry["id"] = n.String()
		}
	}
}
