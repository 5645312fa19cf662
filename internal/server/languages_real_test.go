package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/lsp"
)

// realTurn is work in a project that a real language server serves: a file is broken and
// mended, and a name in it is changed.
type realTurn struct {
	server       string
	needs        string // another program, without which the server finds nothing
	files        map[string]string
	file         string
	good, broken string
	said         string // of what was broken
	rename       string // line:character; empty: the server cannot
	renamed      map[string]string
}

var realTurns = []realTurn{
	{
		server: "gopls", files: map[string]string{"go.mod": "module x\n\ngo 1.25\n", "a.go": "package x\n\nfunc Old() int { return 1 }\n", "b.go": "package x\n\nvar B int = Old()\n"},
		file: "a.go", good: "return 1", broken: "return nothing", said: "undefined: nothing",
		rename: "3:6", renamed: map[string]string{"a.go": "package x\n\nfunc New() int { return 1 }\n", "b.go": "package x\n\nvar B int = New()\n"},
	},
	{
		server: "typescript", files: map[string]string{"package-lock.json": "{}", "tsconfig.json": `{"compilerOptions":{"strict":true}}`, "a.ts": "export function old(): number { return 1 }\n", "b.ts": "import { old } from './a';\nexport const b: number = old();\n"},
		file: "a.ts", good: "return 1", broken: "return ''", said: "Type 'string' is not assignable to type 'number'.",
		rename: "1:17", renamed: map[string]string{"a.ts": "export function New(): number { return 1 }\n", "b.ts": "import { New } from './a';\nexport const b: number = New();\n"},
	},
	{
		server: "pyright", files: map[string]string{"pyrightconfig.json": "{}", "a.py": "def old() -> int:\n    return 1\n", "b.py": "from a import old\nb: int = old()\n"},
		file: "a.py", good: "return 1", broken: "return ''", said: "is not assignable to",
		rename: "1:5", renamed: map[string]string{"a.py": "def New() -> int:\n    return 1\n", "b.py": "from a import New\nb: int = New()\n"},
	},
	{
		server: "bash", needs: "shellcheck", files: map[string]string{"a.sh": "#!/bin/bash\nold() { echo 1; }\nold\n"},
		file: "a.sh", good: "old() { echo 1; }", broken: "old() { if true; then echo 1; }", said: "Couldn't parse this if expression",
		rename: "2:1", renamed: map[string]string{"a.sh": "#!/bin/bash\nNew() { echo 1; }\nNew\n"},
	},
	{
		server: "yaml-ls", files: map[string]string{"a.yaml": "a: 1\nb: 2\n"},
		file: "a.yaml", good: "b: 2", broken: "a: 3", said: "Map keys must be unique",
	},
	{
		server: "clangd", files: map[string]string{
			"compile_commands.json": `[{"directory":"{dir}","command":"cc -c a.c","file":"a.c"},{"directory":"{dir}","command":"cc -c b.c","file":"b.c"}]`,
			"a.h":                   "int old(void);\n", "a.c": "#include \"a.h\"\nint old(void) { return 1; }\n", "b.c": "#include \"a.h\"\nint b(void) { return old(); }\n",
		},
		file: "a.c", good: "return 1;", broken: "return nothing;", said: "undeclared identifier 'nothing'",
		rename: "2:5", renamed: map[string]string{"a.h": "int New(void);\n", "a.c": "#include \"a.h\"\nint New(void) { return 1; }\n", "b.c": "#include \"a.h\"\nint b(void) { return New(); }\n"},
	},
}

