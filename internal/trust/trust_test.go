package trust

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/workspace"
)

// tree writes files below a new directory. A text "-> x" makes a link to x.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := workspace.Resolve(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
	return dir
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func scanAll(t testing.TB, dir string) Files {
	t.Helper()
	files, err := Scan(dir, []string{filepath.Join(dir, "opencode.json")}, []string{filepath.Join(dir, ".opencode"), filepath.Join(dir, ".lathe")})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func paths(f Files) map[string]bool {
	out := map[string]bool{}
	for p := range f {
		out[p] = true
	}
	return out
}

func TestScan(t *testing.T) {
	dir := tree(t, map[string]string{
		"opencode.json": `{"mcp": {"a": {"type": "local", "command": ["node", "./srv.js", "/etc/passwd", "../out"]}, "b": {"command": ["sh -c 'bin/tool --x'"]}},
			"agent": {"x": {"prompt": "{file:./docs/p.txt}"}}, "instructions": ["notes.md"], "description": "notes.md"}`,
		"srv.js": "1", "bin/tool": "2", "docs/p.txt": "3", "notes.md": "4", "unnamed.js": "5",
		".opencode/plugin/p.ts":     "6",
		".opencode/plans/plan.md":   "7",
		".opencode/opencode.json":   `{"formatter": {"f": {"command": ["fmt.sh"]}}}`,
		".opencode/fmt.sh":          "8",
		".opencode/command/c/d.md":  "9",
		".opencode/loop":            "-> .",
		".opencode/gone":            "-> /nowhere",
		".opencode/node_modules/m":  "10",
		"elsewhere/agent/linked.md": "11",
		".lathe":                    "-> elsewhere",
	})
	want := map[string]bool{
		"opencode.json": true, "srv.js": true, "bin/tool": true, "docs/p.txt": true,
		".opencode/plugin/p.ts": true, ".opencode/opencode.json": true, ".opencode/fmt.sh": true,
		".opencode/command/c/d.md": true, ".opencode/node_modules/m": true, ".lathe/agent/linked.md": true,
	}
	if diff := cmp.Diff(want, paths(scanAll(t, dir))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestScanOfCommands holds that trust binds what the shell lines and the front
// matter of a command name, and not what it says in words.
func TestScanOfCommands(t *testing.T) {
	dir := tree(t, map[string]string{
		"opencode.json":   `{"mcp": {"a": {"command": ["node", "./server", "."]}}}`,
		"server/index.js": "1", "server/other.txt": "2", "package.json": "3",
		".opencode/commands/a/go.md": "---\ndescription: see README.md\nhook: tools/hook.sh\n---\nUse words.txt.\n!`./run.sh $1 | sh build` and !`cat <(bash x/y.sh)`\n!`$(../odd.sh)`",
		".lathe/command/lf.md":       "no front matter !`sub/z.py`",
		"run.sh":                     "4", "build": "5", "x/y.sh": "6", "tools/hook.sh": "7", "README.md": "8", "words.txt": "9", "sub/z.py": "10",
		".opencode/commands/odd.sh": "11",
	})
	want := map[string]bool{
		"opencode.json": true, "server/index.js": true, ".opencode/commands/a/go.md": true, ".lathe/command/lf.md": true, "run.sh": true,
		"build": true, "x/y.sh": true, "tools/hook.sh": true, "sub/z.py": true, ".opencode/commands/odd.sh": true,
	}
	if diff := cmp.Diff(want, paths(scanAll(t, dir))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestScanRefusesWhatCannotBeBound(t *testing.T) {
	dir := tree(t, nil)
	deep := filepath.Join(dir, ".opencode", strings.Repeat("d/", maxDepth+2))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(dir, nil, []string{filepath.Join(dir, ".opencode")}); !errors.Is(err, ErrTooMuch) {
		t.Errorf("deep: %v", err)
	}
	dir = tree(t, map[string]string{"opencode.json": `{"plugin": ["` + strings.Repeat("a ", 1500) + `"]}`})
	if _, err := Scan(dir, []string{filepath.Join(dir, "opencode.json")}, nil); !errors.Is(err, ErrTooMuch) {
		t.Errorf("many names: %v", err)
	}
	dir = tree(t, map[string]string{".opencode/skills/root": "-> /"})
	if _, err := Scan(dir, nil, []string{filepath.Join(dir, ".opencode")}); !errors.Is(err, ErrTooMuch) || !strings.Contains(err.Error(), "holds the repository") {
		t.Errorf("a link to the root: %v", err)
	}
	dir = tree(t, map[string]string{".opencode/big": ""})
	if err := os.Truncate(filepath.Join(dir, ".opencode/big"), maxBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(dir, nil, []string{filepath.Join(dir, ".opencode")}); !errors.Is(err, ErrTooMuch) {
		t.Errorf("large: %v", err)
	}
}

// TestCheck changes a trusted tree in every way and expects to be told how.
func TestCheck(t *testing.T) {
	rows := []struct {
		name   string
		change func(t *testing.T, dir string)
		want   []Change
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"source code", func(t *testing.T, dir string) { write(t, dir, map[string]string{"main.go": "x"}) }, nil},
		{"a changed file", func(t *testing.T, dir string) { write(t, dir, map[string]string{"opencode.json": `{"x":1}`}) }, []Change{{"opencode.json", "changed"}}},
		{"a new file", func(t *testing.T, dir string) { write(t, dir, map[string]string{".lathe/plugin/x.ts": "x"}) }, []Change{{".lathe/plugin/x.ts", "new"}}},
		{"a file that goes", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, ".opencode/agent/a.md")); err != nil {
				t.Fatal(err)
			}
		}, []Change{{".opencode/agent/a.md", "gone"}}},
		{"a program that the configuration names", func(t *testing.T, dir string) { write(t, dir, map[string]string{"srv.js": "evil"}) }, []Change{{"srv.js", "changed"}}},
		{"the target of a link", func(t *testing.T, dir string) { write(t, dir, map[string]string{"shared.md": "evil"}) }, []Change{{".opencode/agent/link.md", "changed"}}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			dir := tree(t, map[string]string{
				"opencode.json": `{"mcp": {"a": {"command": ["./srv.js"]}}}`, "srv.js": "good", "main.go": "", "shared.md": "good",
				".opencode/agent/a.md": "a", ".opencode/agent/link.md": "-> ../../shared.md",
			})
			d := Decision{Dir: dir, Project: "p", Files: scanAll(t, dir)}
			row.change(t, dir)
			if diff := cmp.Diff(row.want, d.Check("p", scanAll(t, dir))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
	d := Decision{Dir: t.TempDir(), Project: "p", Files: Files{}}
	if got := d.Check("q", nil); len(got) != 1 || got[0].String() != "the directory holds another project" {
		t.Errorf("another project: %v", got)
	}
}

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "trust.json")
	s := Open(path)
	if list, err := s.List(); err != nil || list != nil {
		t.Fatalf("a store without a file: %v, %v", list, err)
	}
	dir := tree(t, map[string]string{"a": "", "b": ""})
	at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	first := Decision{Dir: dir, Project: "p", Files: Files{"a": "1", "sub/gone": "2"}, Time: at}
	for _, d := range []Decision{first, {Dir: dir, Project: "p", Files: Files{"b": "3"}, Time: at}} {
		if err := s.Add(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	want := Decision{Dir: dir, Project: "p", Files: Files{"a": "1", "b": "3"}, Time: at}
	got, found, err := Open(path).Get(dir)
	if err != nil || !found {
		t.Fatalf("not found: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if found, err := s.Remove(t.Context(), dir); err != nil || !found {
		t.Errorf("remove: %v, %v", found, err)
	}
	if found, err := s.Remove(t.Context(), dir); err != nil || found {
		t.Errorf("remove again: %v, %v", found, err)
	}
}

func TestStoreRefusesForeignFiles(t *testing.T) {
	for _, text := range []string{"{", "[]", `{"version": 2}`, `{"version":1,"trusted":[{"files":3}]}`} {
		path := filepath.Join(t.TempDir(), "trust.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Open(path).Get("/x"); err == nil {
			t.Errorf("%s is accepted", text)
		}
		if err := Open(path).Add(t.Context(), Decision{Dir: "/x"}); err == nil {
			t.Errorf("%s is replaced", text)
		}
	}
}

// TestStoreKeepsWhatOthersAdd adds from several stores at once, as processes do.
func TestStoreKeepsWhatOthersAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust.json")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := Open(path).Add(context.Background(), Decision{Dir: string(rune('a' + i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if list, err := Open(path).List(); err != nil || len(list) != 8 {
		t.Errorf("%d decisions, %v", len(list), err)
	}
}

// FuzzScan holds that whatever a configuration says, only files of the checkout
// are bound, and that a scan is the same every time.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a": ["x", "../y", "/etc/passwd"]}`, `{"mcp": {"a": {"command": ["sh -c 'x'"]}}}`, `{`, `["{file:x}"]`, `{"a":"file://x"}`} {
		f.Add(seed)
	}
	dir := tree(f, map[string]string{"x": "x", "sub/z": "z"})
	outside := filepath.Join(filepath.Dir(dir), "y")
	if err := os.WriteFile(outside, []byte("y"), 0o600); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, "opencode.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files := []string{filepath.Join(dir, "opencode.json")}
		first, err := Scan(dir, files, nil)
		if err != nil {
			return
		}
		for path := range first {
			if path != "x" && path != "sub/z" && path != "opencode.json" {
				t.Errorf("%q is bound", path)
			}
		}
		again, err := Scan(dir, files, nil)
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Errorf("a second scan differs: %v\n%s", err, diff)
		}
	})
}
