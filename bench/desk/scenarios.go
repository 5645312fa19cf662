package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// scenarios are all mistakes that are played, by class.
var scenarios = slices.Concat(argumentMistakes, toolMistakes, jsonMistakes, editMistakes, pathMistakes, commandMistakes, answerMistakes, modeMistakes, parallelMistakes)

// once is a scenario of one mistake in one call.
func once(class, name string, s slip, done func(string) error) scenario {
	return scenario{class: class, name: name, play: func(m *model) { m.slip(s) }, done: done}
}

func reads(path string) call { return call{"read", args{"filePath": path}} }

func writes(path, text string) call { return call{"write", args{"filePath": path, "content": text}} }

func edits(path, old, put string) call {
	return call{"edit", args{"filePath": path, "oldString": old, "newString": put}}
}

func runs(command string) call {
	return call{"bash", args{"command": command, "description": "does the work"}}
}

func finds(pattern string) call { return call{"glob", args{"pattern": pattern}} }

func with(c call, more args) call {
	all := args{}
	for k, v := range c.args.(args) {
		all[k] = v
	}
	for k, v := range more {
		all[k] = v
	}
	return call{c.tool, all}
}

const (
	hello   = `Println\("hello"\)`
	edited  = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"bye\")\n}\n"
	oldCall = `fmt.Println("hello")`
	newCall = `fmt.Println("bye")`
)

var isEdited = holds("main.go", edited)

// names are the words that a refusal of arguments has to have to be of use.
func names(words ...string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(`(?:.*` + w + `)`)
	}
	return b.String()
}

var argumentMistakes = []scenario{
	once("names of arguments", "read with path", slip{call{"read", args{"path": "main.go"}}, reads("main.go"), hello, "filePath", nil}, nil),
	once("names of arguments", "read with file_path and lines", slip{call{"read", args{"file_path": "main.go", "start_line": 5, "end_line": 7}}, with(reads("main.go"), args{"offset": 5, "limit": 3}), `5: func main.*(?:\n|^)7: `, "filePath", nil}, nil),
	once("names of arguments", "edit with old_string", slip{call{"edit", args{"file_path": "main.go", "old_string": oldCall, "new_string": newCall}}, edits("main.go", oldCall, newCall), "success|applied", names("filePath", "oldString"), nil}, isEdited),
	once("names of arguments", "edit with path, old_str, new_str", slip{call{"edit", args{"path": "main.go", "old_str": oldCall, "new_str": newCall}}, edits("main.go", oldCall, newCall), "success|applied", names("filePath", "oldString"), nil}, isEdited),
	once("names of arguments", "edit with a list of edits", slip{call{"edit", args{"filePath": "main.go", "edits": []any{args{"oldString": oldCall, "newString": newCall}}}}, edits("main.go", oldCall, newCall), "success|applied", "oldString", nil}, isEdited),
	once("names of arguments", "write with path and contents", slip{call{"write", args{"path": "new.txt", "contents": "text\n"}}, writes("new.txt", "text\n"), "success|wrote", names("filePath", "content"), nil}, holds("new.txt", "text\n")),
	once("names of arguments", "bash with cmd", slip{call{"bash", args{"cmd": "cat main.go"}}, runs("cat main.go"), hello, "command", nil}, nil),
	once("names of arguments", "bash with a list of words", slip{call{"bash", args{"command": []string{"bash", "-lc", "cat main.go"}}}, runs("cat main.go"), hello, "command.*string", nil}, nil),
	once("names of arguments", "bash with a text alone", slip{call{"bash", `"cat main.go"`}, runs("cat main.go"), hello, "command", nil}, nil),
	once("names of arguments", "bash with cwd", slip{call{"bash", args{"command": "pwd", "cwd": "cli", "description": "d"}}, with(runs("pwd"), args{"workdir": "cli"}), `repo/cli`, "workdir", nil}, nil),
	once("names of arguments", "grep with query and glob", slip{call{"grep", args{"query": "func Run", "glob": "*.go"}}, call{"grep", args{"pattern": "func Run", "include": "*.go"}}, "cli.go", "pattern", nil}, nil),
	once("names of arguments", "numbers and truth as texts", slip{with(reads("main.go"), args{"offset": "5", "limit": "3"}), with(reads("main.go"), args{"offset": 5, "limit": 3}), `5: func main`, "offset.*number", nil}, nil),
	once("names of arguments", "arguments nobody knows", slip{with(reads("main.go"), args{"explanation": "to see it", "should_read_entire_file": true}), reads("main.go"), hello, "explanation", nil}, nil),
	once("names of arguments", "optional arguments as null", slip{with(reads("main.go"), args{"offset": nil, "limit": nil}), reads("main.go"), hello, "offset", nil}, nil),
	once("names of arguments", "one is missing", slip{call{"edit", args{"filePath": "main.go", "newString": newCall}}, edits("main.go", oldCall, newCall), "applied", "oldString", nil}, isEdited),
	once("names of arguments", "no arguments at all", slip{call{"read", ""}, reads("main.go"), hello, "filePath", nil}, nil),
	once("names of arguments", "todos without priority", slip{call{"todowrite", args{"todos": []any{args{"content": "one", "status": "pending"}, args{"content": "two", "status": "pending"}}}},
		call{"todowrite", args{"todos": []any{args{"content": "one", "status": "pending", "priority": "high"}, args{"content": "two", "status": "pending", "priority": "high"}}}}, "2 open|two", "priority", nil}, nil),
	once("names of arguments", "todos as texts", slip{call{"todowrite", args{"todos": []string{"one", "two"}}},
		call{"todowrite", args{"todos": []any{args{"content": "one", "status": "pending", "priority": "high"}, args{"content": "two", "status": "pending", "priority": "high"}}}}, "2 open|two", "content.*status", nil}, nil),
	once("names of arguments", "a subagent in another case", slip{call{"task", args{"description": "look", "prompt": subtask + "look", "subagent_type": "Explore"}},
		call{"task", args{"description": "look", "prompt": subtask + "look", "subagent_type": "explore"}}, "found nothing", "explore", nil}, nil),
	once("names of arguments", "an unknown subagent", slip{call{"task", args{"description": "look", "prompt": subtask + "look", "subagent_type": "code-searcher"}},
		call{"task", args{"description": "look", "prompt": subtask + "look", "subagent_type": "explore"}}, "found nothing", "explore", nil}, nil),
}

