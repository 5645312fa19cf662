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

// floors are the packages of the house, the lowest floor first; docs/architecture.md
// draws them. A package imports only what is on a lower floor, and neighbours only by
// a named edge. Names are below lathe/internal where they do not begin with lathe.
var floors = [...]string{
	0: `lathe lathe/web order store/migration`,
	1: `api auth bus catalog diff filelock highlight judge jsonc line llm markup mdns netguard people printable redact rope sandbox sandbox/kerneltest say screentest search shell sse store store/codec
		store/local store/move store/postgres store/postgres/pgtest store/sqlite store/storetest store/words terminal tokens tool typo workspace formula mermaid`,
	2: `config format forward job jsonfile keyring ledger metrics lsp lsp/lsptest oidc permission prompt reading say/saytest snapshot telemetry trust worktree
		surroundings work opencode/wire sandbox/overlay sandbox/proxy sandbox/registry llm/adapter llm/anthropic llm/google llm/guide llm/llmtest llm/openai llm/openaichat llm/script`,
	3: `approval builtin clone compact learn mcp mcp/mcptest mcpjson plugin provider readable`,
	4: `turn plugin/claude plugin/jsonhook plugin/hookcmd plugin/host`,
	5: `commit instance project session share stats undo window`,
	6: `doctor retention enginetest importer opencode/disk transcript transcript/page tui tui/...`,
	7: `acp client mcpserve server server/events server/gate server/servertest`,
	8: `cli cli/...`,
	9: `lathe/cmd/lathe lathe/cmd/dist`,
}

// edge lets a package import a neighbour on its own floor. A name that ends in /...
// stands for all below it, too.
type edge struct{ from, to, why string }

