package search

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxGlob   = 4096
	wild      = `*?[{\` // what makes a glob more than a name
	maxBraces = 32      // nested or in a row; keeps the compiled form small
)

// Matcher is a compiled glob: "*" and "?" within a path element, "**" over
// elements, "[a-z]" and "[!a-z]", "{a,b}", and "\" before a character meant as
// it is. A glob without a slash is compared with the last element of a path; one
// with a slash, even a leading one, with the whole path. It is safe for
// concurrent use, and takes time in proportion to the path.
type Matcher struct {
	base   bool
	suffix string // for "*.go" and "**/*.go"
	lead   string // directory that all matches are in, "" or "a/b/"
	depth  int    // slashes that a match has at most; -1 for any number
	re     *regexp.Regexp
}

// NewMatcher compiles a glob. The error wraps [ErrGlob].
func NewMatcher(glob string) (*Matcher, error) {
	if len(glob) > maxGlob {
		return nil, fmt.Errorf("glob of %d bytes: %w: too long", len(glob), ErrGlob)
	}
	if glob == "" || !utf8.ValidString(glob) {
		return nil, fmt.Errorf("glob %q: %w: empty or not UTF-8", glob, ErrGlob)
	}
	m := &Matcher{base: !strings.Contains(glob, "/")}
	body := glob
	for strings.HasPrefix(body, "./") {
		body = body[2:]
	}
	body = strings.TrimPrefix(body, "/")
	anywhere, deep := strings.CutPrefix(body, "**/")
	if ext, ok := strings.CutPrefix(anywhere, "*"); ok && (m.base || deep) && ext != "" && !strings.ContainsAny(ext, `*?[]{}\/`) {
		m.base, m.suffix, m.depth = true, ext, -1
		return m, nil
	}
	expr, err := globExpr(body)
	if err == nil {
		m.re, err = regexp.Compile(expr)
	}
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w: %v", glob, ErrGlob, err)
	}
	if m.depth = strings.Count(body, "/"); m.base || strings.Contains(body, "**") {
		m.depth = -1
	}
	if !m.base {
		m.lead, _ = cutLead(body)
	}
	return m, nil
}

// Match reports whether a path with forward slashes matches.
func (m *Matcher) Match(name string) bool {
	if m.base {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	if m.re == nil {
		return strings.HasSuffix(name, m.suffix)
	}
	return strings.HasPrefix(name, m.lead) && m.re.MatchString(name)
}

// mayHold reports whether a directory can hold matches.
func (m *Matcher) mayHold(dir string) bool {
	dir += "/"
	if m.depth >= 0 && strings.Count(dir, "/") > m.depth {
		return false
	}
	return strings.HasPrefix(dir, m.lead) || strings.HasPrefix(m.lead, dir)
}

// cutLead returns the directories that a glob begins with, "" or "a/b/", and the
// rest, which is the last name if the glob has no wildcard.
func cutLead(glob string) (lead, rest string) {
	end := len(glob)
	if special := strings.IndexAny(glob, wild); special >= 0 {
		end = special
	}
	end = strings.LastIndexByte(glob[:end], '/') + 1
	return glob[:end], glob[end:]
}

// globExpr translates a glob into a regular expression.
func globExpr(glob string) (string, error) {
	var out strings.Builder
	out.WriteString(`(?s)\A`)
	depth, braces := 0, 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			i = starExpr(&out, glob, i)
		case '?':
			out.WriteString(`[^/]`)
		case '[':
			end, err := classExpr(&out, glob, i)
			if err != nil {
				return "", err
			}
			i = end
		case '{':
			if braces++; braces > maxBraces {
				return "", fmt.Errorf("more than %d braces", maxBraces)
			}
			depth++
			out.WriteString(`(?:`)
		case '}':
			if depth--; depth < 0 {
				return "", fmt.Errorf(`"}" without "{"; write \} for the character`)
			}
			out.WriteByte(')')
		case ',':
			if depth > 0 {
				c = '|'
			}
			out.WriteByte(c)
		case '\\':
			if i++; i == len(glob) {
				return "", fmt.Errorf(`ends in "\"`)
			}
			out.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			if c < utf8.RuneSelf {
				out.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			} else {
				out.WriteByte(c)
			}
		}
	}
	if depth > 0 {
		return "", fmt.Errorf(`"{" without "}"; write \{ for the character`)
	}
	out.WriteString(`\z`)
	return out.String(), nil
}

