package format

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/shell"
	"lathe/internal/workspace"
)

// project is a directory with formatters that are shell scripts.
type project struct {
	t    *testing.T
	dir  string
	bin  string
	told []string
	f    *Formatters
}

func newProject(t *testing.T, specs []Spec, change ...func(*Options)) *project {
	t.Helper()
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir, bin: t.TempDir()}
	runner := shell.New(shell.Options{})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	o := Options{
		Place: Place{Dir: dir, Worktree: dir, Env: []string{"PATH=" + p.bin + ":" + os.Getenv("PATH")}, Trusted: true},
		Specs: specs, Open: runner.Open, Wait: time.Minute, Notice: func(text string) { p.told = append(p.told, text) },
	}
	for _, c := range change {
		c(&o)
	}
	p.f = New(o)
	return p
}

func (p *project) put(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// program puts a shell script on PATH, or where a path says.
func (p *project) program(name, script string) {
	p.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.bin, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) get(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

const upper = `for f; do tr a-z A-Z <"$f" >"$f.new" && mv "$f.new" "$f"; done`

func custom(words ...string) []Spec {
	return []Spec{Custom("mine", words, []string{".txt"}, map[string]string{"GREETING": "hello"})}
}

func TestFormat(t *testing.T) {
	p := newProject(t, custom("mine", "-x", "$FILE", "in $FILE"))
	p.program("mine", `printf '%s|%s|%s|%s|%s' "$1" "$2" "$3" "$PWD" "$GREETING" >"$2"`)
	path := p.put("a 'b.txt", "text")
	other := p.put("c.md", "text")
	p.f.Format(t.Context(), []string{path, other})
	want := strings.Join([]string{"-x", path, "in " + path, p.dir, "hello"}, "|")
	if got := p.get("a 'b.txt"); got != want || p.get("c.md") != "text" {
		t.Errorf("%q, want %q", got, want)
	}
	if len(p.told) != 0 {
		t.Errorf("told %q", p.told)
	}
}

// A formatter that goes wrong leaves what the tool wrote. One that changed the file and
// reports what it could not mend did its work.
func TestFormatDoesNoHarm(t *testing.T) {
	tests := map[string]struct {
		script, want, told string
	}{
		"fails":                 {"exit 2", "text", ""},
		"changes and complains": {upper + "\nexit 1", "TEXT", ""},
		"removes the file":      {`rm "$1"`, "text", ""},
		"removes and fails":     {`rm "$1"; exit 1`, "text", ""},
		"empties it":            {`: >"$1"`, "text", ""},
		"makes it a link":       {`ln -sf "$0" "$1"`, "text", ""},
		"makes it a directory":  {`rm "$1"; mkdir "$1"`, "text", ""},
		"dies half way":         {`printf te >"$1"; kill -9 $$`, "text", "The formatter mine does not work: it was ended by a signal"},
		"leaves a process":      {upper + "\nsleep 300 &", "TEXT", ""},
		"fills its output":      {upper + "\nhead -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2", "TEXT", ""},
		"reads its input":       {upper + "\ncat", "TEXT", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, custom("mine", "$FILE"), func(o *Options) {
				if name == "leaves a process" {
					o.Wait = 2 * time.Second
				}
			})
			p.program("mine", tt.script)
			p.f.Format(t.Context(), []string{p.put("a.txt", "text")})
			if got := p.get("a.txt"); !strings.EqualFold(got, "text") || name != "leaves a process" && got != tt.want {
				t.Errorf("the file holds %q", got)
			}
			if name != "leaves a process" && !strings.HasPrefix(strings.Join(p.told, "\n"), tt.told) || tt.told == "" && name != "leaves a process" && p.told != nil {
				t.Errorf("told %q", p.told)
			}
		})
	}
}