var edges = []edge{
	{"auth", "filelock", "two processes may store a credential"},
	{"auth", "jsonc", "credentials may be written with comments"},
	{"bus", "rope", "a queued event keeps a long text that still grows"},
	{"judge", "tool", "it says what to ask for as a tool.Request"},
	{"trust", "jsonfile", "decisions are such a document"},
	{"store/...", "store", "what implements or tests the contract"},
	{"store/local", "store/codec", "the files of this host hold what the codec makes"},
	{"store/sqlite", "store/codec", "the tables hold what the codec makes"},
	{"store/postgres", "store/codec", "the tables hold what the codec makes"},
	{"store/sqlite", "store/words", "what a search finds is the same in each database"},
	{"store/postgres", "store/words", "what a search finds is the same in each database"},
	{"store/sqlite", "store/local", "blobs and open texts lie beside the database"},
	{"tool", "store/local", "the whole of what a tool printed is kept there"},
	{"llm/...", "llm/adapter", "what the protocols share"},
	{"llm/llmtest", "llm/script", "the test server plays the same scripts"},
	{"shell", "sandbox", "what starts processes confines them"},
	{"reading", "permission", "which files may be shown is a matter of rules"},
	{"project", "instance", "a project is found by its directory's instance"},
	{"forward", "job", "it finds which server has a job, and follows its terminal"},
	{"share", "instance", "the share service and the models of a directory"},
	{"undo", "instance", "the snapshot store of a directory"},
	{"window", "instance", "what is frozen comes from a directory's texts"},
	{"project", "commit", "it stores and tells"},
	{"undo", "commit", "it stores and tells"},
	{"session", "commit", "it stores and tells"},
	{"session", "instance", "a session runs in a directory"},
	{"session", "project", "it composes the services"},
	{"session", "share", "it composes the services"},
	{"session", "undo", "each session has its changes"},
	{"session", "window", "each session has its window"},
	{"transcript", "transcript/page", "the page is one of the forms of a transcript"},
	{"importer", "opencode/disk", "it reads what OpenCode stored"},
	{"builtin", "learn", "an agent suggests the same lines for the instructions"},
	{"plugin/hookcmd", "plugin/jsonhook", "a program gets a hook as JSON"},
	{"plugin/claude", "plugin/hookcmd", "its hooks are programs"},
	{"plugin/host", "plugin/jsonhook", "a plugin gets a hook as JSON"},
	{"tui/...", "tui/...", "the rooms of the screen; what they may import of each other is theirs"},
	{"mcpserve", "client", "another agent is a client like any other"},
	{"acp", "client", "an editor is a client like any other"},
	{"server/servertest", "server", "it wires one for tests"},
	{"server", "server/gate", "who may call is decided before anything else"},
	{"server", "server/events", "the streams of events are routes, too"},
	{"cli", "cli/...", "it puts the commands together"},
	{"cli/complete", "cli/console", "what every command stands on"},
	{"cli/topic", "cli/console", "what every command stands on"},
	{"cli/complete", "cli/app", "where jobs are kept, which need no engine"},
	{"cli/complete", "cli/face", "models, agents and sessions are known to an engine"},
	{"cli/app", "cli/console", "what every command stands on"},
	{"cli/face", "cli/app", "an engine of this process"},
	{"cli/face", "cli/console", "what every command stands on"},
	{"cli/show", "cli/console", "it prints on the streams of a command"},
	{"cli/run", "cli/show", "it prints what the run does"},
	{"cli/run", "cli/screen", "it prints in the theme that was chosen on the screen"},
	{"cli/sessions", "cli/show", "a session is shown as a run is"},
	{"cli/sessions", "cli/screen", "in the theme that was chosen on the screen"},
	{"cli/sessions", "cli/app", "where jobs are kept, which need no engine"},
	{"cli/manage", "cli/app", "where the plugins' cache is, which needs no engine"},
	{"cli/screen", "cli/app", "where the screen keeps its own, which needs no engine"},
	{"cli/serve", "cli/app", "it serves the engine of this process"},
	{"cli/data", "cli/app", "its commands are about the database itself"},
	{"cli/data", "cli/face", "a person stores keys through a server, too"},
	{"cli/data", "cli/console", "what every command stands on"},
	{"cli/run", "cli/console", "what every command stands on"},
	{"cli/run", "cli/face", "it works with an engine"},
	{"cli/screen", "cli/console", "what every command stands on"},
	{"cli/screen", "cli/face", "it works with an engine"},
	{"cli/serve", "cli/console", "what every command stands on"},
	{"cli/serve", "cli/face", "an editor may work in a server"},
	{"cli/sessions", "cli/console", "what every command stands on"},
	{"cli/sessions", "cli/face", "it works with an engine"},
	{"cli/manage", "cli/console", "what every command stands on"},
	{"cli/manage", "cli/face", "it works with an engine"},
	{"server/events", "server/gate", "how long a client may take to read is a matter of who may call"},
}

// below reports whether a pattern of an edge or a floor names a package.
func below(pattern, path string) bool {
	path = strings.TrimPrefix(path, "lathe/internal/")
	if top, all := strings.CutSuffix(pattern, "/..."); all {
		return path == top || strings.HasPrefix(path, top+"/")
	}
	return path == pattern
}

// floorOf returns the floor of a package, or -1.
func floorOf(path string) int {
	for n, names := range floors {
		if slices.ContainsFunc(strings.Fields(names), func(name string) bool { return below(name, path) }) {
			return n
		}
	}
	return -1
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
	used := make([]bool, len(edges))
	for _, p := range packages(t) {
		if exempt(p.ImportPath) {
			continue
		}
		own := floorOf(p.ImportPath)
		if own < 0 {
			t.Errorf("%s has no floor; give it one", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			switch f := floorOf(imp); {
			case f == own:
				i := slices.IndexFunc(edges, func(e edge) bool { return below(e.from, p.ImportPath) && below(e.to, imp) })
				if i < 0 {
					t.Errorf("%s imports its neighbour %s; name the edge and say why, or put what they share below both", p.ImportPath, imp)
					continue
				}
				used[i] = true
			case f > own:
				t.Errorf("%s imports %s, which is above it", p.ImportPath, imp)
			}
		}
	}
	for i, e := range edges {
		if !used[i] {
			t.Errorf("nothing needs the edge from %s to %s any more", e.from, e.to)
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
