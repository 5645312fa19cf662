// Package search finds files and text without running any program: a parallel walk
// that honours ignore files as git and ripgrep do, globs, grep, fuzzy matching of
// paths, and the tree of the list tool.
//
// walk.go goes through a tree in parallel and leaves out what ignore files name
// (pattern.go); glob.go matches paths; grep.go looks into files with the matchers of
// expr.go and dfa.go and keeps the hits of the newest files (best.go), looking now and
// then at whether to stop (pace.go); fuzzy.go ranks paths; tree.go draws the tree.
//
// # Differences from ripgrep
//
// Patterns are Go regular expressions (RE2): \d, \w, \s and \b know ASCII only, where
// ripgrep's know Unicode; write \p{Nd} or \p{L} instead. Both lack look-around and
// back-references. A match never spans lines. .gitignore files count outside git as
// well. Paths are compared byte by byte: even on a case-insensitive file system,
// ignore rules are case-sensitive.
package search

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
)

const (
	// maxIgnoreFile bounds how much of an ignore file is used.
	maxIgnoreFile = 1 << 20
	// maxRules bounds the memory, about, of the rules of a whole tree: most trees
	// have some kilobytes, and half a million rules fit. Files that would need more
	// have no rules.
	maxRules = 128 << 20
)

// Ignore says which paths of a tree git would ignore, with .ignore files added
// as ripgrep reads them. It reads the tree's ignore files as it needs them and
// keeps them: make a new one to see changes. It is for one goroutine.
type Ignore struct {
	top    string
	global []pattern
	levels map[string]*level
}

// NewIgnore returns the rules for the tree at top, which is a checkout or any
// directory. The globalFile holds rules for all repositories (see
// [GlobalIgnore]); it may be empty or missing.
func NewIgnore(top, globalFile string) *Ignore {
	ig := &Ignore{top: top, global: readPatterns(globalFile, nil), levels: map[string]*level{}}
	ig.levels["."] = newLevel(nil, top, "", ig.global, probe)
	return ig
}

// Match reports whether a path, relative to the top and with forward slashes, is
// ignored by itself or because a directory above it is.
func (ig *Ignore) Match(name string, dir bool) bool {
	name = strings.Trim(path.Clean("/"+name), "/")
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '/' && ig.level(path.Dir(name[:i])).ignored(name[:i], true) {
			return true
		}
	}
	return ig.level(path.Dir(name)).ignored(name, dir)
}

func (ig *Ignore) level(dir string) *level {
	if l, ok := ig.levels[dir]; ok {
		return l
	}
	l := newLevel(ig.level(path.Dir(dir)), filepath.Join(ig.top, dir), dir+"/", ig.global, probe)
	ig.levels[dir] = l
	return l
}

// level holds the ignore rules that a directory adds to those above it.
type level struct {
	up      *level
	base    string    // the directory relative to the top, "" or "a/b/"
	git     []pattern // .gitignore
	own     []pattern // .ignore
	repo    bool      // a repository starts here: git rules above do not count
	exclude []pattern // its info/exclude
	global  []pattern
	left    *atomic.Int64 // of maxRules, for all levels of the tree
}

// present says which files of interest a directory has.
type present struct{ gitignore, ignore, repo bool }

// probe is for directories whose entries are not known.
var probe = present{true, true, true}

// newLevel reads the ignore files of a directory. It returns up itself if there
// are none, unless up is nil.
func newLevel(up *level, dir, base string, global []pattern, has present) *level {
	l := level{up: up, base: base, global: global}
	if up != nil {
		l.left = up.left
	} else {
		l.left = new(atomic.Int64)
		l.left.Store(maxRules)
	}
	if has.gitignore {
		l.git = readPatterns(filepath.Join(dir, ".gitignore"), l.left)
	}
	if has.ignore {
		l.own = readPatterns(filepath.Join(dir, ".ignore"), l.left)
	}
	if has.repo {
		l.exclude, l.repo = repoExcludes(dir, l.left)
	}
	if up != nil && l.git == nil && l.own == nil && !l.repo {
		return up
	}
	return &l
}

// repoExcludes reads info/exclude if dir is the top of a checkout.
func repoExcludes(dir string, left *atomic.Int64) (rules []pattern, repo bool) {
	gitDir := filepath.Join(dir, ".git")
	info, err := os.Stat(gitDir)
	if err != nil {
		return nil, false
	}
	if !info.IsDir() {
		to, ok := strings.CutPrefix(readPointer(gitDir), "gitdir: ")
		if !ok {
			return nil, false
		}
		gitDir = join(dir, to)
	}
	if to := readPointer(filepath.Join(gitDir, "commondir")); to != "" {
		gitDir = join(gitDir, to)
	}
	return readPatterns(filepath.Join(gitDir, "info", "exclude"), left), true
}

