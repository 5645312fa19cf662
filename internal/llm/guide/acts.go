package guide

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"lathe/internal/llm"
)

type (
	help       struct{}
	tour       struct{}
	test       struct{}
	find       struct{ what string }
	read       struct{ file string }
	count      struct{ what string }
	countFiles struct{ kind string }
	countLines struct{ path string }
	run        struct{ command string }
	create     struct{ file, content string }
	replace    struct{ old, new, file string }
)

type args = map[string]any

const note = "\n\n---\nThis was the offline guide: it follows fixed rules and is not a language model. " +
	"To connect one, run `lathe auth login <provider>` or set a key such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, " +
	"or start a local server such as Ollama; `lathe models` lists what is there."

const helpText = "I am lathe's offline guide. I am not a language model, but I can show you how lathe works, " +
	"with real tools on your real files. Try one of these:\n\n" +
	"- give me a tour of this project\n" +
	"- find TODO\n" +
	"- read README.md\n" +
	"- count lines, count go files, count panic\n" +
	"- replace foo with bar in notes.txt\n" +
	"- create hello.txt with hello there\n" +
	"- run git status\n" +
	"- run the tests"

func say(format string, a ...any) reply { return reply{text: fmt.Sprintf(format, a...) + note} }

func call(text, name string, a args) reply {
	return reply{text: text, calls: []toolCall{{name, a}}}
}

// failed returns the message of the newest result if it is a failure.
func (s state) failed() (string, bool) {
	if n := len(s.results); n > 0 && s.results[n-1].Failed {
		return s.results[n-1].Output, true
	}
	return "", false
}

func (help) next(state) reply { return reply{text: helpText + note} }

func (tour) next(s state) reply {
	if len(s.results) == 0 {
		return reply{text: "Let me look around.", calls: []toolCall{
			{"glob", args{"pattern": "**/*"}},
			{"glob", args{"pattern": "{README,Readme,readme}*"}},
			{"glob", args{"pattern": "{go.mod,package.json,Cargo.toml,pyproject.toml,pom.xml,build.gradle,Makefile,CMakeLists.txt,AGENTS.md,CLAUDE.md}"}},
		}}
	}
	readmes := lines(s.results[1].Output)
	if len(s.results) == 3 && len(readmes) > 0 {
		return call("", "read", args{"filePath": readmes[0], "limit": 40})
	}
	return tourText(s)
}

func tourText(s state) reply {
	files := lines(s.results[0].Output)
	var b strings.Builder
	fmt.Fprintf(&b, "**What is here:** %s.", kinds(files, strings.Contains(s.results[0].Output, "truncated")))
	if marks := lines(s.results[2].Output); len(marks) > 0 {
		var names []string
		for _, m := range marks {
			names = append(names, path.Base(m))
		}
		fmt.Fprintf(&b, "\n\n**Project files:** %s.", strings.Join(names, ", "))
	}
	if len(s.results) > 3 && !s.results[3].Failed {
		if intro := firstParagraph(s.results[3].Output); intro != "" {
			fmt.Fprintf(&b, "\n\n**From the README:** %s", intro)
		}
	}
	return say("%s", b.String())
}

// lines returns the paths in a glob result.
func lines(out string) []string {
	var paths []string
	for l := range strings.Lines(out) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "/") || (len(l) > 2 && l[1] == ':') {
			paths = append(paths, l)
		}
	}
	return paths
}

// kinds counts files by extension: "12 files: 8 .go, 2 .md, 2 others".
func kinds(files []string, more bool) string {
	byExt := map[string]int{}
	for _, f := range files {
		ext := path.Ext(f)
		if ext == "" {
			ext = "no extension"
		}
		byExt[ext]++
	}
	exts := make([]string, 0, len(byExt))
	for e := range byExt {
		exts = append(exts, e)
	}
	sort.Slice(exts, func(i, j int) bool {
		if byExt[exts[i]] != byExt[exts[j]] {
			return byExt[exts[i]] > byExt[exts[j]]
		}
		return exts[i] < exts[j]
	})
	var parts []string
	for i, e := range exts {
		if i == 5 {
			parts = append(parts, "others")
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", byExt[e], e))
	}
	atLeast := ""
	if more {
		atLeast = "more than "
	}
	return fmt.Sprintf("%s%d files (%s)", atLeast, len(files), strings.Join(parts, ", "))
}

var numbered = regexp.MustCompile(`^\d+: ?`)

// firstParagraph returns the first words of a file that the read tool showed.
func firstParagraph(out string) string {
	var para []string
	for l := range strings.Lines(out) {
		l = strings.TrimSpace(l)
		if !numbered.MatchString(l) {
			continue
		}
		l = strings.TrimSpace(numbered.ReplaceAllString(l, ""))
		if l == "" && len(para) > 0 {
			break
		}
		if l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "[!") && !strings.HasPrefix(l, "<") {
			para = append(para, l)
		}
	}
	text := []rune(strings.Join(para, " "))
	if len(text) > 400 {
		return string(text[:399]) + "…"
	}
	return string(text)
}

func (f find) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "grep", args{"pattern": regexp.QuoteMeta(f.what)})
	}
	if msg, bad := s.failed(); bad {
		return say("The search failed: %s", msg)
	}
	out := s.results[len(s.results)-1].Output
	if !strings.HasPrefix(out, "Found") {
		return say("I found no file that contains `%s`.", f.what)
	}
	return say("Here is where `%s` stands:\n\n%s", f.what, clip(out, 40))
}

