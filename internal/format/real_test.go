package format

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRealFormatters formats with real programs where LATHE_LANGUAGES names the
// directories that have them. See .ci/languages.
func TestRealFormatters(t *testing.T) {
	path := os.Getenv("LATHE_LANGUAGES")
	if path == "" {
		t.Skip("LATHE_LANGUAGES names no directories with formatters")
	}
	tests := []struct{ name, marker, manifest, file, text, want string }{
		{"gofmt", "go.mod", "module x\n", "a.go", "package  x\nvar  a=1\n", "package x\n\nvar a = 1\n"},
		{"prettier", "package.json", `{"devDependencies":{"prettier":"3"}}`, "a.ts", "const  a={b:1}", "const a = { b: 1 };\n"},
		{"clang-format", ".clang-format", "BasedOnStyle: LLVM\n", "a.c", "int  a( void ){return 1;}\n", "int a(void) { return 1; }\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, BuiltIn(), func(o *Options) {
				o.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
			})
			p.put(tt.marker, tt.manifest)
			file := p.put(tt.file, tt.text)
			if prog, _ := p.f.opts.lookup(file, tt.name); prog == "" {
				t.Skipf("%s is not there", tt.name)
			}
			p.f.Format(t.Context(), []string{file})
			if got := p.get(filepath.Base(tt.file)); got != tt.want || p.told != nil {
				t.Errorf("%q, told %q", got, p.told)
			}
		})
	}
}