// starExpr translates the stars at glob[i] and returns the last index used. "**"
// counts as such only between slashes, commas or braces.
func starExpr(out *strings.Builder, glob string, i int) int {
	end := i
	for end+1 < len(glob) && glob[end+1] == '*' {
		end++
	}
	opens := i == 0 || strings.IndexByte("/{,", glob[i-1]) >= 0
	closes := end+1 == len(glob) || strings.IndexByte("/},", glob[end+1]) >= 0
	switch {
	case end != i+1 || !opens || !closes:
		out.WriteString(`[^/]*`)
	case end+1 < len(glob) && glob[end+1] == '/':
		out.WriteString(`(?:.*/)?`)
		for strings.HasPrefix(glob[end+2:], "**/") { // mean the same as one
			end += len("**/")
		}
		return end + 1
	default:
		out.WriteString(`.*`)
	}
	return end
}

// classExpr translates the bracket expression at glob[i] and returns the index
// of its end.
func classExpr(out *strings.Builder, glob string, i int) (int, error) {
	open := i
	out.WriteByte('[')
	if i++; i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		out.WriteString("^/")
		i++
	}
	for first := true; i < len(glob); first = false {
		c := glob[i]
		switch {
		case c == ']' && !first:
			out.WriteByte(']')
			return i, nil
		case c == '\\' && i+1 < len(glob):
			i++
			fmt.Fprintf(out, `\x{%x}`, rune(glob[i]))
		case c == '-' && !first && i+1 < len(glob) && glob[i+1] != ']':
			out.WriteByte('-')
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(glob[i:])
			fmt.Fprintf(out, `\x{%x}`, r)
			i += n - 1
		default:
			fmt.Fprintf(out, `\x{%x}`, c)
		}
		i++
	}
	return 0, fmt.Errorf(`"[" at %d without "]"; write \[ for the character`, open)
}

// trimBase makes an absolute glob below dir relative to it.
func trimBase(glob, dir string) string {
	if rest, ok := strings.CutPrefix(glob, filepath.ToSlash(strings.TrimSuffix(dir, string(filepath.Separator)))+"/"); ok {
		return "/" + rest
	}
	return glob
}

// GlobResult is what [Glob] found.
type GlobResult struct {
	Files []File // newest first; the same age by path
	Total int    // how many files match, shown or not
}

// Glob returns the newest limit files (0: all) below dir that match a glob, see
// [Matcher]. All matches are compared, whatever the limit; only that many are
// held in memory. opt.Glob and opt.Limit are not used.
func Glob(ctx context.Context, dir, glob string, limit int, opt FileOptions) (GlobResult, error) {
	opt.Glob, opt.Limit, opt.Stat, opt.Dirs, opt.Sorted = glob, 0, true, false, false
	var out GlobResult
	for f, err := range Files(ctx, dir, opt) {
		if err != nil {
			return GlobResult{}, err
		}
		out.Total++
		out.Files = append(out.Files, f)
		if limit > 0 && len(out.Files) >= 2*limit+1024 {
			out.Files = newest(out.Files, limit)
		}
	}
	out.Files = newest(out.Files, limit)
	return out, nil
}

// Expand returns the files below dir that a glob names, relative to dir and sorted,
// as a shell would: including hidden and ignored ones, and links to files.
// Directories that it names without a wildcard may be links, too; links that a
// wildcard finds are not followed. A glob without a slash means files of dir itself.
// A glob that leads out of dir names nothing.
func Expand(ctx context.Context, dir, glob string) ([]string, error) {
	for strings.HasPrefix(glob, "./") {
		glob = glob[2:]
	}
	if _, err := NewMatcher(glob); err != nil {
		return nil, err
	}
	lead, rest := cutLead(glob)
	if !filepath.IsLocal(filepath.FromSlash(lead + "x")) {
		return nil, nil
	}
	from := filepath.Join(dir, filepath.FromSlash(lead))
	if !strings.ContainsAny(rest, wild) {
		if info, err := os.Stat(filepath.Join(from, rest)); err != nil || !info.Mode().IsRegular() {
			return nil, nil
		}
		return []string{glob}, nil
	}
	opt := FileOptions{Hidden: true, NoIgnore: true, FileLinks: true, Sorted: true, Glob: "/" + rest}
	var out []string
	for f, err := range Files(ctx, from, opt) {
		if err != nil {
			return nil, err
		}
		out = append(out, lead+f.Path)
	}
	slices.Sort(out)
	return out, nil
}

func newest(files []File, limit int) []File {
	slices.SortFunc(files, func(a, b File) int { return byAge(a.ModTime, b.ModTime, a.Path, b.Path) })
	if limit > 0 && len(files) > limit {
		clear(files[limit:])
		files = files[:limit]
	}
	return files
}

func byAge(a, b time.Time, aPath, bPath string) int {
	if c := b.Compare(a); c != 0 {
		return c
	}
	return strings.Compare(aPath, bPath)
}
