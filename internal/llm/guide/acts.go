package guide

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"lathe/internal/say"
)

type (
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

func call(text, name string, a args) reply {
	return reply{text: text, calls: []toolCall{{name, a}}}
}

func (f find) next(s state) reply {
	byName := fileName().MatchString(f.what)
	switch {
	case len(s.results) == 0 && byName:
		return call("", "glob", args{"pattern": "**/" + strings.TrimPrefix(f.what, "/")})
	case len(s.results) == 0, len(s.results) == 1 && byName && len(lines(s.last().Output)) == 0:
		return call("", "grep", args{"pattern": regexp.QuoteMeta(f.what)})
	}
	if msg, bad := s.failed(); bad {
		return s.say("The search failed: %s", "搜索失败：%s", plain(msg))
	}
	out := s.last().Output
	if paths := lines(out); byName && len(s.results) == 1 {
		for i := range paths {
			paths[i] = "- `" + s.short(paths[i]) + "`"
		}
		return s.say("These files are called `%s`:\n\n%s", "名为 `%s` 的文件：\n\n%s", f.what, clip(s, strings.Join(paths, "\n"), 40))
	}
	if !strings.HasPrefix(out, "Found") {
		return s.say("I found no file that contains `%s`.", "没有文件包含 `%s`。", f.what)
	}
	return s.say("Here is where `%s` stands:\n\n%s", "`%s` 出现在这些地方：\n\n%s", f.what, s.found(out))
}

var foundLine = lazily(`^  Line (\d+): (.*)$`)

// found shows what a search found: paths as a person names them, lines below.
func (s state) found(out string) string {
	var all []string
	for _, l := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		file, isFile := strings.CutSuffix(l, ":")
		m := foundLine().FindStringSubmatch(l)
		switch {
		case m != nil:
			all = append(all, m[1]+": "+strings.TrimSpace(m[2]))
		case isFile && path.IsAbs(file), isFile && len(file) > 2 && file[1] == ':':
			all = append(all, "", s.short(file))
		}
	}
	shown := clip(s, strings.TrimPrefix(strings.Join(all, "\n"), "\n"), 50)
	if strings.Contains(out, "more matches available") {
		shown += "\n" + s.in("(these are the newest files; there are more)", "（只列出最新的文件，还有更多）")
	}
	return fence(shown)
}

// clip cuts a text to its first lines and says how many more there are.
func clip(s state, text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > n {
		all = append(all[:n:n], s.in("… and "+say.Plural(len(all)-n, "more line"), fmt.Sprintf("… 还有 %d 行", len(all)-n)))
	}
	return strings.Join(all, "\n")
}

// fence puts a text into a code block that it cannot end.
func fence(text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + "\n" + strings.Trim(text, "\n") + "\n" + marks
}

var markup = lazily(`(?m)^</?(?:path|type|content|entries|bash_metadata|system-reminder)>(?:[^\n<]*</(?:path|type)>)?\n?`)

// plain takes out what a result is marked up with for models.
func plain(out string) string { return strings.TrimSpace(markup().ReplaceAllString(out, "")) }

var entryList = lazily(`(?s)<entries>\n(.*?)\n</entries>`)

func (r read) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "read", args{"filePath": r.file})
	}
	if msg, bad := s.failed(); bad {
		if near := lines(msg); len(near) > 0 && len(s.results) == 1 { // README where there is a README.md
			return call("", "read", args{"filePath": near[0]})
		}
		return s.say("I could not read %s: %s", "无法读取 %s：%s", r.file, plain(msg))
	}
	out := s.last().Output
	if m := entryList().FindStringSubmatch(out); m != nil {
		return s.say("In `%s`:\n\n%s", "`%s` 里有：\n\n%s", r.file, fence(clip(s, m[1], 80)))
	}
	text := fileText(out)
	if text == "" {
		return s.say("`%s`: %s", "`%s`：%s", r.file, plain(out))
	}
	return s.say("`%s`:\n\n%s", "`%s`：\n\n%s", r.file, fence(clip(s, text, 60)))
}

func (c count) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "grep", args{"pattern": regexp.QuoteMeta(c.what)})
	}
	if msg, bad := s.failed(); bad {
		return s.say("The search failed: %s", "搜索失败：%s", plain(msg))
	}
	out := s.last().Output
	n := strings.Count(out, "\n  Line ")
	if strings.Contains(out, "more matches available") {
		return s.say("`%s` stands in more than %d lines.", "`%s` 出现在 %d 行以上。", c.what, n)
	}
	return s.say("`%[1]s` stands in %[2]s.", "`%[1]s` 出现在 %[3]d 行里。", c.what, say.Plural(n, "line"), n)
}

// extensions are the files of a kind, as a pattern for awk over names.
var extensions = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"go": `\.go$`, "python": `\.py$`, "js": `\.[cm]?jsx?$`, "javascript": `\.[cm]?jsx?$`, "ts": `\.tsx?$`, "typescript": `\.tsx?$`,
		"rust": `\.rs$`, "java": `\.java$`, "c": `\.[ch]$`, "markdown": `\.mdx?$`, "md": `\.mdx?$`, "test": `[Tt]est`, "tests": `[Tt]est`, "测试": `[Tt]est`,
	}
})

