package builtin

import (
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/tool"
)

const (
	maxViewed  = 64      // files of one command that are looked at
	maxCompare = 4 << 20 // bytes of one of them
)

// viewer notes which files commands and searches showed to the model, so that it does
// not have to read them again.
type viewer struct {
	seen    *tool.Seen
	session lathe.SessionID
}

func viewerOf(seen *tool.Seen, call *tool.Call) viewer { return viewer{seen, call.SessionID} }

// lines notes that some lines of a file were shown.
func (v viewer) lines(path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		v.seen.Glimpse(v.session, path, info)
	}
}

// output notes what a command's output shows of the files that it read.
func (v viewer) output(a judge.Analysis, dir, text string) {
	shown := newOutputLines(text)
	for i, use := range a.Reads {
		if i == maxViewed {
			break
		}
		if !use.Dynamic && !use.Dir && !use.Tree {
			v.file(use.Path, shown)
		}
	}
	if searches(a) {
		v.hits(dir, text)
	}
}

func (v viewer) file(path string, shown outputLines) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > maxCompare {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	switch text := string(data); {
	case shown.all(text):
		v.seen.Record(v.session, path, info, data)
	case shown.some(text):
		v.seen.Glimpse(v.session, path, info)
	}
}

// hit matches the beginning of a line that names a file and quotes it.
var hit = pattern(`(?m)^([^:\n]{1,300}):(?:\d+[:-])?.`)

// hits notes the files that a search in a tree named.
func (v viewer) hits(dir, text string) {
	done := map[string]bool{}
	for _, m := range hit().FindAllStringSubmatch(text, 10*maxViewed) {
		path := m[1]
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if done[path] {
			continue
		}
		if done[path] = true; len(done) > maxViewed {
			return
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			v.lines(real)
		}
	}
}

// searches reports whether a command looks for lines in files.
func searches(a judge.Analysis) bool {
	for _, c := range a.Commands {
		if len(c.Args) == 0 {
			continue
		}
		switch filepath.Base(c.Args[0]) {
		case "grep", "egrep", "fgrep", "rg", "ag", "ack":
			return true
		case "git":
			return len(c.Args) > 1 && c.Args[1] == "grep"
		}
	}
	return false
}

// outputLines is what a command showed, as it is and without numbers before the lines.
type outputLines struct {
	text, bare string
	lines      map[string]bool
}

var copiedNumber = pattern(`(?m)^ *\d+[\t:-] ?`)

func newOutputLines(text string) outputLines {
	o := outputLines{text: text, bare: copiedNumber().ReplaceAllString(text, ""), lines: map[string]bool{}}
	for _, t := range []string{o.text, o.bare} {
		for line := range strings.Lines(t) {
			if line = strings.TrimSpace(line); len(line) > 3 {
				o.lines[line] = true
			}
		}
	}
	return o
}

// all reports whether the whole of a file was shown.
func (o outputLines) all(text string) bool {
	text = strings.TrimRight(text, "\n")
	return len(text) <= len(o.text) && (strings.Contains(o.text, text) || strings.Contains(o.bare, text))
}

// some reports whether a line of a file was shown.
func (o outputLines) some(text string) bool {
	for line := range strings.Lines(text) {
		if o.lines[strings.TrimSpace(line)] {
			return true
		}
	}
	return false
}

// formatters are programs, and words of commands, that reformat files without
// changing their meaning.
var formatters = pattern(`(?:^|[ /])(?:gofmt|goimports|gofumpt|golines|gci|prettier|black|isort|autopep8|yapf|ruff|rustfmt|clang-format|shfmt|dprint|biome|eslint|` +
	`stylua|ktlint|scalafmt|swiftformat|swift-format|rubocop|standardrb|nixfmt|alejandra|taplo|ormolu|csharpier|fmt|format|--fix|lint:fix)(?: |$)`)

func formats(a judge.Analysis) bool {
	for _, c := range a.Commands {
		if formatters().MatchString(c.Text) {
			return true
		}
	}
	return false
}

// current returns the files that the session knows in their current state, if a
// command may format them; nil for any other command.
func (v viewer) current(a judge.Analysis) []string {
	if !formats(a) {
		return nil
	}
	return v.seen.Current(v.session)
}

// formatted notes that the session knows these files as the formatter left them.
func (v viewer) formatted(paths []string) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || v.seen.Same(v.session, path, info) || info.Size() > maxCompare {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			v.seen.Record(v.session, path, info, data)
		}
	}
}