// TestRealTurns lets a model work with real language servers, where LATHE_LANGUAGES names
// the directories that have them: it breaks a file and is told, mends it and is told,
// renames in all files, and all of it is undone. See .ci/languages.
func TestRealTurns(t *testing.T) {
	path := os.Getenv("LATHE_LANGUAGES")
	if path == "" {
		t.Skip("LATHE_LANGUAGES names no directories with language servers")
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, tt := range realTurns {
		t.Run(tt.server, func(t *testing.T) { tt.play(t) })
	}
}

func (tt realTurn) play(t *testing.T) {
	r := newRig(t)
	for name, text := range tt.files {
		write(t, filepath.Join(r.dir, name), strings.ReplaceAll(text, "{dir}", r.dir))
	}
	write(t, filepath.Join(r.dir, "lathe.json"), `{"permission":{"*":"allow","external_directory":"deny"},"lsp":true,"languages":{"tool":true,"wait":60000}}`)
	if modules := os.Getenv("LATHE_LANGUAGE_MODULES"); modules != "" {
		if err := os.Symlink(modules, filepath.Join(r.dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	place := lsp.Place{Dir: r.dir, Worktree: r.dir, Env: []string{"PATH=" + os.Getenv("PATH")}, Trusted: true}
	for _, s := range lsp.BuiltIn() {
		if s.ID == tt.server && place.Where(&s) == "" {
			t.Skipf("%s is not there", tt.server)
		}
	}
	if tt.needs != "" {
		if _, err := exec.LookPath(tt.needs); err != nil {
			t.Skip(err)
		}
	}
	s := r.session()
	before := r.holds(slices.Collect(maps.Keys(tt.files)))
	r.ok("POST", s+"/message", promptBody(r.script("work.txt", tt.script(filepath.Join(r.dir, tt.file))), "go"))
	outputs := r.outputs(s)
	if len(outputs) < 3 || strings.HasPrefix(outputs[0], "No results") {
		t.Fatalf("said %q", outputs)
	}
	if broken := outputs[1]; !strings.Contains(broken, "LSP errors detected") || !strings.Contains(broken, tt.said) {
		t.Errorf("broken, and told %q", broken)
	}
	if mended := outputs[2]; !strings.Contains(mended, "LSP errors that this change fixed") || !strings.Contains(mended, tt.said) || strings.Contains(mended, "detected") {
		t.Errorf("mended, and told %q", mended)
	}
	want := maps.Clone(before)
	maps.Copy(want, tt.renamed)
	if diff := cmp.Diff(want, r.holds(slices.Collect(maps.Keys(tt.files)))); diff != "" {
		t.Errorf("renamed (-want +got):\n%s\ntold %q", diff, outputs[3:])
	}
	r.ok("POST", s+"/revert", fmt.Sprintf(`{"messageID":%q}`, r.asked(s)))
	if diff := cmp.Diff(before, r.holds(slices.Collect(maps.Keys(tt.files)))); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
}

// script is what the model does. Its first question waits until the server runs.
func (tt realTurn) script(path string) string {
	steps := []string{
		fmt.Sprintf(`tool lsp {"operation":"documentSymbol","filePath":%q}`, path),
		fmt.Sprintf(`tool edit {"filePath":%q,"oldString":%q,"newString":%q}`, path, tt.good, tt.broken),
		fmt.Sprintf(`tool edit {"filePath":%q,"oldString":%q,"newString":%q}`, path, tt.broken, tt.good),
	}
	if line, character, ok := strings.Cut(tt.rename, ":"); ok {
		steps = append(steps, fmt.Sprintf(`tool lsp {"operation":"rename","filePath":%q,"line":%s,"character":%s,"newName":"New"}`, path, line, character))
	}
	return strings.Join(append(steps, "text done"), "\n---\n") + "\n"
}

// holds are the texts of files of the repository.
func (r *rig) holds(names []string) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			r.t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

type toldMessage struct {
	Info struct {
		ID   string
		Role string
	}
	Parts []struct {
		Type  string
		State struct{ Output, Error string }
	}
}

func (r *rig) told(session string) (out []toldMessage) {
	r.t.Helper()
	if err := json.Unmarshal(r.do(http.MethodGet, session+"/message", "").body, &out); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// outputs are what the tools of a session said, one after the other.
func (r *rig) outputs(session string) (out []string) {
	r.t.Helper()
	for _, m := range r.told(session) {
		for _, p := range m.Parts {
			if p.Type == "tool" {
				out = append(out, p.State.Output+p.State.Error)
			}
		}
	}
	return out
}

// asked is the first message of a session.
func (r *rig) asked(session string) string {
	r.t.Helper()
	return r.told(session)[0].Info.ID
}
