package guide

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/order"
	"lathe/internal/say"
)

// A survey is one command that prints a few lines however large the tree is:
// rare things are left out, and what it counts is counted completely.
const (
	// lister prints the files of the directory below it, one a line: those that git
	// knows or would add, else what a walk finds, up to a bound.
	lister = `{ git -c core.quotePath=false ls-files --cached --others --exclude-standard 2>/dev/null || ` +
		`find . \( -name .git -o -name node_modules -o -name .venv \) -prune -o -type f -print 2>/dev/null | head -n 1000000 | sed 's|^\./||'; }`

	surveyor = `awk -F/ '
$0 == last { next }
{ last = $0; n++; base = $NF; dir[NF > 1 ? $1 "/" : "./"]++ }
{ if (match(base, /.\.[A-Za-z0-9_+]+$/)) ext[substr(base, RSTART + 2)]++; else ext[base ~ /^\./ ? "-" : base]++ }
NF == 1 && base ~ /^([Rr][Ee][Aa][Dd][Mm][Ee].*|go\.mod|package\.json|Cargo\.toml|pyproject\.toml|pytest\.ini|setup\.py|pom\.xml|build\.gradle(\.kts)?|Makefile|CMakeLists\.txt|Gemfile|composer\.json|mix\.exs|deno\.json|Dockerfile|AGENTS\.md|CLAUDE\.md|CONTRIBUTING\.md|LICENSE.*)$/ { print "file", $0 }
entries < 200 && $0 !~ /(^|\/)(testdata|tests?|vendor|node_modules|third_party|examples?|fixtures|dist)\// &&
  (base ~ /^main\.(go|rs|py|c|cc|cpp|js|ts|kt|dart|swift|zig|rb|php|lua)$/ || base ~ /^(__main__|manage)\.py$/ || base ~ /^(Main|Program|[A-Za-z0-9]*Application)\.(java|kt|cs)$/ ||
   NF <= 2 && base ~ /^(index|app|server|cli)\.(js|ts|jsx|tsx|mjs|py|php|html)$/) { entries++; print "entry", $0 }
END {
  for (e in ext) if (ext[e] * 200 >= n) print "kind", ext[e], e
  for (d in dir) if (dir[d] * 200 >= n) print "dir", dir[d], d
  print "total", n + 0
}'`
)

// survey is what is known about the project's files.
type survey struct {
	total   int
	kinds   []tally
	dirs    []tally
	files   []string // marks of a project in its top directory
	entries []string // where programs begin
}

type tally struct {
	name string
	n    int
}

// surveyCall asks for a survey.
func surveyCall() toolCall {
	return toolCall{"bash", args{"command": "# count the files by kind\n" + lister + " | " + surveyor, "description": "Count the files by kind", "timeout": 60000}}
}

// readSurvey reads what the survey printed; false if it came to no end.
func readSurvey(out string) (survey, bool) {
	var v survey
	done := false
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch word {
		case "file":
			v.files = append(v.files, rest)
		case "entry":
			v.entries = append(v.entries, rest)
		case "kind", "dir":
			count, name, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(count)
			if err != nil {
				continue
			}
			if word == "kind" {
				v.kinds = append(v.kinds, tally{name, n})
			} else {
				v.dirs = append(v.dirs, tally{name, n})
			}
		case "total":
			n, err := strconv.Atoi(rest)
			v.total, done = n, err == nil
		}
	}
	v.order()
	return v, done
}

// order sorts what is said first to the front.
func (v *survey) order() {
	most := func(a, b tally) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) }
	v.kinds = byLanguage(v.kinds)
	order.Stable(v.kinds, most)
	order.Stable(v.dirs, most)
	slices.Sort(v.files)
	slices.SortFunc(v.entries, func(a, b string) int {
		return cmp.Or(far(a)-far(b), strings.Compare(a, b))
	})
}

// far says how far a file is from where programs usually begin.
func far(file string) int {
	n := strings.Count(file, "/")
	if !strings.HasPrefix(file, "cmd/") && !strings.HasPrefix(file, "src/") && n > 0 {
		n += 2
	}
	return n
}

// surveyOf counts the files that a search listed.
func surveyOf(paths []string) survey {
	v := survey{total: len(paths)}
	kinds, dirs := map[string]int{}, map[string]int{}
	for _, p := range paths {
		base := path.Base(p)
		kinds[cmp.Or(strings.TrimPrefix(path.Ext(base), "."), base)]++
		if top, _, nested := strings.Cut(p, "/"); nested {
			dirs[top+"/"]++
		} else if mark(p) {
			v.files = append(v.files, p)
		}
	}
	for name, n := range kinds {
		v.kinds = append(v.kinds, tally{name, n})
	}
	for name, n := range dirs {
		v.dirs = append(v.dirs, tally{name, n})
	}
	v.order()
	return v
}

var marks = lazily(`(?i)^(readme.*|go\.mod|package\.json|cargo\.toml|pyproject\.toml|pom\.xml|makefile|agents\.md|claude\.md)$`)

