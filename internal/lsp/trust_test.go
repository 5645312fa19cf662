package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A repository that is not trusted starts neither what runs its code nor what it brings.
func TestUntrustedServers(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) {
		o.Trusted = false
		bin := filepath.Join(o.Dir, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"gopls", "rust-analyzer"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o.Env = []string{"PATH=" + bin}
	})
	for _, name := range []string{"a.rs", "a.go"} {
		d.expect(name, d.change(name, "fine", "bad"))
	}
	told := strings.Join(d.notices(), "\n")
	for _, want := range []string{
		"The language server rust is not started: it runs code of the repository, which is not trusted (lathe trust).",
		"The language server gopls is not started: its program belongs to the repository, which is not trusted (lathe trust).",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %q", want, told)
		}
	}
	if st := d.servers.Status(); len(st) != 0 {
		t.Errorf("started %+v", st)
	}
}

// A missing server is told once, to the person.
func TestMissingServerIsTold(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) { o.Env, o.Home = []string{"PATH=/none"}, "" })
	d.change("a.go", "fine", "bad")
	d.change("b.go", "fine", "bad")
	want := "There is no language server for this kind of file yet: get it with lathe lsp install gopls."
	if told := d.notices(); len(told) != 1 || told[0] != want {
		t.Errorf("told %q", told)
	}
}

// So is a package that a server needs and the project has not installed; a linter that the
// project does not use is not missed.
func TestMissingPackageIsTold(t *testing.T) {
	d := newDesk(t, "push", func(o *Options) {
		bin := t.TempDir()
		for _, name := range []string{"typescript-language-server", "vscode-eslint-language-server"} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		o.Env, o.Home, o.Specs = []string{"PATH=" + bin}, "", BuiltIn()
	})
	d.change("a.ts", "fine", "bad")
	d.change("b.ts", "fine", "bad")
	want := "The language server typescript is not started: it needs the package typescript in node_modules; run npm install, or lathe lsp install typescript."
	if told := d.notices(); len(told) != 1 || told[0] != want {
		t.Errorf("told %q", told)
	}
}

func TestRoots(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"go.work", "m/go.mod", "m/sub/x.go", "web/package-lock.json", "web/deno/deno.json", "rs/Cargo.toml", "rs/crate/Cargo.toml"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := ""
		if name == "rs/Cargo.toml" {
			text = "[workspace]\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ server, file, dir, want string }{
		{"gopls", "m/sub/x.go", "", ""}, // go.work counts before go.mod
		{"gopls", "m/sub/x.go", "m", "m"},
		{"typescript", "web/src/a.ts", "", "web"},
		{"typescript", "web/deno/a.ts", "", "none"},
		{"deno", "web/deno/a.ts", "", "web/deno"},
		{"deno", "web/a.ts", "", "none"},
		{"rust", "rs/crate/src/a.rs", "", "rs"},
		{"bash", "x/y.sh", "", ""},
	}
	for _, tt := range tests {
		p := Place{Dir: filepath.Join(top, tt.dir), Worktree: top}
		for _, s := range BuiltIn() {
			if s.ID != tt.server {
				continue
			}
			want := filepath.Join(top, tt.want)
			if tt.want == "none" {
				want = ""
			}
			if got := p.root(&s, filepath.Join(top, tt.file)); got != want {
				t.Errorf("%s of %s: %q, want %q", tt.server, tt.file, got, want)
			}
		}
	}
}
