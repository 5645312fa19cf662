//go:build unix

package search

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// git runs git in dir with no configuration but an ignore file of the user.
func git(t interface {
	Helper()
	Fatalf(string, ...any)
}, dir, config, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + config, "HOME=" + config, "GIT_CONFIG_NOSYSTEM=1"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && errs.Len() > 0 {
		t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return string(out)
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
}

func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			file = filepath.Join(file, ".keep")
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, tc := range []struct {
		line, path string
		dir, want  bool
	}{
		{"*.o", "a/b.o", false, true},
		{"/*.o", "a/b.o", false, false},
		{"a/*.o", "a/b.o", false, true},
		{"a/**", "a/b/c", false, true},
		{"a/**", "a", true, false},
		{"**/b", "a/b", false, true},
		{"**/b", "b", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/**b", "a/x/b", false, false},
		{"ab**/c", "abx/y/c", false, true},
		{"d/", "d", false, false},
		{"d/", "d", true, true},
		{`\!x`, "!x", false, true},
		{`\#x`, "#x", false, true},
		{`x\ `, "x ", false, true},
		{"x  ", "x", false, true},
		{"x\r", "x", false, true},
		{"[a-c]", "b", false, true},
		{"[!a-c]", "b", false, false},
		{"[[:digit:]]", "7", false, true},
		{"[[:nope:]]", "7", false, false},
		{"[]]", "]", false, true},
		{"[]", "[]", false, false},
		{`[\]]`, "]", false, true},
		{"a[/]b", "a/b", false, false},
		{`x\`, `x\`, false, false},
		{"?", "é", false, false}, // bytes, as in git
		{strings.Repeat("*a", 60) + "b", strings.Repeat("a", 300), false, false},
	} {
		p, ok := parsePattern(tc.line)
		if got := ok && p.match(tc.path, path.Base(tc.path), tc.dir); got != tc.want {
			t.Errorf("%q matches %q: %v, want %v", tc.line, tc.path, got, tc.want)
		}
	}
}

func patternLine() *rapid.Generator[string] {
	bit := rapid.SampledFrom([]string{
		"a", "b", "ab", "x.o", ".h", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[a-c]", "[^", "[]a]", "[[:alpha:]]",
		`\a`, `\*`, `\`, " ", `\ `, "!", "#", "*.o", "**/", "/**", "[a/]", "[--0]", "é", "\t", "[[:bad:]]", "[[:", `[\]]`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		neg := rapid.SampledFrom([]string{"", "", "", "!"}).Draw(t, "neg")
		return neg + strings.Join(rapid.SliceOfN(bit, 1, 5).Draw(t, "bits"), "")
	})
}

// TestLikeGit compares whole trees with git check-ignore: the same rules, the
// same paths, many patterns at once.
func TestLikeGit(t *testing.T) {
	needGit(t)
	names := []string{"a", "b", "ab", "x.o", ".h", "c d", "é", "a*", "!b", "#a"}
	var tree, paths []string
	for _, x := range names {
		tree = append(tree, x+".d/")
		for _, y := range []string{"a", "b", "x.o", "ab"} {
			if tree = append(tree, y+"/b/"+x, "b/ab/"+y+"/"+x); x != "b" && x != "ab" { // those are directories
				tree = append(tree, y+"/"+x)
			}
		}
		tree = append(tree, "f"+x)
	}
	dir, config := t.TempDir(), t.TempDir()
	git(t, dir, config, "", "init", "-q")
	for _, p := range tree {
		put(t, dir, map[string]string{p: ""})
	}
	isDir := map[string]bool{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if rel == ".git" {
			return filepath.SkipDir
		}
		if rel != "." {
			paths = append(paths, filepath.ToSlash(rel))
			isDir[filepath.ToSlash(rel)] = d.IsDir()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d paths", len(paths))
	stdin := strings.Join(paths, "\x00") + "\x00"
	files := map[string]string{
		"top": filepath.Join(dir, ".gitignore"), "a": filepath.Join(dir, "a", ".gitignore"), "b/ab": filepath.Join(dir, "b", "ab", ".gitignore"),
		"exclude": filepath.Join(dir, ".git", "info", "exclude"), "global": filepath.Join(config, "git", "ignore"),
	}
	if err := os.MkdirAll(filepath.Join(config, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		rules := map[string]string{}
		for _, key := range []string{"top", "a", "b/ab", "exclude", "global"} {
			rules[key] = strings.Join(rapid.SliceOfN(patternLine(), 0, 4).Draw(t, key), "\n")
			if err := os.WriteFile(files[key], []byte(rules[key]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.Split(strings.TrimSuffix(git(t, dir, config, stdin, "check-ignore", "-z", "--stdin"), "\x00"), "\x00")
		ig := NewIgnore(dir, files["global"])
		got := []string{}
		for _, p := range paths {
			if ig.Match(p, isDir[p]) {
				got = append(got, p)
			}
		}
		if len(got) == 0 {
			got = []string{""}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("ignored paths (-git +ours):\n%s\nrules: %q", d, rules)
		}
	})
}

func TestIgnoreFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		".gitignore": "*.log\nbuild/\n", ".ignore": "!keep.log\n*.tmp\n",
		"keep.log": "", "drop.log": "", "x.tmp": "", "build/a": "", "src/a.go": "", "src/.hidden": "",
		"sub/.git/info/exclude": "e\n", "sub/e": "", "sub/in.log": "", ".git/HEAD": "",
	})
	for _, tc := range []struct {
		name string
		dir  string
		opt  FileOptions
		want []string
	}{
		// A repository inside does not obey the .gitignore outside it.
		{"default", dir, FileOptions{}, []string{"keep.log", "src/a.go", "sub/in.log"}},
		{"hidden", dir, FileOptions{Hidden: true}, []string{".gitignore", ".ignore", "keep.log", "src/.hidden", "src/a.go", "sub/in.log"}},
		{"no ignore", dir, FileOptions{NoIgnore: true}, []string{"build/a", "drop.log", "keep.log", "src/a.go", "sub/e", "sub/in.log", "x.tmp"}},
		{"excludes", dir, FileOptions{Excludes: []string{"src", "*.log"}}, nil},
		{"depth", dir, FileOptions{MaxDepth: 1}, []string{"keep.log"}},
		{"dirs", dir, FileOptions{Dirs: true, Glob: "*.go"}, []string{"src", "src/a.go", "sub"}},
		{"inside", filepath.Join(dir, "src"), FileOptions{}, []string{"a.go"}},
		{"inside what is ignored", filepath.Join(dir, "build"), FileOptions{}, []string{"a"}},
	} {
		for _, sorted := range []bool{false, true} {
			tc.opt.Sorted = sorted
			got := list(t, tc.dir, tc.opt)
			if !sorted {
				slices.Sort(got)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s, sorted %v (-want +got):\n%s", tc.name, sorted, d)
			}
		}
	}
}

func list(t testing.TB, dir string, opt FileOptions) []string {
	t.Helper()
	var out []string
	for f, err := range Files(context.Background(), dir, opt) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f.Path)
	}
	return out
}

func TestGlobalIgnore(t *testing.T) {
	home := t.TempDir()
	put(t, home, map[string]string{".gitconfig": "[user]\n\tname = x\n[core]\n\texcludesFile = ~/mine # note\n"})
	for _, tc := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"HOME": home}, filepath.Join(home, "mine")},
		{map[string]string{"HOME": "/none"}, "/none/.config/git/ignore"},
		{map[string]string{"HOME": "/none", "XDG_CONFIG_HOME": "/x"}, "/x/git/ignore"},
		{nil, ""},
	} {
		if got := GlobalIgnore(func(k string) string { return tc.env[k] }); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.env, got, tc.want)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("a/**/[!b-c]*", "a/x/d")
	f.Add(`[[:alpha:]\`, "x")
	f.Fuzz(func(t *testing.T, line, name string) {
		if p, ok := parsePattern(line); ok {
			p.match(name, path.Base(name), false)
		}
	})
}