const addPatch = "*** Begin Patch\n*** Update File: main.go\n@@\n func main() {\n-\tfmt.Println(\"hello\")\n+\tfmt.Println(\"bye\")\n }\n*** End Patch"

// asEdit is how a model does without a tool for patches.
var asEdit = edits("main.go", oldCall, newCall)

const instead = `\bedit\b`

var toolMistakes = []scenario{
	once("names of tools", "Read", slip{call{"Read", args{"filePath": "main.go"}}, reads("main.go"), hello, `\bread\b`, nil}, nil),
	once("names of tools", "read_file", slip{call{"read_file", args{"path": "main.go"}}, reads("main.go"), hello, `\bread\b`, nil}, nil),
	once("names of tools", "shell", slip{call{"shell", args{"command": []string{"cat", "main.go"}}}, runs("cat main.go"), hello, `\bbash\b`, nil}, nil),
	once("names of tools", "functions.bash", slip{call{"functions.bash", args{"command": "cat main.go"}}, runs("cat main.go"), hello, `\bbash\b`, nil}, nil),
	once("names of tools", "str_replace_based_edit_tool", slip{call{"str_replace_based_edit_tool", args{"command": "str_replace", "path": "main.go", "old_str": oldCall, "new_str": newCall}}, asEdit, "applied", instead, nil}, isEdited),
	once("names of tools", "its view", slip{call{"str_replace_based_edit_tool", args{"command": "view", "path": "main.go"}}, reads("main.go"), hello, `\bread\b`, nil}, nil),
	once("names of tools", "a tool that nobody has", slip{call{"rename_symbol", args{"from": "main", "to": "Main"}}, reads("main.go"), hello, `\bread\b`, nil}, nil),
	once("names of tools", "todo list through update_plan", slip{call{"update_plan", args{"plan": []any{args{"step": "one", "status": "pending"}, args{"step": "two", "status": "pending"}}}},
		call{"todowrite", args{"todos": []any{args{"content": "one", "status": "pending", "priority": "high"}, args{"content": "two", "status": "pending", "priority": "high"}}}}, "2 open|two", "todowrite", nil}, nil),
	once("patches", "apply_patch through bash", slip{runs("apply_patch <<'EOF'\n" + addPatch + "\nEOF"), asEdit, "success|applied|updated", instead, nil}, isEdited),
	once("patches", "apply_patch after cd", slip{runs("cd . && apply_patch <<'EOF'\n" + addPatch + "\nEOF\n"), asEdit, "success|applied|updated", instead, nil}, isEdited),
	once("patches", "apply_patch where it is not offered", slip{call{"apply_patch", args{"input": addPatch}}, asEdit, "success|applied|updated", instead, nil}, isEdited),
	once("patches", "a patch without its end", slip{call{"apply_patch", args{"patchText": strings.TrimSuffix(addPatch, "\n*** End Patch")}}, asEdit, "success|applied|updated", "End Patch", nil}, isEdited),
	once("patches", "a unified diff", slip{call{"apply_patch", args{"patchText": "--- a/main.go\n+++ b/main.go\n@@ -5,3 +5,3 @@\n func main() {\n-\tfmt.Println(\"hello\")\n+\tfmt.Println(\"bye\")\n }\n"}}, asEdit, "success|applied|updated", "Begin Patch", nil}, isEdited),
}

