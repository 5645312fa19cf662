package format

import (
	"os"
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
		{"gofmt", "", "", "a.go", "package  x\nvar  a=1\n", "package x\n\nvar a = 1\n"}, // every project uses it
		{"prettier", "package.json", `{"devDependencies":{"prettier":"3"}}`, "a.ts", "const  a={b:1}", "const a = { b: 1 };\n"},
		{"clang-format", ".clang-format", "BasedOnStyle: LLVM\n", "a.c", "int  a( void ){return 1;}\n", "int a(void) { return 1; }\n"},
		{"ruff", "ruff.toml", "", "a.py", "x  = {'a':1}\n", "x = {\"a\": 1}\n"},
		{"black", "", "", "a.py", "x  = {'a':1}\n", "x = {\"a\": 1}\n"}, // of the configuration
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			specs := BuiltIn()
			if tt.name == "black" {
				specs = []Spec{Custom("black", []string{"black", "--quiet", "$FILE"}, []string{".py"}, nil)}
			}
			p := newProject(t, specs, func(o *Options) {
				o.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
			})
			file := p.put(tt.file, tt.text)
			if prog, _ := p.f.opts.lookup(file, tt.name); prog == "" {
				t.Skipf("%s is not there", tt.name)
			}
			if tt.marker != "" {
				p.f.Format(t.Context(), []string{file})
				if got := p.get(tt.file); got != tt.text || p.told != nil {
					t.Errorf("a project that does not use it: %q, told %q", got, p.told)
				}
				p.put(tt.marker, tt.manifest)
			}
			p.f.Format(t.Context(), []string{file})
			if got := p.get(tt.file); got != tt.want || p.told != nil {
				t.Errorf("%q, told %q", got, p.told)
			}
		})
	}
}