func mark(name string) bool { return marks().MatchString(name) }

// readme returns the file that introduces the project: Markdown before others.
func (v survey) readme() string {
	best := ""
	for _, f := range v.files {
		low := strings.ToLower(f)
		if strings.HasPrefix(low, "readme") && (best == "" || low == "readme.md") {
			best = f
		}
	}
	return best
}

func (v survey) has(file string) bool { return slices.Contains(v.files, file) }

// languages name what the extensions of files stand for.
var languages = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"go": "Go", "mod": "Go module", "sum": "Go module", "py": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "jsx": "JavaScript", "ts": "TypeScript", "tsx": "TypeScript",
		"rs": "Rust", "java": "Java", "kt": "Kotlin", "c": "C", "h": "C header", "cc": "C++", "cpp": "C++", "hpp": "C++ header", "cs": "C#",
		"rb": "Ruby", "php": "PHP", "swift": "Swift", "scala": "Scala", "ex": "Elixir", "exs": "Elixir", "hs": "Haskell", "lua": "Lua", "zig": "Zig", "dart": "Dart",
		"sh": "shell", "bash": "shell", "sql": "SQL", "html": "HTML", "css": "CSS", "scss": "CSS", "vue": "Vue", "svelte": "Svelte",
		"md": "Markdown", "mdx": "Markdown", "rst": "reStructuredText", "txt": "text", "json": "JSON", "jsonc": "JSON", "yaml": "YAML", "yml": "YAML", "toml": "TOML", "xml": "XML",
		"png": "image", "jpg": "image", "jpeg": "image", "gif": "image", "svg": "image", "webp": "image",
	}
})

// countable are the names of [languages] that are of single files; "Go" is one of all of them.
var countable = sync.OnceValue(func() map[string]string {
	return map[string]string{"Go module": "Go 模块文件", "C header": "C 头文件", "C++ header": "C++ 头文件", "image": "图片"}
})

// kindText counts the files of a kind: "2 images", "5 Go".
func kindText(s state, k tally) string {
	chinese := countable()[k.name]
	if chinese == "" {
		return number(k.n) + " " + k.name
	}
	return number(k.n) + " " + s.in(say.Noun(k.n, k.name), chinese)
}

// byLanguage joins the extensions of one language.
func byLanguage(kinds []tally) []tally {
	sum := map[string]int{}
	for _, k := range kinds {
		name := languages()[strings.ToLower(k.name)]
		switch {
		case name != "":
		case k.name == "-":
			continue
		case strings.ToUpper(k.name[:1]) == k.name[:1]:
			name = k.name // Makefile
		default:
			name = "." + k.name
		}
		sum[name] += k.n
	}
	var out []tally
	for name, n := range sum {
		out = append(out, tally{name, n})
	}
	return out
}

// number writes a count with separators: 12,345.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// kindsText says how many files there are and of what: "897 files: 612 Go, 98
// Markdown, 187 others".
func (v survey) kindsText(s state) string {
	if v.total == 0 {
		return s.in("no files yet", "还没有文件")
	}
	var parts []string
	rest := v.total
	for i, k := range v.kinds {
		if i == 6 {
			break
		}
		parts = append(parts, kindText(s, k))
		rest -= k.n
	}
	if rest > 0 {
		parts = append(parts, number(rest)+" "+s.in(say.Noun(rest, "other"), "其他"))
	}
	count := number(v.total) + " " + s.in(say.Noun(v.total, "file"), "个文件")
	if len(v.kinds) == 0 {
		return count
	}
	return count + s.in(": ", "：") + strings.Join(parts, s.in(", ", "，"))
}

func (v survey) dirsText() string {
	var parts []string
	for _, d := range v.dirs {
		if len(parts) < 8 && d.name != "./" {
			parts = append(parts, fmt.Sprintf("`%s` (%s)", d.name, number(d.n)))
		}
	}
	return strings.Join(parts, ", ")
}

// entriesText names where programs begin.
func (v survey) entriesText(s state) string {
	shown := v.entries[:min(len(v.entries), 6)]
	text := codes(shown)
	if more := len(v.entries) - len(shown); more > 0 {
		text += fmt.Sprintf(s.in(" and %d more", " 等，另有 %d 个"), more)
	}
	return text
}

// codes quotes names for Markdown.
func codes(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = "`" + n + "`"
	}
	return strings.Join(quoted, ", ")
}

// packageJSON returns what a package.json starts; empty if nothing.
func packageJSON(text string) []string {
	var p struct {
		Main    string
		Bin     json.RawMessage
		Scripts map[string]string
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	var out []string
	if p.Main != "" {
		out = append(out, p.Main)
	}
	var one string
	var many map[string]string
	if json.Unmarshal(p.Bin, &one) == nil && one != "" {
		out = append(out, one)
	} else if json.Unmarshal(p.Bin, &many) == nil {
		for _, file := range many {
			out = append(out, file)
		}
	}
	if start := p.Scripts["start"]; start != "" {
		out = append(out, "npm start: "+start)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