var jsonMistakes = []scenario{
	once("broken JSON", "a comma too many", slip{call{"read", `{"filePath":"main.go",}`}, reads("main.go"), hello, "JSON|comma|pars", nil}, nil),
	once("broken JSON", "line ends within a text", slip{call{"write", "{\"filePath\":\"new.txt\",\"content\":\"a\nb\n\"}"}, writes("new.txt", "a\nb\n"), "success|wrote", "JSON|pars", nil}, holds("new.txt", "a\nb\n")),
	once("broken JSON", "a fence around it", slip{call{"read", "```json\n{\"filePath\":\"main.go\"}\n```"}, reads("main.go"), hello, "JSON|pars", nil}, nil),
	once("broken JSON", "single quotes", slip{call{"read", `{'filePath': 'main.go'}`}, reads("main.go"), hello, "JSON|pars", nil}, nil),
	once("broken JSON", "encoded twice", slip{call{"read", `"{\"filePath\":\"main.go\"}"`}, reads("main.go"), hello, "JSON|filePath|pars", nil}, nil),
	once("broken JSON", "a list encoded as text", slip{call{"todowrite", args{"todos": `[{"content":"one","status":"pending","priority":"high"}]`}},
		call{"todowrite", args{"todos": []any{args{"content": "one", "status": "pending", "priority": "high"}}}}, "1 open|one", "array|list", nil}, nil),
	once("broken JSON", "an escape that JSON does not have", slip{call{"grep", `{"pattern":"func\s+Run"}`}, call{"grep", args{"pattern": `func\s+Run`}}, "cli.go", `JSON|escape|pars`, nil}, nil),
}

const tabbed = "package main\n\nfunc f() {\n\tif ok {\n\t\tone()\n\t\ttwo()\n\t}\n}\n"

