package guide

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tour describes a project: what its README says, how large it is, in which
// languages, and where it begins.
type tour struct{}

// A tour takes two rounds of calls: the survey, or a search where commands
// cannot run; then the files that it named.
func (tour) next(s state) reply {
	v, used, more := s.survey()
	if used == 0 {
		return reply{text: s.in("Let me look around.", "我先看一下这个项目。"), calls: more}
	}
	if more != nil {
		return reply{calls: more}
	}
	var files []string
	for _, f := range []string{v.readme(), "package.json"} {
		if f != "" && v.has(f) {
			files = append(files, f)
		}
	}
	if len(s.results) == used && len(files) > 0 {
		r := reply{}
		for _, f := range files {
			r.calls = append(r.calls, toolCall{"read", args{"filePath": f, "limit": 400}})
		}
		return r
	}
	read := map[string]string{}
	for i, f := range files {
		if n := used + i; n < len(s.results) && !s.results[n].Failed {
			read[f] = fileText(s.results[n].Output)
		}
	}
	text := tourText(s, v, read)
	return s.say(text, text)
}

// survey returns what the project consists of and how many results that took, or
// the calls that are needed to know it.
func (s state) survey() (v survey, used int, calls []toolCall) {
	glob := []toolCall{{"glob", args{"pattern": "**/*"}}}
	if s.has("bash") {
		if len(s.results) == 0 {
			return v, 0, []toolCall{surveyCall()}
		}
		if v, whole := readSurvey(s.results[0].Output); whole && !s.results[0].Failed {
			return v, 1, nil
		}
		used = 1
	}
	if len(s.results) == used {
		return v, used, glob
	}
	return s.listed(s.results[used].Output), used + 1, nil
}

var cutShort = lazily(`(?m)^\(Only the newest \d+ of (\d+) files`)

// listed counts the files that a search listed. A listing that was cut short
// says how many there are, but shows only the kinds of the newest.
func (s state) listed(out string) survey {
	paths := lines(out)
	for i := range paths {
		paths[i] = s.short(paths[i])
	}
	v := surveyOf(paths)
	if m := cutShort().FindStringSubmatch(out); m != nil {
		v.total, _ = strconv.Atoi(m[1])
		v.kinds, v.dirs = nil, nil
	}
	return v
}

func tourText(s state, v survey, read map[string]string) string {
	var b strings.Builder
	line := func(english, chinese, text string) {
		if text != "" {
			b.WriteString("**" + s.in(english, chinese) + "** " + text + "\n\n")
		}
	}
	title, intro, sections := readmeText(read[v.readme()])
	if title != "" {
		b.WriteString("# " + title + "\n\n")
	}
	line("From the README:", "README 说：", intro)
	line("What is here:", "规模：", v.kindsText(s))
	line("Directories:", "目录：", v.dirsText())
	if more := packageJSON(read["package.json"]); len(more) > 0 {
		v.entries = append(v.entries, more...)
	}
	line("Entry points:", "入口：", v.entriesText(s))
	line("Project files:", "项目文件：", codes(v.files))
	if how, ok := commandsFor(v.files); ok {
		line("Build and test:", "构建和测试：", codes([]string{how.build, how.test}))
	}
	line("The README goes on with:", "README 其他章节：", strings.Join(sections, ", "))
	b.WriteString(s.in("Go on with: `find <word>`, `read <file>`, `run the tests`, or `show me a change`.",
		"接下来可以说：`查找 <词>`、`读取 <文件>`、`运行测试`，或 `演示一个修改`。"))
	return b.String()
}

var numbered = lazily(`^\d+: ?`)

// fileText returns the lines of a file that the read tool showed, as they stand
// in the file.
func fileText(out string) string {
	_, body, ok := strings.Cut(out, "<content>\n")
	if !ok {
		return ""
	}
	var b strings.Builder
	for l := range strings.Lines(body) {
		mark := numbered().FindString(l)
		if mark == "" {
			break
		}
		b.WriteString(l[len(mark):])
	}
	return b.String()
}

// readmeText takes a README apart: its title, its first paragraph, and the names
// of its sections.
func readmeText(text string) (title, intro string, sections []string) {
	var para []string
	fenced, over := false, false
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(l, "```"), strings.HasPrefix(l, "~~~"):
			fenced, over = !fenced, len(para) > 0
		case fenced:
		case strings.HasPrefix(l, "# ") && title == "":
			title = strings.TrimSpace(l[2:])
		case strings.HasPrefix(l, "## "):
			over = len(para) > 0
			if len(sections) < 12 {
				sections = append(sections, strings.TrimSpace(l[3:]))
			}
		case l == "":
			over = over || len(para) > 0
		case !over && !decoration(l):
			para = append(para, l)
		}
	}
	intro = strings.Join(para, " ")
	if r := []rune(intro); len(r) > 500 {
		intro = string(r[:499]) + "…"
	}
	return title, intro, sections
}

// linkList is a line of links alone, as to the same text in other languages.
var linkList = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\[[^\]]*\]\([^)]*\)[\s·|•/,-]*)+$`)
})

// decoration reports a line that is no text: a badge, a picture, links alone, HTML, a rule.
func decoration(l string) bool {
	if linkList().MatchString(l) {
		return true
	}
	for _, p := range []string{"#", "[![", "![", "<", "===", "---", "***"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	return false
}

// lines returns the paths in the result of a search.
func lines(out string) []string {
	var paths []string
	for l := range strings.Lines(out) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "/") || (len(l) > 2 && l[1] == ':') {
			paths = append(paths, l)
		}
	}
	return paths
}