func (c countFiles) next(s state) reply {
	kind := strings.ToLower(strings.Trim(c.kind, "*."))
	if len(s.results) == 0 {
		pattern := extensions()[kind]
		if pattern == "" && kind != "" {
			pattern = `\.` + regexp.QuoteMeta(strings.ReplaceAll(kind, "/", "")) + "$"
		}
		return call("", "bash", args{
			"command":     "# count files\n" + lister + " | awk -F/ " + shellQuote(`$0 != last { last = $0; if ($NF ~ `+awkRegexp(pattern)+`) n++ } END { print n + 0 }`),
			"description": s.in("Count files", "统计文件数"), "timeout": 60000,
		})
	}
	if msg, bad := s.failed(); bad {
		return s.say("Counting failed: %s", "统计失败：%s", plain(msg))
	}
	n := plain(s.last().Output)
	if kind == "" {
		return s.say("There are %s files. What git ignores is left out.", "共有 %s 个文件（不含 git 忽略的文件）。", n)
	}
	return s.say("There are %s files of the kind `%s`. What git ignores is left out.", "共有 %s 个 `%s` 文件（不含 git 忽略的文件）。", n, kind)
}

// awkRegexp writes a pattern as awk takes it between slashes.
func awkRegexp(pattern string) string { return "/" + strings.ReplaceAll(pattern, "/", `\/`) + "/" }

// lineCounter prints the lines of all text files, and how many those are.
const lineCounter = `# count lines of text
{ git grep -I -c --untracked '' 2>/dev/null || find . \( -name .git -o -name node_modules -o -name .venv \) -prune -o -type f -exec grep -I -c '' /dev/null {} + 2>/dev/null; } | ` +
	`awk -F: '$1 != "/dev/null" { n += $NF; files++ } END { print n + 0, files + 0 }'`

func (c countLines) next(s state) reply {
	if len(s.results) == 0 {
		cmd := lineCounter
		if c.path != "" {
			cmd = "wc -l -- " + shellQuote(c.path)
		}
		return call("", "bash", args{"command": cmd, "description": s.in("Count lines", "统计行数"), "timeout": 120000})
	}
	out := plain(s.last().Output)
	if _, bad := s.failed(); bad {
		return s.say("Counting failed: %s", "统计失败：%s", out)
	}
	n, what, _ := strings.Cut(out, " ")
	if c.path != "" {
		if !digits().MatchString(n) {
			return s.say("Counting failed: %s", "统计失败：%s", out)
		}
		return s.say("`%s` has %s lines.", "`%s` 有 %s 行。", what, n)
	}
	return s.say("There are %s lines in %s text files. What git ignores is left out.", "%[2]s 个文本文件，共 %[1]s 行（不含 git 忽略的文件）。", n, what)
}

var digits = lazily(`^\d+$`)

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (r run) next(s state) reply {
	if len(s.results) == 0 {
		return call("", "bash", args{"command": r.command, "description": s.in("Run the command that was asked for", "运行所要求的命令")})
	}
	return ran(s, r.command)
}

func ran(s state, command string) reply {
	out := plain(s.last().Output)
	if s.last().Failed {
		return s.say("`%s` could not be run: %s", "`%s` 无法运行：%s", command, out)
	}
	if out == "" {
		return s.say("I ran `%s`. It printed nothing.", "已运行 `%s`，没有输出。", command)
	}
	return s.say("I ran `%s`. It printed:\n\n%s", "已运行 `%s`，输出：\n\n%s", command, fence(tail(s, out, 60)))
}

// tail cuts a text to its last lines, where a command says how it went.
func tail(s state, text string, n int) string {
	all := strings.Split(text, "\n")
	if len(all) <= n {
		return text
	}
	more := s.in("… "+say.Plural(len(all)-n, "line")+" before", fmt.Sprintf("… 前面还有 %d 行", len(all)-n))
	return more + "\n" + strings.Join(all[len(all)-n:], "\n")
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
		return s.say("I could not create %s: %s", "无法创建 %s：%s", c.file, plain(msg))
	}
	return s.say("I wrote %s.", "已写入 %s。", c.file)
}

func (r replace) next(s state) reply {
	switch len(s.results) {
	case 0:
		return call("", "read", args{"filePath": r.file})
	case 1:
		if msg, bad := s.failed(); bad {
			return s.say("I could not read %s: %s", "无法读取 %s：%s", r.file, plain(msg))
		}
		return call("", "edit", args{"filePath": r.file, "oldString": r.old, "newString": r.new, "replaceAll": true})
	}
	if msg, bad := s.failed(); bad {
		return s.say("I could not change %s: %s", "无法修改 %s：%s", r.file, plain(msg))
	}
	return s.say("I replaced `%s` with `%s` in %s.", "已在 %[3]s 中把 `%[1]s` 替换为 `%[2]s`。", r.old, r.new, r.file)
}
