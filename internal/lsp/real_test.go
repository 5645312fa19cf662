package lsp

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRealServers works with real language servers where LATHE_LANGUAGES names the
// directories that have them: a file is broken, the error is seen, it is mended, the
// error is gone, and a name is changed in all files. See .ci/languages.
func TestRealServers(t *testing.T) {
	path := os.Getenv("LATHE_LANGUAGES")
	if path == "" {
		t.Skip("LATHE_LANGUAGES names no directories with language servers")
	}
	tests := []struct {
		server      string
		files       map[string]string
		file        string
		old, broken string
		errs        map[string]string // by file, a part of what is said
		rename      Position
		renamed     map[string]string // by file, a part of what it then holds
	}{
		{
			"gopls", map[string]string{"go.mod": "module x\n\ngo 1.25\n", "a.go": "package x\n\nfunc Old() int { return 1 }\n", "b.go": "package x\n\nvar B int = Old()\n"},
			"a.go", "int { return 1 }", "string { return \"\" }", map[string]string{"b.go": "cannot use Old()"},
			Position{2, 5}, map[string]string{"a.go": "func New()", "b.go": "= New()"},
		},
		{
			"typescript", map[string]string{"package-lock.json": "{}", "tsconfig.json": `{"compilerOptions":{"strict":true}}`, "a.ts": "export function old(): number { return 1 }\n", "b.ts": "import { old } from './a';\nexport const b: number = old();\n"},
			"a.ts", "return 1", "return ''", map[string]string{"a.ts": "not assignable"},
			Position{0, 16}, map[string]string{"a.ts": "function New()", "b.ts": "= New()"},
		},
		{
			"pyright", map[string]string{"pyrightconfig.json": "{}", "a.py": "def old() -> int:\n    return 1\n", "b.py": "from a import old\nb: int = old()\n"},
			"a.py", "return 1", "return ''", map[string]string{"a.py": "not assignable"},
			Position{0, 4}, map[string]string{"a.py": "def New()"},
		},
		{
			"clangd", map[string]string{"compile_flags.txt": "-Wall\n", "a.c": "int old(void) { return 1; }\nint b(void) { return old(); }\n"},
			"a.c", "return 1;", "return nothing;", map[string]string{"a.c": "undeclared identifier"},
			Position{0, 4}, map[string]string{"a.c": "return New();"},
		},
		{
			"yaml-ls", map[string]string{"a.yaml": "a: 1\nb: 2\n"}, "a.yaml", "b: 2", "a: [3", map[string]string{"a.yaml": "unique"}, Position{}, nil,
		},
		{
			"bash", map[string]string{"a.sh": "#!/bin/bash\nold() { echo 1; }\nold\n"}, "a.sh", "echo 1;", "if true; then echo 1;", map[string]string{"a.sh": "Couldn't parse this if"}, Position{1, 0}, map[string]string{"a.sh": "New() { echo 1; }\nNew\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.server, func(t *testing.T) {
			d := realDesk(t, path)
			texts := map[string]string{}
			for name, text := range tt.files {
				texts[name] = text
				if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if len(d.servers.serving(filepath.Join(d.dir, tt.file))) == 0 {
				t.Skipf("%s is not there", tt.server)
			}
			begin := time.Now()
			if _, err := d.servers.Ask(t.Context(), DocumentSymbols, d.file(tt.file, texts[tt.file]), Position{}, ""); err != nil {
				t.Fatal(err)
			}
			t.Logf("ready after %v, with %s", time.Since(begin).Round(10*time.Millisecond), size(d.servers.Status()[0].Memory))
			if tt.server == "bash" && !onPath("shellcheck") {
				tt.old = "" // it finds nothing by itself
			}
			if tt.old != "" {
				d.breakAndMend(tt.file, texts[tt.file], strings.Replace(texts[tt.file], tt.old, tt.broken, 1), tt.errs)
			}
			if tt.renamed == nil {
				return
			}
			edits, err := d.servers.Rename(t.Context(), d.file(tt.file, texts[tt.file]), tt.rename, "New")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				name := filepath.Base(e.Path)
				if texts[name], err = e.Apply(texts[name]); err != nil {
					t.Fatal(err)
				}
			}
			for name, want := range tt.renamed {
				if !strings.Contains(texts[name], want) {
					t.Errorf("%s holds %q", name, texts[name])
				}
			}
		})
	}
}

func onPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// breakAndMend sees the errors of a change and sees them go.
func (d *desk) breakAndMend(name, good, bad string, errs map[string]string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()
	begin := time.Now()
	found := d.change(name, good, bad).New
	for len(found) == 0 { // it is slow here
		c := d.servers.clients()[0]
		c.mu.Lock()
		news := c.news
		c.mu.Unlock()
		if found = d.servers.News().New; len(found) > 0 {
			break
		}
		select {
		case <-news:
		case <-ctx.Done():
			d.t.Fatal("no error was found")
		}
	}
	d.t.Logf("found after %v", time.Since(begin).Round(time.Millisecond))
	for file, want := range errs {
		told, err := json.Marshal(found[filepath.Join(d.dir, file)])
		if err != nil || !strings.Contains(string(told), want) {
			d.t.Errorf("%s: no %q in %s", file, want, told)
		}
	}
	begin = time.Now()
	d.change(name, bad, good)
	d.t.Logf("mended after %v", time.Since(begin).Round(time.Millisecond))
	for {
		c := d.servers.clients()[0]
		c.mu.Lock()
		news := c.news
		c.mu.Unlock()
		if n, _ := c.count(d.dir); n == 0 {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			d.t.Fatal("the errors are still there")
		}
	}
}

// realDesk returns a desk at which the servers serve that .ci/languages has installed.
func realDesk(t *testing.T, path string) *desk {
	t.Helper()
	d := newDesk(t, "", func(o *Options) {
		o.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
		o.Specs = BuiltIn()
	})
	if modules := os.Getenv("LATHE_LANGUAGE_MODULES"); modules != "" {
		if err := os.Symlink(modules, filepath.Join(d.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	return d
}