// One that does not end is stopped, what it did is taken back, and it is not asked again
// for a while.
func TestFormatHangs(t *testing.T) {
	now := time.Now()
	p := newProject(t, custom("mine", "$FILE"), func(o *Options) {
		o.Wait = 300 * time.Millisecond
		o.Now = func() time.Time { return now }
	})
	p.program("mine", `printf half >"$1"; sleep 300`)
	path := p.put("a.txt", "text")
	p.f.Format(t.Context(), []string{path})
	if got := p.get("a.txt"); got != "text" {
		t.Errorf("the file holds %q", got)
	}
	want := []string{"The formatter mine did not end within 300ms and was stopped; it is not asked again for five minutes."}
	if diff := cmp.Diff(want, p.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	p.f.opts.Wait = time.Minute // what follows ends, however busy the machine is
	p.program("mine", upper)
	p.f.Format(t.Context(), []string{path})
	if got := p.get("a.txt"); got != "text" {
		t.Errorf("it was asked again: %q", got)
	}
	now = now.Add(offFor)
	p.f.Format(t.Context(), []string{path})
	if got := p.get("a.txt"); got != "TEXT" {
		t.Errorf("it was not asked again: %q", got)
	}
}

// An aborted call stops the formatter and puts back what it left half done.
func TestFormatAborted(t *testing.T) {
	p := newProject(t, custom("mine", "$FILE"))
	p.program("mine", `printf half >"$1"; : >`+filepath.Join(p.dir, "begun")+`; sleep 300`)
	path := p.put("a.txt", "text")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for {
			if _, err := os.Stat(filepath.Join(p.dir, "begun")); err == nil || t.Context().Err() != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	p.f.Format(ctx, []string{path})
	if got := p.get("a.txt"); got != "text" || p.told != nil {
		t.Errorf("the file holds %q, told %q", got, p.told)
	}
}

// A formatter is used where the project uses it, and several files are formatted at once.
func TestUsedByProject(t *testing.T) {
	const log = `echo "$0" "$@" >>` + "\"$LOG\"\n"
	logFile := filepath.Join(t.TempDir(), "log")
	p := newProject(t, BuiltIn(), func(o *Options) { o.Env = append(o.Env, "LOG="+logFile) })
	for _, name := range []string{"gofmt", "prettier", "clang-format", "ruff", "uv", "biome", "mix", "ocamlformat"} {
		p.program(name, log)
	}
	p.put("web/package.json", `{"devDependencies":{"prettier":"3"}}`)
	p.put("other/package.json", `{"name":"prettier"}`)
	p.put("c/.clang-format", "")
	p.put("py/pyproject.toml", "[tool.ruff]\n")
	p.program(filepath.Join(p.dir, "web/node_modules/.bin/prettier"), log)
	var paths []string
	for _, name := range []string{"a.go", "b.go", "web/a.ts", "other/b.ts", "c/a.c", "b.c", "py/a.py", "b.py", "x.ex", "y.ml"} {
		paths = append(paths, p.put(name, "text"))
	}
	p.f.Format(t.Context(), paths)
	at := func(name string) string { return filepath.Join(p.dir, name) }
	want := strings.Join([]string{
		filepath.Join(p.bin, "gofmt") + " -w " + at("a.go") + " " + at("b.go"),
		at("web/node_modules/.bin/prettier") + " --write " + at("web/a.ts"),
		filepath.Join(p.bin, "clang-format") + " -i " + at("c/a.c"),
		filepath.Join(p.bin, "ruff") + " format " + at("py/a.py"),
	}, "\n") + "\n"
	data, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A repository that is not trusted brings no formatter, and none that runs its code.
func TestUntrusted(t *testing.T) {
	p := newProject(t, BuiltIn(), func(o *Options) { o.Trusted = false })
	p.program("gofmt", `shift; `+upper)
	p.program("prettier", `shift; `+upper)
	p.put("package.json", `{"dependencies":{"prettier":"3"}}`)
	p.program(filepath.Join(p.dir, "node_modules/.bin/prettier"), `shift; `+upper)
	p.f.Format(t.Context(), []string{p.put("a.go", "text"), p.put("a.ts", "text")})
	if p.get("a.go") != "TEXT" || p.get("a.ts") != "text" {
		t.Errorf("%q, %q", p.get("a.go"), p.get("a.ts"))
	}
	want := []string{"The formatter prettier is not used: it runs code of the repository, which is not trusted (lathe trust)."}
	if diff := cmp.Diff(want, p.told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestStatus(t *testing.T) {
	p := newProject(t, append(BuiltIn()[:3:3], custom("none", "$FILE")...))
	p.program("gofmt", "")
	p.put("package.json", `{"dependencies":{"prettier":"3"}}`)
	p.program("prettier", "")
	want := []Status{{"gofmt", []string{".go"}, true}, {"mix", nil, false}, {"prettier", nil, true}, {"mine", []string{".txt"}, false}}
	got := p.f.Status()
	for i := 1; i < 3; i++ {
		got[i].Extensions = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