var editMistakes = []scenario{
	once("edits", "line numbers copied", slip{edits("main.go", "6: \t"+oldCall, "6: \t"+newCall), asEdit, "applied", "number", nil}, isEdited),
	once("edits", "four blanks for a tab", slip{edits("f.go", "    if ok {\n        one()\n        two()\n    }", "    if ok {\n        two()\n        one()\n    }"),
		edits("f.go", "\tif ok {\n\t\tone()\n\t\ttwo()\n\t}", "\tif ok {\n\t\ttwo()\n\t\tone()\n\t}"), "applied", "\tone", []call{reads("f.go")}},
		holds("f.go", strings.Replace(tabbed, "one()\n\t\ttwo()", "two()\n\t\tone()", 1))),
	once("edits", "a word that differs", slip{edits("cli/cli.go", "// Run does run.\nfunc Run() int {\n\treturn 0\n}", "func Run() int {\n\treturn 1\n}"), edits("cli/cli.go", "\treturn 0\n", "\treturn 1\n"), "applied", `// Run runs\.`, []call{reads("cli/cli.go")}}, contains("cli/cli.go", "return 1")),
	once("edits", "text of another file", slip{edits("cli/cli.go", oldCall, newCall), asEdit, "applied", "another file|grep", []call{reads("cli/cli.go"), call{"grep", args{"pattern": "hello"}}}}, isEdited),
	once("edits", "found twice", slip{edits("two.go", "\treturn 0\n", "\treturn 1\n"), edits("two.go", "func b() int {\n\treturn 0\n", "func b() int {\n\treturn 1\n"), "applied", `lines? 4(?:, | and )8`, []call{reads("two.go")}},
		contains("two.go", "func b() int {\n\treturn 1\n", "func a() int {\n\treturn 0\n")),
	once("edits", "nothing would change", slip{edits("main.go", oldCall, oldCall), asEdit, "applied", "identical|no change", nil}, isEdited),
	once("edits", "line ends written as \\n", slip{edits("cli/cli.go", `func Run() int {\n\treturn 0\n}`, `func Run() int {\n\treturn 1\n}`), edits("cli/cli.go", "\treturn 0", "\treturn 1"), "applied", `func Run`, []call{reads("cli/cli.go")}}, contains("cli/cli.go", "func Run() int {\n\treturn 1\n}")),
	once("edits", "of a file that was not read", slip{edits("main.go", oldCall, newCall), asEdit, "applied", `\bread\b`, []call{reads("main.go")}}, isEdited),
	once("edits", "of a file with CRLF", slip{edits("crlf.txt", "one\ntwo", "one\n2"), edits("crlf.txt", "one\r\ntwo", "one\r\n2"), "applied", "CRLF", []call{reads("crlf.txt")}}, holds("crlf.txt", "one\r\n2\r\nthree\r\n")),
	once("edits", "an empty oldString for a file that is there", slip{edits("docs/list.md", "", "four\n"), edits("docs/list.md", "three\n", "three\nfour\n"), "applied", `exact text|\bwrite\b`, []call{reads("docs/list.md")}}, holds("docs/list.md", "one\ntwo\nthree\nfour\n")),
	once("edits", "of a file that is not there", slip{edits("cli/clii.go", "return 0", "return 1"), edits("cli/cli.go", "return 0", "return 1"), "applied", `cli/cli\.go`, []call{finds("**/cli*.go")}}, contains("cli/cli.go", "return 1")),
	{class: "edits", name: "what was read is stale", play: func(m *model) {
		m.use(reads("main.go"))
		if m.errs {
			m.use(runs("sed -i 's/hello/hullo/' main.go"))
		} else {
			m.use(runs("true"))
		}
		m.slip(slip{edits("main.go", "\tfmt.Println(\"hello\")\n", "\tfmt.Println(\"bye\")\n"), edits("main.go", map[bool]string{true: `fmt.Println("hullo")`, false: oldCall}[m.errs], newCall), "applied", "hullo", []call{reads("main.go")}})
	}, done: isEdited},
	{class: "edits", name: "the file changed elsewhere meanwhile", play: func(m *model) {
		m.use(reads("main.go"))
		change := "true"
		if m.errs {
			change = "sed -i 's/package main/package main \\/\\/ x/' main.go"
		}
		m.use(runs(change))
		m.slip(slip{asEdit, asEdit, "applied", "changed since|read it again", []call{reads("main.go")}})
	}, done: contains("main.go", newCall)},
	{class: "edits", name: "the same edit again", play: func(m *model) {
		m.use(asEdit)
		if m.errs {
			m.judge(m.use(asEdit), "", `Println\("bye"\)|already`)
		}
	}, done: isEdited},
	{class: "edits", name: "the second of three replacements", play: func(m *model) {
		list := func(second string) call {
			return call{"multiedit", args{"filePath": "docs/list.md", "edits": []any{
				args{"oldString": "one", "newString": "1"}, args{"oldString": second, "newString": "2"}, args{"oldString": "three", "newString": "3"}}}}
		}
		m.slip(slip{list("twoo"), list("two"), "applied", `2 of 3.*not changed.*two`, []call{reads("docs/list.md")}})
	}, done: holds("docs/list.md", "1\n2\n3\n")},
	{class: "edits", name: "write over a file that was not read", play: func(m *model) {
		if !m.errs {
			m.use(reads("docs/list.md"))
			m.use(writes("docs/list.md", "four\n"))
			return
		}
		if m.judge(m.use(writes("docs/list.md", "four\n")), "success|wrote", `\bread\b`) {
			return
		}
		m.use(reads("docs/list.md"))
		m.use(writes("docs/list.md", "four\n"))
	}, done: holds("docs/list.md", "four\n")},
	{class: "edits", name: "write after cat", play: func(m *model) {
		look := reads("docs/list.md")
		if m.errs {
			look = runs("cat docs/list.md")
		}
		m.use(look)
		m.slip(slip{writes("docs/list.md", "four\n"), writes("docs/list.md", "four\n"), "success|wrote", `\bread\b`, []call{reads("docs/list.md")}})
	}, done: holds("docs/list.md", "four\n")},
	{class: "edits", name: "replaceAll after grep", play: func(m *model) {
		look := reads("docs/list.md")
		if m.errs {
			look = call{"grep", args{"pattern": "two", "path": "docs"}}
		}
		m.use(look)
		all := with(edits("docs/list.md", "two", "2"), args{"replaceAll": true})
		m.slip(slip{all, all, "applied", `\bread\b`, []call{reads("docs/list.md")}})
	}, done: holds("docs/list.md", "one\n2\nthree\n")},
}

