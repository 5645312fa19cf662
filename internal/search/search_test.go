//go:build unix

package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// age makes files older, the first one least.
func age(t testing.TB, dir string, names ...string) {
	t.Helper()
	for i, n := range names {
		at := time.Unix(1_700_000_000-int64(i)*60, 0)
		if err := os.Chtimes(filepath.Join(dir, n), at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func grep(t testing.TB, dir string, opt GrepOptions) GrepResult {
	t.Helper()
	got, err := Grep(context.Background(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// brief shows matches as path:line:text.
func brief(r GrepResult) []string {
	var out []string
	for _, m := range r.Matches {
		out = append(out, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
	}
	return out
}

func TestGrep(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"a.go": "package a\n\nfunc Helper() int { return 1 }\n", "b.txt": "one\r\ntwo\r\n", "c.txt": "Helper\nx Helper Helper",
		"bin": "Helper\x00", "wide": "\xff\xfeH\x00i\x00\n\x00é\x00", "bom": "\xef\xbb\xbfstart\nHi",
		".hidden": "Helper\n", "d/e/f.go": "no\n\n\nHelper\n", "latin": "caf\xe9 Helper\n",
	})
	age(t, dir, "d/e/f.go", "a.go", "c.txt", "latin", "b.txt", "wide", "bom")
	for _, tc := range []struct {
		name string
		opt  GrepOptions
		want []string
	}{
		{"newest first", GrepOptions{Pattern: "Helper"}, []string{"d/e/f.go:4:Helper", "a.go:3:func Helper() int { return 1 }", "c.txt:1:Helper", "c.txt:2:x Helper Helper", "latin:1:caf\xe9 Helper"}},
		{"include", GrepOptions{Pattern: "Helper", Include: "*.go"}, []string{"d/e/f.go:4:Helper", "a.go:3:func Helper() int { return 1 }"}},
		{"include path", GrepOptions{Pattern: "Helper", Include: "d/**/*.{go,txt}"}, []string{"d/e/f.go:4:Helper"}},
		{"limit", GrepOptions{Pattern: "Helper", Limit: 2}, []string{"d/e/f.go:4:Helper", "a.go:3:func Helper() int { return 1 }"}},
		{"anchors and CRLF", GrepOptions{Pattern: "^two$"}, []string{"b.txt:2:two"}},
		{"text anchors", GrepOptions{Pattern: `\Atwo\z`}, []string{"b.txt:2:two"}},
		{"no CR of its own", GrepOptions{Pattern: `one.`}, nil},
		{"classes stop at the line", GrepOptions{Pattern: `one[^x]*two|one\s+two`}, nil},
		{"empty lines", GrepOptions{Pattern: `^$`, Include: "*.go"}, []string{"d/e/f.go:2:", "d/e/f.go:3:", "a.go:2:"}},
		{"UTF-16", GrepOptions{Pattern: "H.$"}, []string{"wide:1:Hi", "bom:2:Hi"}},
		{"start after BOM", GrepOptions{Pattern: "^start"}, []string{"bom:1:start"}},
		{"ignore case", GrepOptions{Pattern: "hELPER", IgnoreCase: true, Include: "*.go"}, []string{"d/e/f.go:4:Helper", "a.go:3:func Helper() int { return 1 }"}},
		{"literal", GrepOptions{Pattern: "Helper()", Literal: true}, []string{"a.go:3:func Helper() int { return 1 }"}},
		{"nothing", GrepOptions{Pattern: "nowhere"}, nil},
	} {
		if d := cmp.Diff(tc.want, brief(grep(t, dir, tc.opt))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, d)
		}
	}
	if got := grep(t, dir, GrepOptions{Pattern: "Helper", Limit: 2}); !got.Truncated {
		t.Error("not truncated at 2 of 5")
	}
	if got := grep(t, dir, GrepOptions{Pattern: "Helper", Limit: 5}); got.Truncated {
		t.Error("truncated at 5 of 5")
	}

	got := grep(t, filepath.Join(dir, "c.txt"), GrepOptions{Pattern: "Helper"})
	at := time.Unix(1_700_000_000-120, 0)
	want := GrepResult{Matches: []Match{
		{Path: "c.txt", ModTime: at, Line: 1, Text: "Helper", Submatches: []Submatch{{0, 6}}},
		{Path: "c.txt", ModTime: at, Line: 2, Offset: 7, Text: "x Helper Helper", Submatches: []Submatch{{2, 8}, {9, 15}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("one file (-want +got):\n%s", d)
	}
}

func TestGrepLongLines(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("é", 3000)
	put(t, dir, map[string]string{
		"cut": "x" + long + "end\nnext end\n", "huge": strings.Repeat("y", 3*maxLine) + "needle\nneedle\n",
	})
	got := grep(t, dir, GrepOptions{Pattern: "x|end", Include: "cut"})
	if len(got.Matches) != 2 || !got.Matches[0].Cut || got.Matches[0].Text != "x"+strings.Repeat("é", 1999) {
		t.Fatalf("got %+v", got)
	}
	if d := cmp.Diff([]Submatch{{0, 1}}, got.Matches[0].Submatches); d != "" {
		t.Error(d)
	}
	if m := got.Matches[1]; m.Line != 2 || m.Offset != int64(len(long)+5) || m.Cut {
		t.Errorf("line after a long one: %+v", m)
	}
	got = grep(t, dir, GrepOptions{Pattern: "needle", Include: "huge"})
	if len(got.Matches) != 2 || got.Matches[0].Line != 1 || got.Matches[1].Line != 2 {
		t.Errorf("huge line: %d matches", len(got.Matches))
	}
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"foo(":                   `pattern "foo(": missing closing ): ` + "`foo(`; to look for it as plain text, escape it: foo\\(",
		"a(?=b)":                 `pattern "a(?=b)": look-around is not supported; look for the main part, then filter the lines`,
		"(?<!x)y":                `pattern "(?<!x)y": look-around is not supported; look for the main part, then filter the lines`,
		`(a)\1`:                  `pattern "(a)\\1": back-references are not supported; spell the alternatives out`,
		"":                       `pattern "": is empty; give the text to look for`,
		"a\nb":                   `pattern "a\nb": contains a line end; a match never spans lines; look for one line of it (for a backslash and an n, write \\n)`,
		"*x":                     `pattern "*x": missing argument to repetition operator: ` + "`*`; to look for it as plain text, escape it: \\*x",
		strings.Repeat("a", 1e5): `pattern "` + strings.Repeat("a", 40) + `…": is too long; look for a part of it`,
	} {
		_, err := Grep(context.Background(), t.TempDir(), GrepOptions{Pattern: pattern})
		if pe, ok := errors.AsType[*PatternError](err); !ok || pe.Error() != want {
			t.Errorf("%.20q: %v\nwant %s", pattern, err, want)
		}
	}
}

// TestGrepLikeLines compares with the plain way: each line by itself.
func TestGrepLikeLines(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	patterns := rapid.SampledFrom([]string{
		"ab", "a+", "a*", "^a", "b$", "^$", `\bab\b`, "a|b", "[^a]b", `\s`, `\S+\s\S`, "(?i)AB", "a.b", ".", `(ab)+c?`, "x{2,3}", `\W`, "(?:ab|b)a", "ab.*ab", "ab|bx|é", "(?:aa|x) ?b", "a(?:b|bx)+|xx", "[[:space:]]a",
	})
	line := rapid.StringOfN(rapid.RuneFrom([]rune("aabbx c\té")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		pattern := patterns.Draw(t, "pattern")
		lines := rapid.SliceOfN(line, 0, 12).Draw(t, "lines")
		if rapid.Bool().Draw(t, "long") { // more than one piece
			lines = slices.Insert(lines, len(lines)/2, slices.Repeat([]string{"zz"}, piece)...)
		}
		text := strings.Join(lines, "\n")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		re, want := regexp.MustCompile(pattern), []string(nil)
		rest := strings.Split(text, "\n")
		if rest[len(rest)-1] == "" {
			rest = rest[:len(rest)-1]
		}
		for i, l := range rest {
			if re.MatchString(l) && len(want) < 50 {
				want = append(want, fmt.Sprintf("f:%d:%s", i+1, l))
			}
		}
		got, err := Grep(context.Background(), dir, GrepOptions{Pattern: pattern, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, brief(got)); d != "" {
			t.Fatalf("%q in %q (-want +got):\n%s", pattern, text[:min(200, len(text))], d)
		}
	})
}

// TestGrepKeepsNewest checks that leaving old files out changes nothing.
func TestGrepKeepsNewest(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 200 {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		put(t, dir, map[string]string{name: strings.Repeat("hit\n", 1+i%3)})
		names = append(names, name)
	}
	age(t, dir, names...)
	var all []string
	for i, n := range names {
		for l := range 1 + i%3 {
			all = append(all, fmt.Sprintf("%s:%d:hit", n, l+1))
		}
	}
	for _, limit := range []int{1, 5, 100, 396, 397, 1000} {
		got := grep(t, dir, GrepOptions{Pattern: "hit", Limit: limit})
		if d := cmp.Diff(all[:min(limit, len(all))], brief(got)); d != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, d)
		}
		if got.Truncated != (limit < len(all)) {
			t.Errorf("limit %d of %d: truncated %v", limit, len(all), got.Truncated)
		}
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	for i := range 50 {
		put(t, dir, map[string]string{fmt.Sprintf("d%d/f", i): "x\n"})
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := Grep(ctx, dir, GrepOptions{Pattern: "x"}); !errors.Is(err, cause) {
		t.Errorf("grep: %v", err)
	}
	if _, err := Glob(ctx, dir, "*", 1, FileOptions{}); !errors.Is(err, cause) {
		t.Errorf("glob: %v", err)
	}
	n := 0
	for range Files(context.Background(), dir, FileOptions{Limit: 3}) {
		n++
	}
	for range Files(context.Background(), dir, FileOptions{}) {
		break
	}
	if n != 3 {
		t.Errorf("%d files with a limit of 3", n)
	}
	for _, err := range Files(context.Background(), filepath.Join(dir, "none"), FileOptions{}) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("missing directory: %v", err)
		}
	}
}

func TestFollow(t *testing.T) {
	base := t.TempDir()
	put(t, base, map[string]string{"dir/a": "", "dir/sub/b": "", "out/c": "", "out/deep/d": ""})
	for name, to := range map[string]string{
		"dir/loop": "..", "dir/self": ".", "dir/out1": "../out", "dir/out2": "../out", "dir/in": "sub", "dir/file": "../out/c",
		"dir/none": "missing", "out/back": "../dir", "dir/circle": "circle",
	} {
		if err := os.Symlink(to, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(base, "dir")
	got := list(t, dir, FileOptions{})
	slices.Sort(got)
	if d := cmp.Diff([]string{"a", "sub/b"}, got); d != "" {
		t.Errorf("without links (-want +got):\n%s", d)
	}
	got = list(t, dir, FileOptions{Follow: true})
	slices.Sort(got)
	if d := cmp.Diff([]string{"a", "file", "out1/c", "out1/deep/d", "sub/b"}, got); d != "" {
		t.Errorf("with links (-want +got):\n%s", d)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"a": "x\n", "b": "x\n", "locked/c": "x\n"})
	for _, n := range []string{"b", "locked"} {
		if err := os.Chmod(filepath.Join(dir, n), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(filepath.Join(dir, "locked"), 0o755)
	got := grep(t, dir, GrepOptions{Pattern: "x"})
	if len(got.Matches) != 1 || got.Skipped != 2 {
		t.Errorf("%d matches, %d skipped", len(got.Matches), got.Skipped)
	}
}

func TestBigDirectory(t *testing.T) {
	dir := t.TempDir()
	const n = 3*chunk + 10
	for i := range n {
		if f, err := os.Create(filepath.Join(dir, fmt.Sprintf("f%d", i))); err != nil {
			t.Fatal(err)
		} else {
			f.Close()
		}
	}
	put(t, dir, map[string]string{".gitignore": "*7\n"})
	seen := map[string]bool{}
	for _, p := range list(t, dir, FileOptions{}) {
		if seen[p] || strings.HasSuffix(p, "7") {
			t.Errorf("%s: twice or ignored", p)
		}
		seen[p] = true
	}
	want := 0
	for i := range n {
		if i%10 != 7 {
			want++
		}
	}
	if len(seen) != want {
		t.Errorf("%d files, want %d", len(seen), want)
	}
	for range Files(context.Background(), dir, FileOptions{}) {
		break // with the directory still open
	}
}

func TestRequired(t *testing.T) {
	for pattern, want := range map[string][]string{
		"abc": {"abc"}, "a.bcd": {"bcd"}, "x(foo|bar)y+": {"foo", "bar"}, "foo|.*": nil, "(?i)abc": nil, "(ab)?c": {"c"}, "(ab){2}": {"ab"},
		"a|b|c": nil, "abcd(e|f)": {"abcd"},
	} {
		e, err := compile(GrepOptions{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range e.needs {
			got = append(got, string(n))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, d)
		}
	}
}

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"new.go": "", "a/mid.go": "", "a/b/old.ts": "", "a/b/x.txt": "", ".h/c.go": ""})
	age(t, dir, "new.go", ".h/c.go", "a/mid.go", "a/b/old.ts", "a/b/x.txt")
	for _, tc := range []struct {
		glob  string
		limit int
		opt   FileOptions
		want  []string
		total int
	}{
		{"*.go", 0, FileOptions{}, []string{"new.go", "a/mid.go"}, 2},
		{"*.go", 1, FileOptions{Hidden: true}, []string{"new.go"}, 3},
		{"**/*.{go,ts}", 0, FileOptions{Hidden: true}, []string{"new.go", ".h/c.go", "a/mid.go", "a/b/old.ts"}, 4},
		{"a/*", 0, FileOptions{}, []string{"a/mid.go"}, 1},
		{"a/**", 0, FileOptions{}, []string{"a/mid.go", "a/b/old.ts", "a/b/x.txt"}, 3},
		{"/*.go", 0, FileOptions{}, []string{"new.go"}, 1},
		{filepath.ToSlash(dir) + "/a/*.go", 0, FileOptions{}, []string{"a/mid.go"}, 1},
		{"b/*", 0, FileOptions{}, nil, 0},
	} {
		got, err := Glob(context.Background(), dir, tc.glob, tc.limit, tc.opt)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range got.Files {
			names = append(names, f.Path)
		}
		if d := cmp.Diff(tc.want, names); d != "" || got.Total != tc.total {
			t.Errorf("%s: total %d (-want +got):\n%s", tc.glob, got.Total, d)
		}
	}
	for _, bad := range []string{"", "[a", "{a", "a}", `a\`, "\xff", strings.Repeat("{a,b}", 40), strings.Repeat("x", 5000)} {
		if _, err := NewMatcher(bad); !errors.Is(err, ErrGlob) {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

// TestLikeDoublestar compares with another implementation, on globs with a slash.
func TestLikeDoublestar(t *testing.T) {
	bit := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "/", "/**/", "**/", "{a,b}", "{a,*/b}", "[ab]", "[!a]", `\*`, "é", "[a-b]"})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "/", "/", ".", "é", "*"})
	rapid.Check(t, func(t *rapid.T) {
		glob := "a/" + strings.Join(rapid.SliceOfN(bit, 0, 5).Draw(t, "glob"), "")
		p := "a/" + strings.Join(rapid.SliceOfN(name, 0, 5).Draw(t, "path"), "")
		if strings.Contains(glob, "//") || strings.Contains(p, "//") || strings.Contains(glob, "***") || strings.HasSuffix(p, "/") || strings.HasSuffix(glob, "/") {
			return
		}
		m, err := NewMatcher(glob)
		if err != nil {
			t.Fatal(err)
		}
		if want := doublestar.MatchUnvalidated(glob, p); m.Match(p) != want {
			t.Errorf("%q matches %q: %v, doublestar says %v", glob, p, !want, want)
		}
	})
}

// A directory that is not entered holds no match.
func TestMatchesAreInDirectoriesThatMayHoldThem(t *testing.T) {
	bit := rapid.SampledFrom([]string{"a", "b", "*", "?", "/", "/**/", "**", "{a,b}", "{a,*/b}", "{/a,b}", "[ab]", `\*`})
	name := rapid.SampledFrom([]string{"a", "b", "ab", "/", "/", "*"})
	rapid.Check(t, func(t *rapid.T) {
		m, err := NewMatcher(strings.Join(rapid.SliceOfN(bit, 1, 6).Draw(t, "glob"), ""))
		p := path.Clean(strings.Trim(strings.Join(rapid.SliceOfN(name, 1, 6).Draw(t, "path"), ""), "/"))
		if err != nil || !m.Match(p) {
			return
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if !m.mayHold(dir) {
				t.Errorf("%q matches, and %q is not entered", p, dir)
			}
		}
	})
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	writeFile := func(name, text string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.md", ".hidden.md", "ignored.md", "docs/b.md", "docs/deep/c.md", "other/d.md", "docs/x.txt", ".git/e.md"} {
		writeFile(filepath.Join(dir, name), "")
	}
	writeFile(filepath.Join(dir, ".gitignore"), "ignored.md\n")
	for link, to := range map[string]string{"link.md": "a.md", "docs/up": "../other", "alias": "docs", "dangling.md": "none"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	for glob, want := range map[string][]string{
		"*.md":          {".hidden.md", "a.md", "ignored.md", "link.md"},
		"a.md":          {"a.md"},
		"./a.md":        {"a.md"},
		"link.md":       {"link.md"},
		"docs":          nil,
		"none.md":       nil,
		"none/*.md":     nil,
		"docs/*.md":     {"docs/b.md"},
		"docs/**/*.md":  {"docs/b.md", "docs/deep/c.md"},
		"alias/*.md":    {"alias/b.md"},
		"*/d.md":        {"other/d.md"},
		"{a,docs/b}.md": {"a.md", "docs/b.md"},
		"../*.md":       nil,
		"docs/../a.md":  {"docs/../a.md"},
		"**":            {".gitignore", ".hidden.md", "a.md", "docs/b.md", "docs/deep/c.md", "docs/x.txt", "ignored.md", "link.md", "other/d.md"},
	} {
		got, err := Expand(t.Context(), dir, glob)
		if glob == "none/*.md" {
			err = nil
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", glob, err, diff)
		}
	}
	if _, err := Expand(t.Context(), dir, "{a"); !errors.Is(err, ErrGlob) {
		t.Errorf("a malformed glob: %v", err)
	}
}

func FuzzMatcher(f *testing.F) {
	f.Add("a/**/{b,[!c-d]}*", "a/x/b")
	f.Fuzz(func(t *testing.T, glob, p string) {
		if m, err := NewMatcher(glob); err == nil {
			m.Match(p)
			m.mayHold(p)
		} else if !errors.Is(err, ErrGlob) {
			t.Error(err)
		}
	})
}

func FuzzGrep(f *testing.F) {
	f.Add("a+b", []byte("xab\naab\r\n"))
	f.Add(`^\s*$`, []byte("\xff\xfea\x00\n\x00"))
	f.Fuzz(func(t *testing.T, pattern string, data []byte) {
		if len(pattern) > 200 {
			return
		}
		e, err := compile(GrepOptions{Pattern: pattern})
		if err != nil {
			return
		}
		b := &best{limit: 10}
		s := newScanner(context.Background(), e, GrepOptions{Limit: 10, LineLimit: 20}, b)
		s.line = 1
		if err := s.read(bytes.NewReader(data), 0); err != nil {
			t.Fatal(err)
		}
		wide, _ := utf16BOM(data)
		for _, m := range s.found {
			if m.Line < 1 || m.Offset < 0 || !wide && !bytes.HasPrefix(data[m.Offset:], []byte(m.Text)) {
				t.Errorf("%q in %q: %+v", pattern, data, m)
			}
		}
	})
}

func TestFuzzy(t *testing.T) {
	files := []string{
		"internal/session/session.go", "internal/session/store.go", "cmd/main.go", "src/domain/email.go", "docs/main/readme.md",
		"src/mainframe.go", "internal/sse/reader.go", "README.md", "src/", "src/components/UserProfile.tsx",
	}
	for _, tc := range []struct {
		query string
		limit int
		want  []string
	}{
		{"main", 1, []string{"cmd/main.go"}},
		{"main.go", 2, []string{"cmd/main.go", "src/mainframe.go"}},
		{"session.go", 1, []string{"internal/session/session.go"}},
		{"sesstore", 1, []string{"internal/session/store.go"}},
		{"readme", 2, []string{"README.md", "docs/main/readme.md"}},
		{"UP", 1, []string{"src/components/UserProfile.tsx"}},
		{"session store", 1, []string{"internal/session/store.go"}},
		{"src", 1, []string{"src/"}},
		{"zzz", 5, []string{}},
		{"", 2, files[:2]},
	} {
		if d := cmp.Diff(tc.want, Fuzzy(tc.query, files, tc.limit)); d != "" {
			t.Errorf("%q (-want +got):\n%s", tc.query, d)
		}
	}
}

func FuzzFuzzy(f *testing.F) {
	f.Add("ab c", "x/a_b/c")
	f.Fuzz(func(t *testing.T, query, name string) {
		got := Fuzzy(query, []string{name}, 0)
		at := 0
		sub := []rune(strings.Join(strings.Fields(query), ""))
		for _, r := range name {
			if at < len(sub) && sub[at] == r {
				at++
			}
		}
		if words := strings.Fields(query); len(words) == 1 && at == len(sub) && len(got) == 0 {
			t.Errorf("%q does not find %q", query, name)
		}
	})
}

func TestTree(t *testing.T) {
	want := "/repo/\n  cmd/\n    main.go\n  internal/\n    a/\n      x.go\n    b.go\n  empty/\n  README.md\n  go.mod\n"
	want = strings.Replace(want, "  empty/\n", "", 1)
	want = strings.Replace(want, "  internal/\n", "  empty/\n  internal/\n", 1)
	got := Tree("/repo", []string{"go.mod", "internal/b.go", "cmd/main.go", "README.md", "internal/a/x.go", "empty/", "go.mod"})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("tree (-want +got):\n%s", d)
	}
	if got := Tree("/", nil); got != "/\n" {
		t.Errorf("empty tree: %q", got)
	}
}

// forest makes a tree of n files of code-like text.
func forest(b *testing.B, n int) string {
	dir := b.TempDir()
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "\tif value%d := compute(%d); value%d > 0 { return value%d }\n", i, i*7, i, i)
	}
	for i := range n {
		d := filepath.Join(dir, fmt.Sprintf("d%d", i/1000), fmt.Sprintf("e%d", i/50%20))
		if i%50 == 0 {
			if err := os.MkdirAll(d, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		body := text.String()
		if i%500 == 0 {
			body += "needle in here\n"
		}
		if err := os.WriteFile(filepath.Join(d, fmt.Sprintf("file%d.go", i)), []byte(body), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	put(b, dir, map[string]string{".gitignore": "*.log\n/build\nnode_modules/\n**/tmp/*.x\n"})
	return dir
}

// Benchmark compares with ripgrep where it is installed. LATHE_BENCH_FILES sets
// the size of the tree, and cpu-ms/op is the processor time of the process.
func Benchmark(b *testing.B) {
	size := 20_000
	if n, err := strconv.Atoi(os.Getenv("LATHE_BENCH_FILES")); err == nil {
		size = n
	}
	dir := forest(b, size)
	ctx := context.Background()
	b.Run("files", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for range Files(ctx, dir, FileOptions{Hidden: true}) {
				n++
			}
			if n < 20_000 {
				b.Fatal(n)
			}
		}
	})
	b.Run("files sorted", func(b *testing.B) {
		for b.Loop() {
			for range Files(ctx, dir, FileOptions{Hidden: true, Sorted: true}) {
			}
		}
	})
	b.Run("glob", func(b *testing.B) {
		reportCPU(b, syscall.RUSAGE_SELF)
		for b.Loop() {
			if _, err := Glob(ctx, dir, "**/*9.go", 100, FileOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("rg --files", func(b *testing.B) {
		if _, err := exec.LookPath("rg"); err != nil {
			b.Skip("needs rg")
		}
		reportCPU(b, syscall.RUSAGE_CHILDREN)
		for b.Loop() {
			_ = exec.Command("rg", "--files", "-g", "**/*9.go", dir).Run()
		}
	})
	for _, pattern := range []string{"needle", `value\d+ > 0`, `n[aeiou]+dle`, `needle|absent|missing`, `(?i)needle`, `[0-9]{5,}`} {
		b.Run("grep "+pattern, func(b *testing.B) {
			reportCPU(b, syscall.RUSAGE_SELF)
			for b.Loop() {
				if _, err := Grep(ctx, dir, GrepOptions{Pattern: pattern}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("rg "+pattern, func(b *testing.B) {
			if _, err := exec.LookPath("rg"); err != nil {
				b.Skip("needs rg")
			}
			reportCPU(b, syscall.RUSAGE_CHILDREN)
			for b.Loop() {
				_ = exec.Command("rg", "-n", pattern, dir).Run()
			}
		})
	}
	b.Run("fuzzy", func(b *testing.B) {
		all := list(b, dir, FileOptions{})
		for b.Loop() {
			Fuzzy("fl199", all, 10)
		}
	})
}

// reportCPU reports the processor time of a benchmark when it ends: of this
// process, or of the programs it ran.
func reportCPU(b *testing.B, who int) {
	before := cpuTime(b, who)
	b.Cleanup(func() { b.ReportMetric(float64((cpuTime(b, who)-before).Milliseconds())/float64(b.N), "cpu-ms/op") })
}

func cpuTime(b *testing.B, who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
