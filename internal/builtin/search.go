package builtin

import (
	"context"
	_ "embed" // the descriptions
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/search"
	"lathe/internal/tool"
)

const (
	maxFound  = 100 // files or lines of one answer
	grepBytes = 50 << 10
)

//go:embed glob.md
var globText string

//go:embed grep.md
var grepText string

//go:embed list.md
var listText string

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

type grepInput struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Include    string `json:"include"`
	IgnoreCase bool   `json:"ignoreCase"`
	Context    int    `json:"context"`
	FilesOnly  bool   `json:"filesOnly"`
}

type listInput struct {
	Path   string   `json:"path"`
	Ignore []string `json:"ignore"`
}

func (e searchTools) globTool() tool.Tool {
	s := spec("glob", globText, `{"type":"object","properties":{`+
		`"pattern":{"type":"string","description":"Glob, such as **/*.go or src/{a,b}/*.ts"},`+
		`"path":{"type":"string","description":"Directory to search; the session's directory if left out"}},`+
		`"required":["pattern"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.glob)
}

func (e searchTools) grepTool() tool.Tool {
	s := spec("grep", grepText, `{"type":"object","properties":{`+
		`"pattern":{"type":"string","description":"Regular expression"},`+
		`"path":{"type":"string","description":"Directory or file to search; the session's directory if left out"},`+
		`"include":{"type":"string","description":"Glob of the files to search, such as *.go or *.{ts,tsx}"},`+
		`"ignoreCase":{"type":"boolean"},`+
		`"context":{"type":"integer","minimum":0,"maximum":10,"description":"Lines to show before and after each match"},`+
		`"filesOnly":{"type":"boolean","description":"Names of files and their number of matches only"}},`+
		`"required":["pattern"],"additionalProperties":false}`)
	s.ReadOnly = true
	return typed(s, e.grep)
}

func (e searchTools) listTool() tool.Tool {
	s := spec("list", listText, `{"type":"object","properties":{`+
		`"path":{"type":"string","description":"Directory to list; the session's directory if left out"},`+
		`"ignore":{"type":"array","items":{"type":"string"},"description":"Globs of what to leave out"}},`+
		`"additionalProperties":false}`)
	s.ReadOnly, s.Quiet = true, true // read and glob do the same
	return typed(s, e.list)
}

// where resolves the place to search and asks to leave the workspace for it.
func (e searchTools) where(ctx context.Context, call *tool.Call, path string) (string, error) {
	real := e.Root.Dir
	if path != "" {
		var err error
		if real, err = e.resolve(path); err != nil {
			return "", err
		}
	}
	if e.secret(call, real) {
		return "", failf("%s belongs to lathe itself and cannot be searched.", real)
	}
	if err := e.external(ctx, call, real, isDir(real), nil); err != nil {
		return "", err
	}
	if !exists(real) {
		return "", e.missing(ctx, call, real)
	}
	return real, nil
}

// options are those of every search: hidden files count, ignored ones do not,
// and neither does what belongs to lathe.
func (e Places) options(dir string) search.FileOptions {
	opt := search.FileOptions{Hidden: true, GlobalIgnore: e.GlobalIgnore}
	if e.DataDir != "" && within(dir, e.DataDir) {
		if rel, err := filepath.Rel(dir, e.DataDir); err == nil && !strings.ContainsAny(rel, `*?[]\!`) {
			opt.Excludes = []string{"/" + filepath.ToSlash(rel)}
		}
	}
	return opt
}

func (e searchTools) glob(ctx context.Context, call *tool.Call, in globInput) (tool.Result, error) {
	if in.Pattern == "" {
		return tool.Result{}, failf("pattern is required")
	}
	err := ask(ctx, call, tool.Request{
		Permission: "glob", Patterns: []string{in.Pattern}, Always: []string{"*"},
		Metadata: map[string]any{"pattern": in.Pattern, "path": in.Path},
	})
	if err != nil {
		return tool.Result{}, err
	}
	dir, err := e.where(ctx, call, in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	if !isDir(dir) {
		return tool.Result{}, failf("%s is not a directory: glob searches directories.", dir)
	}
	sieve, opt := e.sieve(call, dir), e.options(dir)
	if hides(sieve.rules.Path(dir)) {
		if err := sieve.ask(ctx, call, e.Root.Rel(dir)); err != nil {
			return tool.Result{}, err
		}
	}
	sieve.names(&opt)
	ctx, cancel := patient(ctx, searchTime)
	defer cancel()
	found, err := search.Glob(ctx, dir, relativeGlob(dir, in.Pattern), maxFound, opt)
	if err != nil {
		return tool.Result{}, failf("glob %q: %v", in.Pattern, err)
	}
	var lines []string
	for _, f := range found.Files {
		lines = append(lines, filepath.Join(dir, filepath.FromSlash(f.Path)))
	}
	if len(lines) == 0 {
		lines = []string{"No files found"}
	}
	cut := found.Total > len(found.Files)
	if cut {
		lines = append(lines, "", fmt.Sprintf("(Only the newest %d of %d files are shown. Use a narrower pattern or path.)", len(found.Files), found.Total))
	}
	return tool.Result{
		Title: e.Root.Name(dir), Output: strings.Join(lines, "\n") + sieve.note(leftNames),
		Metadata: map[string]any{"count": len(found.Files), "truncated": cut},
	}, nil
}

// relativeGlob takes the searched directory off a pattern that begins with it.
func relativeGlob(dir, pattern string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(pattern), strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/"); ok && rest != "" {
		return "/" + rest
	}
	return pattern
}

func (e searchTools) grep(ctx context.Context, call *tool.Call, in grepInput) (tool.Result, error) {
	if in.Pattern == "" {
		return tool.Result{}, failf("pattern is required")
	}
	err := ask(ctx, call, tool.Request{
		Permission: "grep", Patterns: []string{in.Pattern}, Always: []string{"*"},
		Metadata: map[string]any{"pattern": in.Pattern, "path": in.Path, "include": in.Include},
	})
	if err != nil {
		return tool.Result{}, err
	}
	dir, err := e.where(ctx, call, in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	opt := search.GrepOptions{
		FileOptions: e.options(dir), Pattern: in.Pattern, Include: in.Include, IgnoreCase: in.IgnoreCase, Limit: maxFound, LineLimit: readLine,
	}
	if in.FilesOnly {
		opt.Limit = maxCounted
	}
	base, note := dir, func() string { return "" }
	if isDir(dir) {
		sieve := e.sieve(call, dir)
		if err := sieve.ask(ctx, call, e.Root.Rel(dir)); err != nil {
			return tool.Result{}, err
		}
		sieve.contents(&opt)
		note = func() string { return sieve.note(leftContents) }
	} else {
		if err := e.mayRead(ctx, call, dir); err != nil {
			return tool.Result{}, err
		}
		base = filepath.Dir(dir)
	}
	ctx, cancel := patient(ctx, searchTime)
	defer cancel()
	found, err := search.Grep(ctx, dir, opt)
	if err != nil {
		return tool.Result{}, failf("grep %q: %v", in.Pattern, err)
	}
	if in.FilesOnly {
		return grepFiles(in.Pattern, base, found, note()), nil
	}
	view, file := viewerOf(e.seen, call), ""
	for _, m := range found.Matches {
		if m.Path != file {
			file = m.Path
			view.lines(filepath.Join(base, filepath.FromSlash(file)))
		}
	}
	return grepResult(in.Pattern, base, found, in.Context, note()), nil
}

// searchTime is how long one search may take: a tree of a million files on a slow
// disk, or an expression that is slow on a large file, must not hold up a turn.
const searchTime = 30 * time.Second

// patient returns a context that ends with a reason for the model.
func patient(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s; search a directory below, or use a simpler pattern", limit))
}

// What a search says about files that the rules for reading leave out of it.
const (
	leftContents = "FILES not searched: reading such files, as .env, is denied or asked about. Use read if you must."
	leftNames    = "FILES left out: a rule does not let you read them."
)

// grepResult lists the matches by file.
func grepResult(title, base string, found search.GrepResult, context int, note string) tool.Result {
	var b strings.Builder
	shown, file := 0, ""
	around := vicinity{lines: context}
	for _, m := range found.Matches {
		if b.Len() > grepBytes {
			found.Truncated = true
			break
		}
		if m.Path != file {
			around.rest(&b)
			file = m.Path
			name := filepath.Join(base, filepath.FromSlash(file))
			fmt.Fprintf(&b, "\n%s:\n", name)
			around.open(name)
		}
		around.before(&b, m.Line)
		text := strings.ToValidUTF8(m.Text, "\ufffd")
		if m.Cut {
			text += "..."
		}
		fmt.Fprintf(&b, "  Line %d: %s\n", m.Line, text)
		shown++
	}
	around.rest(&b)
	out := "No line matches"
	if shown > 0 {
		more := ""
		if found.Truncated {
			more = " (more matches available)"
		}
		out = fmt.Sprintf("Found %d matches%s%s", shown, more, strings.TrimSuffix("\n"+strings.TrimPrefix(b.String(), "\n"), "\n"))
	}
	if found.Truncated {
		out += "\n\n(Only the first matches are shown, those of the newest files. Use a narrower pattern, path or include.)"
	}
	out += note
	if found.Skipped > 0 {
		out += "\n\n(Some paths were inaccessible and skipped)"
	}
	return tool.Result{Title: title, Output: out, Metadata: map[string]any{"matches": shown, "truncated": found.Truncated}}
}

// listIgnores returns what a listing leaves out besides ignored files.
func listIgnores() []string {
	return []string{
		"node_modules/", "__pycache__/", ".git/", "dist/", "build/", "target/", "vendor/", "bin/", "obj/", ".idea/", ".vscode/",
		".zig-cache/", "zig-out/", ".coverage/", "coverage/", "tmp/", "temp/", ".cache/", "cache/", "logs/", ".venv/", "venv/", "env/",
	}
}

func (e searchTools) list(ctx context.Context, call *tool.Call, in listInput) (tool.Result, error) {
	dir, err := e.where(ctx, call, in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	err = ask(ctx, call, tool.Request{
		Permission: "list", Patterns: []string{dir}, Always: []string{"*"}, Metadata: map[string]any{"path": dir},
	})
	if err != nil {
		return tool.Result{}, err
	}
	sieve, opt := e.sieve(call, dir), e.options(dir)
	if hides(sieve.rules.Path(dir)) {
		if err := sieve.ask(ctx, call, e.Root.Rel(dir)); err != nil {
			return tool.Result{}, err
		}
	}
	sieve.names(&opt)
	opt.Excludes = append(append(opt.Excludes, listIgnores()...), in.Ignore...)
	opt.Sorted, opt.Limit = true, maxFound+1
	var paths []string
	ctx, cancel := patient(ctx, searchTime)
	defer cancel()
	for f, err := range search.Files(ctx, dir, opt) {
		if err != nil {
			return tool.Result{}, failf("list %s: %v", dir, err)
		}
		paths = append(paths, f.Path)
	}
	cut := len(paths) > maxFound
	if cut {
		paths = paths[:maxFound]
	}
	out := search.Tree(strings.TrimSuffix(dir, "/")+"/", paths)
	if cut {
		out = strings.TrimRight(out, "\n") + fmt.Sprintf("\n\n(Only the first %d files are shown. List a directory below.)", maxFound)
	}
	out += sieve.note(leftNames)
	return tool.Result{Title: e.Root.Name(dir), Output: out, Metadata: map[string]any{"count": len(paths), "truncated": cut}}, nil
}
