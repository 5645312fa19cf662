// Package archtest holds the rules about the source tree: which package may
// import which, and that every package says what it is.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// floor gives every package its floor; a package imports only lower ones.
// Floors are multiplied by ten, so that a package can stand between two.
var floor = map[string]int{
	"lathe": 0,

	"lathe/internal/api":       5,
	"lathe/internal/sse":       5,
	"lathe/internal/typo":      5,
	"lathe/internal/jsonc":     5,
	"lathe/internal/printable": 5,
	"lathe/internal/netguard":  5,

	"lathe/internal/llm":             10,
	"lathe/internal/tool":            10,
	"lathe/internal/bus":             10,
	"lathe/internal/rope":            5,
	"lathe/internal/store":           5,
	"lathe/internal/store/codec":     6,
	"lathe/internal/store/local":     8,
	"lathe/internal/store/storetest": 8,
	"lathe/internal/store/sqlite":    10,
	"lathe/internal/commit":          15,
	"lathe/internal/workspace":       10,
	"lathe/internal/auth":            10,
	"lathe/internal/catalog":         10,
	"lathe/internal/judge":           15, // it says what to ask for as a tool.Request
	"lathe/internal/shell":           10,
	"lathe/internal/search":          10,
	"lathe/internal/diff":            10,
	"lathe/internal/tokens":          10,
	"lathe/internal/terminal":        10,
	"lathe/internal/mdns":            10,
	"lathe/internal/telemetry":       20,

	"lathe/internal/llm/adapter":    12,
	"lathe/internal/llm/anthropic":  20,
	"lathe/internal/llm/openai":     20,
	"lathe/internal/llm/openaichat": 20,
	"lathe/internal/llm/google":     20,
	"lathe/internal/llm/guide":      20,
	"lathe/internal/llm/script":     15,
	"lathe/internal/llm/llmtest":    20,
	"lathe/internal/prompt":         20,
	"lathe/internal/permission":     20,
	"lathe/internal/config":         20,
	"lathe/internal/ledger":         20,
	"lathe/internal/snapshot":       20,
	"lathe/internal/trust":          20,
	"lathe/internal/worktree":       20,
	"lathe/internal/job":            20,

	"lathe/internal/reading": 25,

	"lathe/internal/provider": 30,
	"lathe/internal/builtin":  30,
	"lathe/internal/compact":  30,
	"lathe/internal/plugin":   30,

	"lathe/internal/approval": 30,
	"lathe/internal/readable": 30,

	"lathe/internal/turn": 40,

	"lathe/internal/instance": 45,
	"lathe/internal/share":    46,
	"lathe/internal/window":   46,
	"lathe/internal/project":  46,
	"lathe/internal/undo":     46,
	"lathe/internal/session":  50,

	"lathe/internal/opencode/wire": 60,
	"lathe/internal/opencode/disk": 65,
	"lathe/internal/transcript":    60,

	"lathe/internal/tui/styled":         60,
	"lathe/internal/tui/keys":           60,
	"lathe/internal/tui/clip":           60,
	"lathe/internal/tui/linear":         67,
	"lathe/internal/tui/picture":        62,
	"lathe/internal/tui/theme":          61,
	"lathe/internal/tui/edit":           62,
	"lathe/internal/tui/markdown":       62,
	"lathe/internal/tui/memory":         63,
	"lathe/internal/tui/paint":          62,
	"lathe/internal/tui/paint/emulator": 61,
	"lathe/internal/tui/engine":         63,
	"lathe/internal/tui/look":           63,
	"lathe/internal/tui/change":         64,
	"lathe/internal/tui/dialog":         64,
	"lathe/internal/tui/prefs":          65,
	"lathe/internal/tui/choice":         66,
	"lathe/internal/tui/setup":          67,
	"lathe/internal/tui/chat":           65,
	"lathe/internal/tui/ask":            65,
	"lathe/internal/tui":                69,

	"lathe/internal/server/gate": 65,
	"lathe/internal/server":      70,
	"lathe/internal/client":      70,

	"lathe/internal/cli": 80,

	"lathe/cmd/lathe": 90,
	"lathe/cmd/dist":  90,
}

// exempt packages are programs of the source tree, not part of the binary.
func exempt(path string) bool {
	return strings.HasSuffix(path, "/archtest") || strings.HasSuffix(path, "/gen") ||
		strings.HasPrefix(path, "lathe/bench")
}

type pkg struct {
	ImportPath string
	Doc        string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports", "lathe/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list output: %v", err)
		}
		all = append(all, p)
	}
}

func TestImportsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		if exempt(p.ImportPath) {
			continue
		}
		own, ok := floor[p.ImportPath]
		if !ok {
			t.Errorf("%s has no floor; give it one", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if f, ours := floor[imp]; ours && f >= own {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imp)
			}
		}
	}
}

// opens lists who may import a store's implementation: the place that opens it.
// Everything else sees the contract.
var opens = map[string]string{
	"lathe/internal/cli": "opens the database; its db commands are about SQLite's files",
}

func TestStoresAreSeenByTheirContract(t *testing.T) {
	for _, p := range packages(t) {
		if exempt(p.ImportPath) || opens[p.ImportPath] != "" {
			continue
		}
		if slices.Contains(p.Imports, "lathe/internal/store/sqlite") {
			t.Errorf("%s imports a store's implementation; it is to use lathe/internal/store", p.ImportPath)
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" && !exempt(p.ImportPath) {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
