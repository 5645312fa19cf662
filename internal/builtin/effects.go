package builtin

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"lathe/internal/judge"
	"lathe/internal/permission"
	"lathe/internal/tool"
	"lathe/internal/workspace"
)

const (
	maxScript  = 256 << 10 // of a script file that is looked into
	maxScripts = 8         // of one command
)

// effects finds what a command would change besides the files it names: from what
// its programs are known to do, and from the contents of scripts it runs.
type effects struct {
	root workspace.Root
	env  judge.Env
	left int // scripts that may still be looked into
	reqs []tool.Request
}

// request returns the permission that a command's changes need. Nobody is asked: only
// an agent that may not change anything is refused.
func (e *effects) request(a judge.Analysis, source string) []tool.Request {
	e.left = maxScripts
	e.command(a, source, "", "leave it out")
	return e.reqs
}

func (e *effects) add(text, doing, instead string) {
	e.reqs = append(e.reqs, tool.Request{Permission: permission.Change, Patterns: []string{text}, Always: []string{"*"}, Doing: doing, Instead: instead})
}

// command looks at a command line, or at a script that it runs, whose name is by.
func (e *effects) command(a judge.Analysis, source, by, instead string) {
	for _, c := range a.Changes() {
		e.add(c.Text, runs(by, c.Text)+" changes "+c.What, instead)
	}
	for _, c := range a.Commands {
		if len(c.Args) > 0 && c.Dir != "" {
			e.program(c, source, by, instead)
		}
	}
}

// runs names a command inside a script.
func runs(by, text string) string {
	text = clip(text, 80)
	if by == "" {
		return text
	}
	return by + " runs " + text + ", which"
}

// interpreters run the file that they are given, or the code after an option.
var interpreters = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"sh": "sh", "bash": "sh", "dash": "sh", "zsh": "sh", "ksh": "sh", "source": "sh", ".": "sh",
		"python": "", "python3": "", "python2": "", "node": "", "deno": "", "bun": "", "ruby": "", "perl": "", "php": "", "tsx": "", "ts-node": "",
	}
})

// program looks into what a command runs.
func (e *effects) program(c judge.Cmd, source, by, instead string) {
	name := filepath.Base(c.Args[0])
	kind, interprets := interpreters()[name]
	file := ""
	switch {
	case interprets:
		for _, w := range c.Args[1:] {
			if w == "run" && (name == "deno" || name == "bun") {
				continue
			}
			if !strings.HasPrefix(w, "-") {
				file = w
				break
			}
			if w == "-c" || w == "-e" || w == "-" || w == "--eval" || w == "-m" || w == "-r" {
				break
			}
		}
		if file == "" && kind != "sh" {
			if call := writing(source); call != "" {
				e.add(c.Text, runs(by, name)+" writes files ("+call+")", instead)
			}
			return
		}
	case strings.Contains(c.Args[0], "/"):
		file = c.Args[0]
	}
	if file != "" {
		e.script(file, c, kind)
	}
}

// script looks into a script of the workspace that a command runs.
func (e *effects) script(file string, c judge.Cmd, kind string) {
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Dir, file)
	}
	real, err := e.root.Resolve(file)
	if err != nil || !e.root.Contains(real) || e.left == 0 {
		return
	}
	e.left--
	text, err := workspace.ReadFile(real, maxScript)
	if err != nil || workspace.IsBinary(real, text[:min(len(text), 4096)]) {
		return
	}
	by, instead := e.root.Name(real), "read it rather than run it"
	if kind != "sh" && !shellScript(real, string(text)) {
		if call := writing(string(text)); call != "" {
			e.add(c.Text, by+" writes files ("+call+")", instead)
		}
		return
	}
	env := e.env
	env.Dir = c.Dir
	a := judge.Analyze(string(text), env)
	for _, w := range a.Writes {
		if w.Dynamic && w.Within == "" || !w.Dynamic && e.root.Contains(w.Path) {
			e.add(c.Text, by+" writes "+e.written(w), instead)
			return
		}
	}
	e.command(a, string(text), by, instead)
}

func (e *effects) written(w judge.PathUse) string {
	if w.Dynamic {
		return "files (" + clip(w.Path, 80) + ")"
	}
	return e.root.Name(w.Path)
}

func shellScript(path, text string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".sh", ".bash", ".zsh", ".ksh":
		return true
	}
	first, _, _ := strings.Cut(text, "\n")
	return strings.HasPrefix(first, "#!") && shebang().MatchString(first)
}

var shebang = pattern(`\b(?:ba|da|z|k)?sh\b`)

// writes are calls of scripting languages that change files.
var writes = pattern(`\bopen\s*\([^)\n]*,\s*(?:mode\s*=\s*)?['"][rbt]*[wax+][wabtx+]*['"]\)?|\.write_(?:text|bytes)\s*\(|\bos\.(?:remove|unlink|rename|replace|mkdir|makedirs|rmdir|removedirs|truncate|symlink|link|chmod)\s*\(|` +
	`\bshutil\.(?:copy\w*|move|rmtree)\s*\(|\b(?:writeFile|appendFile|createWriteStream|copyFile|mkdtemp)(?:Sync)?\s*\(|\bfs(?:\.promises|Promises|p)?\.(?:rm|rmdir|unlink|rename|mkdir|truncate|symlink|chmod|cp|write)(?:Sync)?\s*\(|` +
	`\b(?:Bun\.write|Deno\.(?:write\w*|remove|rename|mkdir|copyFile|truncate))\s*\(|\b(?:File|IO)\.write\b|\bFile\.(?:open|new)\s*\([^)\n]*,\s*['"][wa]|\bFile\.(?:delete|unlink|rename)\b|\bFileUtils\.\w+|\bDir\.mkdir\b|` +
	`\bfile_put_contents\s*\(|\bfopen\s*\([^)\n]*,\s*['"][waxc]|\bunlink\s*[( ]|\bopen\s*\(?\s*(?:my\s+)?[$\w]+\s*,\s*['"]\+?>{1,2}`)

// writing returns the call in a program's text that changes files, or "".
func writing(code string) string {
	return clip(strings.Join(strings.Fields(writes().FindString(code)), " "), 60)
}

// describe says what a judged request is about, for the model in case it is refused.
func (e shellTools) describe(req *tool.Request, a judge.Analysis) {
	switch req.Permission {
	case "edit":
		w := a.Writes[0]
		req.Doing = "this command writes " + (&effects{root: e.Root}).written(w)
		if req.Instead = "leave it out"; strings.ContainsAny(w.By, "<>") {
			req.Instead = "drop the redirection"
		}
	case "read":
		req.Doing = "this command reads " + strings.Join(req.Patterns, ", ")
	case "external_directory":
		req.Doing = fmt.Sprintf("this command uses files outside the project (%s): %s", e.Root.Dir, strings.Join(req.Patterns, ", "))
	case "bash":
		req.Doing = "this command runs " + clip(strings.Join(req.Patterns, ", "), 200)
	}
}