func readPointer(file string) string {
	data, _ := readHead(file, maxIgnoreFile)
	return strings.TrimRight(string(data), "\r\n")
}

func join(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// readPatterns reads an ignore file; one that cannot be read has no rules. Git
// does not follow a .gitignore that is a link, and neither does this. The memory
// for the rules is taken from left, if that is not nil; if there is not enough,
// there are no rules.
func readPatterns(file string, left *atomic.Int64) []pattern {
	if file == "" {
		return nil
	}
	data, err := readHead(file, maxIgnoreFile)
	if err != nil || len(data) == 0 {
		return nil
	}
	if left != nil && left.Load() < int64(len(data)) {
		return nil
	}
	rules := parsePatterns(string(data))
	if left != nil && left.Add(-weigh(data, rules)) < 0 {
		return nil
	}
	return rules
}

// weigh estimates how much memory rules need, with the text they were parsed from.
func weigh(text []byte, rules []pattern) int64 {
	n := len(text)
	for _, p := range rules {
		n += 128 + 48*len(p.rest.tokens)
	}
	return int64(n)
}

func parsePatterns(text string) []pattern {
	var out []pattern
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if p, ok := parsePattern(line); ok {
			out = append(out, p)
		}
	}
	return out
}

// ignored judges one path by itself; the directories above it are not ignored.
// .ignore files come before .gitignore files, deeper files before higher ones,
// later lines before earlier ones.
func (l *level) ignored(name string, dir bool) bool {
	base := path.Base(name)
	if base == ".git" {
		return true
	}
	for at := l; at != nil; at = at.up {
		if hit := last(at.own, name[len(at.base):], base, dir); hit != nil {
			return !hit.negate
		}
	}
	var top *level
	for at := l; at != nil && top == nil; at = at.up {
		if hit := last(at.git, name[len(at.base):], base, dir); hit != nil {
			return !hit.negate
		}
		if at.repo || at.up == nil {
			top = at
		}
	}
	hit := last(top.exclude, name[len(top.base):], base, dir)
	if hit == nil {
		hit = last(top.global, name[len(top.base):], base, dir)
	}
	return hit != nil && !hit.negate
}

func last(rules []pattern, name, base string, dir bool) *pattern {
	for i := len(rules) - 1; i >= 0; i-- {
		if rules[i].match(name, base, dir) {
			return &rules[i]
		}
	}
	return nil
}

// GlobalIgnore returns the path of the user's ignore file for all repositories:
// core.excludesFile of the git configuration, else git/ignore in the
// configuration directory. Included configuration files are not looked into.
func GlobalIgnore(getenv func(string) string) string {
	home, config := getenv("HOME"), getenv("XDG_CONFIG_HOME")
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	found := ""
	if config != "" {
		found = filepath.Join(config, "git", "ignore")
	}
	files := []string{filepath.Join(config, "git", "config"), filepath.Join(home, ".gitconfig")}
	if f := getenv("GIT_CONFIG_GLOBAL"); f != "" {
		files = []string{f}
	}
	for _, f := range files {
		if data, err := readHead(f, maxIgnoreFile); err == nil && filepath.IsAbs(f) {
			if name, ok := excludesFile(string(data)); ok {
				if rest, ok := strings.CutPrefix(name, "~/"); ok && home != "" {
					name = filepath.Join(home, rest)
				}
				found = name
			}
		}
	}
	return found
}

// excludesFile finds core.excludesFile in the text of a git configuration.
func excludesFile(text string) (name string, ok bool) {
	section := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if end := strings.IndexByte(line, ']'); end > 0 {
				section, line = strings.ToLower(strings.TrimSpace(line[1:end])), strings.TrimSpace(line[end+1:])
			}
		}
		key, value, isPair := strings.Cut(line, "=")
		if !isPair || section != "core" || !strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			continue
		}
		value = strings.TrimSpace(value)
		if i := strings.IndexAny(value, "#;"); i >= 0 && !strings.HasPrefix(value, `"`) {
			value = strings.TrimSpace(value[:i])
		}
		name, ok = strings.ReplaceAll(strings.Trim(value, `"`), `\\`, `\`), true
	}
	return name, ok
}
