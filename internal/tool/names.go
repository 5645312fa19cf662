package tool

import (
	"encoding/json"
	"slices"
	"strings"
)

// otherNames are what other agents call tools of our kinds, as [Canonical] writes it.
var otherNames = map[string]string{
	"shell": "bash", "runcommand": "bash", "executecommand": "bash", "runterminalcmd": "bash", "runshellcommand": "bash", "terminal": "bash", "execcommand": "bash", "localshell": "bash",
	"readfile": "read", "view": "read", "viewfile": "read", "openfile": "read", "cat": "read",
	"writefile": "write", "createfile": "write", "writetofile": "write",
	"editfile": "edit", "strreplace": "edit", "searchreplace": "edit", "replaceinfile": "edit", "replace": "edit",
	"grepsearch": "grep", "searchfiles": "grep", "ripgrep": "grep", "search": "grep", "searchfilecontent": "grep",
	"filesearch": "glob", "findfiles": "glob", "find": "glob",
	"listdir": "list", "ls": "list", "listdirectory": "list", "listfiles": "list", "readfolder": "list",
	"exec":  "bash",
	"fetch": "webfetch", "todo": "todowrite", "updateplan": "todowrite", "agent": "task", "patch": "apply_patch",
}

// editorNames are what the text editor of other agents is called, whose first argument
// says what it does.
var editorNames = []string{"strreplacebasededittool", "strreplaceeditor", "texteditor", "editor"}

// editorCommands are the tools that do what such an editor does.
var editorCommands = map[string]string{"view": "read", "create": "write"}

// called returns the tool that a call with these arguments means.
func (r *Registry) called(name, raw string) (string, bool) {
	if _, own := r.byName[name]; !own && slices.Contains(editorNames, Canonical(name)) {
		var args struct{ Command string }
		if json.Unmarshal([]byte(raw), &args) == nil && editorCommands[args.Command] != "" {
			name = editorCommands[args.Command]
		} else {
			name = "edit"
		}
	}
	own, ok := r.named(name)
	if _, bare, scoped := cutLast(name, ".:/"); !ok && scoped { // functions.bash, default_api:bash
		own, ok = r.named(bare)
	}
	return own, ok
}

// cutLast cuts a text at the last of some characters.
func cutLast(s, chars string) (before, after string, found bool) {
	i := strings.LastIndexAny(s, chars)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// named returns the tool for a name: its own, the same in another spelling, or
// what other agents call such a tool.
func (r *Registry) named(name string) (string, bool) {
	if _, ok := r.byName[name]; ok {
		return name, true
	}
	canon := Canonical(strings.TrimSpace(name))
	for _, e := range r.list {
		if Canonical(e.spec.Name) == canon {
			return e.spec.Name, true
		}
	}
	own, ok := otherNames[canon]
	if ok {
		_, ok = r.byName[own]
	}
	return own, ok
}

// Markers of a patch, as models write it.
const (
	patchBegin = "*** Begin Patch"
	patchEnd   = "*** End Patch"
)

// PatchInShell returns the patch of a command line that calls apply_patch as if it
// were a program.
func PatchInShell(input json.RawMessage) (string, bool) {
	var args struct{ Command string }
	if json.Unmarshal(input, &args) != nil {
		return "", false
	}
	line := strings.TrimSpace(args.Command)
	if !strings.HasPrefix(line, "apply_patch") && !strings.HasPrefix(line, "applypatch") {
		return "", false
	}
	from, to := strings.Index(line, patchBegin), strings.LastIndex(line, patchEnd)
	if from < 0 || to < from {
		return "", false
	}
	if rest := strings.Trim(line[to+len(patchEnd):], " \t\n\"'"); rest != "" && strings.ContainsAny(rest, " \t\n;&|") {
		return "", false // more follows, so this is for the shell
	}
	return line[from : to+len(patchEnd)], true
}