var pathMistakes = []scenario{
	once("paths", "a letter too many", slip{reads("cli/clii.go"), reads("cli/cli.go"), "func Run", `cli/cli\.go`, []call{finds("**/cli*.go")}}, nil),
	once("paths", "another directory", slip{reads("src/cli.go"), reads("cli/cli.go"), "func Run", `cli/cli\.go`, []call{finds("**/cli.go")}}, nil),
	once("paths", "another root", slip{reads("/workspace/cli/cli.go"), reads("cli/cli.go"), "func Run", `repo/cli/cli\.go|outside the project \(\S+repo\)`, []call{finds("**/cli.go")}}, nil),
	once("paths", "the prefix of a diff", slip{reads("b/cli/cli.go"), reads("cli/cli.go"), "func Run", `cli/cli\.go`, []call{finds("**/cli.go")}}, nil),
	once("paths", "an @ before it", slip{reads("@cli/cli.go"), reads("cli/cli.go"), "func Run", `cli/cli\.go`, []call{finds("**/cli.go")}}, nil),
	once("paths", "a line number after it", slip{reads("cli/cli.go:4"), reads("cli/cli.go"), "func Run", `cli/cli\.go(?:\n|$)`, []call{finds("**/cli.go")}}, nil),
	once("paths", "a directory", slip{reads("cli"), reads("cli/cli.go"), "func Run", `cli\.go`, []call{finds("cli/*")}}, nil),
	once("paths", "grep in a path that is not there", slip{call{"grep", args{"pattern": "func Run", "path": "clii"}}, call{"grep", args{"pattern": "func Run", "path": "cli"}}, "", `repo/cli\b`, []call{call{"list", args{}}}}, nil),
	once("paths", "glob in a path that is not there", slip{call{"glob", args{"pattern": "*.go", "path": "clii"}}, call{"glob", args{"pattern": "*.go", "path": "cli"}}, `cli\.go`, `repo/cli\b`, []call{call{"list", args{}}}}, nil),
	once("paths", "list of a path that is not there", slip{call{"list", args{"path": "clii"}}, call{"list", args{"path": "cli"}}, `cli\.go`, `repo/cli\b`, []call{call{"list", args{}}}}, nil),
	once("paths", "a workdir that is not there", slip{with(runs("cat cli.go"), args{"workdir": "clii"}), with(runs("cat cli.go"), args{"workdir": "cli"}), "func Run", `repo/cli\b`, []call{call{"list", args{}}}}, nil),
	once("paths", "an offset behind the end", slip{with(reads("main.go"), args{"offset": 500}), reads("main.go"), hello, `\b[78] lines`, nil}, nil),
	once("paths", "grep for what is not there", slip{call{"grep", args{"pattern": "func Start", "path": "cli"}}, call{"grep", args{"pattern": "func Run", "path": "cli"}}, "", `no (?:line|match|file)`, nil}, nil),
	once("paths", "a pattern that is no expression", slip{call{"grep", args{"pattern": "Run("}}, call{"grep", args{"pattern": `Run\(`}}, `func Run`, `missing|paren|escape|unclosed`, nil}, nil),
	once("paths", "a look-ahead", slip{call{"grep", args{"pattern": `func (?=Run)`}}, call{"grep", args{"pattern": `func Run`}}, `func Run`, `look`, nil}, nil),
	once("paths", "a picture that is none", slip{reads("logo.png"), runs("head -c 5 logo.png"), "not a", "not|cannot|binary|text", nil}, nil),
}

func init() {
	files := map[string]map[string]string{
		"edits: four blanks for a tab":  {"f.go": tabbed},
		"edits: found twice":            {"two.go": "package p\n\nfunc a() int {\n\treturn 0\n}\n\nfunc b() int {\n\treturn 0\n}\n"},
		"edits: of a file with CRLF":    {"crlf.txt": "one\r\ntwo\r\nthree\r\n"},
		"paths: a picture that is none": {"logo.png": "not a picture\n"},
	}
	for i := range scenarios {
		s := &scenarios[i]
		if f := files[s.class+": "+s.name]; f != nil {
			s.files = f
		}
	}
}

// exists reports unless a file of the repository is there.
func exists(name string) func(string) error {
	return func(dir string) error { _, err := os.Stat(filepath.Join(dir, name)); return err }
}

// untouched reports when a file of the repository is there.
func untouched(name string) func(string) error {
	return func(dir string) error {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s was made", name)
		}
		return nil
	}
}