func clip(text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > n {
		all = append(all[:n], fmt.Sprintf("… and %d more lines", len(all)-n))
	}
	return strings.Join(all, "\n")
}

func (r read) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "read", args{"filePath": r.file})
	}
	if msg, bad := s.failed(); bad {
		return say("I could not read %s: %s", r.file, msg)
	}
	return say("%s", clip(s.results[len(s.results)-1].Output, 60))
}

func (c count) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "grep", args{"pattern": regexp.QuoteMeta(c.what)})
	}
	if msg, bad := s.failed(); bad {
		return say("The search failed: %s", msg)
	}
	out := s.results[len(s.results)-1].Output
	n := strings.Count(out, "\n  Line ")
	more := ""
	if strings.Contains(out, "truncated") || strings.Contains(out, "more matches") {
		more = "at least "
	}
	return say("`%s` stands in %s%d lines.", c.what, more, n)
}

var languages = map[string]string{
	"go": "*.go", "python": "*.py", "py": "*.py", "js": "*.js", "javascript": "*.js", "ts": "*.ts", "typescript": "*.ts",
	"rust": "*.rs", "rs": "*.rs", "java": "*.java", "c": "*.c", "markdown": "*.md", "md": "*.md", "json": "*.json", "test": "*test*",
}

func (c countFiles) next(s state) reply {
	glob := "*"
	if k := strings.ToLower(strings.Trim(c.kind, ".*")); k != "" {
		glob = "*." + k
		if g, ok := languages[k]; ok {
			glob = g
		}
	}
	if len(s.results) == 0 {
		return call("", "bash", args{
			"command":     "git ls-files --cached --others --exclude-standard -- '" + glob + "' 2>/dev/null | wc -l || find . -name '" + glob + "' -type f | wc -l",
			"description": "Count files",
		})
	}
	if msg, bad := s.failed(); bad {
		return say("Counting failed: %s", msg)
	}
	return say("There are %s files that match `%s`.", strings.TrimSpace(s.results[len(s.results)-1].Output), glob)
}

func (c countLines) next(s state) reply {
	if len(s.results) == 0 {
		cmd := "git ls-files -z | xargs -0 wc -l | tail -n 1"
		if c.path != "" {
			cmd = "wc -l -- " + shellQuote(c.path)
		}
		return call("", "bash", args{"command": cmd, "description": "Count lines"})
	}
	if msg, bad := s.failed(); bad {
		return say("Counting failed: %s", msg)
	}
	return say("%s", strings.TrimSpace(s.results[len(s.results)-1].Output))
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r run) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "bash", args{"command": r.command, "description": "Run the command that was asked for"})
	}
	return ran(s, r.command)
}

func ran(s state, command string) reply {
	last := s.results[len(s.results)-1]
	if last.Failed {
		return say("`%s` could not be run: %s", command, last.Output)
	}
	return say("I ran `%s`. It printed:\n\n```\n%s\n```", command, clip(last.Output, 60))
}

var testCommands = []struct{ file, command string }{
	{"go.mod", "go test ./..."}, {"Cargo.toml", "cargo test"}, {"package.json", "npm test"},
	{"pyproject.toml", "python3 -m pytest"}, {"pytest.ini", "python3 -m pytest"}, {"pom.xml", "mvn -q test"}, {"Makefile", "make test"},
}

func (test) next(s state) reply {
	if len(s.results) == 0 {
		return call("Let me see how this project is tested.", "glob",
			args{"pattern": "{go.mod,Cargo.toml,package.json,pyproject.toml,pytest.ini,pom.xml,Makefile}"})
	}
	command := ""
	for _, c := range testCommands {
		for _, f := range lines(s.results[0].Output) {
			if command == "" && path.Base(f) == c.file {
				command = c.command
			}
		}
	}
	if command == "" {
		return say("I see no go.mod, Cargo.toml, package.json, pyproject.toml, pom.xml or Makefile here, so I do not know how to run the tests. Tell me: run <command>.")
	}
	if len(s.results) == 1 {
		return call("", "bash", args{"command": command, "description": "Run the tests", "timeout": 600000})
	}
	return ran(s, command)
}

func (c create) next(s state) reply {
	if len(s.results) == 0 {
		content := c.content
		if !strings.HasSuffix(content, "\n") {
			content += "\n"
		}
		return call("", "write", args{"filePath": c.file, "content": content})
	}
	if msg, bad := s.failed(); bad {
		return say("I could not create %s: %s", c.file, msg)
	}
	return say("I wrote %s.", c.file)
}

func (r replace) next(s state) reply {
	switch len(s.results) {
	case 0:
		return call("", "read", args{"filePath": r.file})
	case 1:
		if msg, bad := s.failed(); bad {
			return say("I could not read %s: %s", r.file, msg)
		}
		return call("", "edit", args{"filePath": r.file, "oldString": r.old, "newString": r.new, "replaceAll": true})
	}
	if msg, bad := s.failed(); bad {
		return say("I could not change %s: %s", r.file, msg)
	}
	return say("I replaced `%s` with `%s` in %s.", r.old, r.new, r.file)
}

var _ llm.Model = (*Model)(nil)
