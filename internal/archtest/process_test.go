package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// starters are the files that start processes, and why each does it by itself. All
// others ask a Runner of package shell, which marks, supervises and confines.
var starters = map[string]string{
	"shell/born_linux.go":                 "the one door",
	"shell/born_other.go":                 "the one door",
	"shell/handover.go":                   "lathe's own keeper",
	"shell/supervise.go":                  "lathe's own supervisor",
	"shell/run_windows.go":                "the system's program that ends others",
	"sandbox/box_darwin.go":               "the one door, confined",
	"sandbox/box_linux.go":                "the one door, confined",
	"terminal/terminal.go":                "the person's own terminals",
	"tui/editor/editor.go":                "the person's own editor",
	"tui/clip/clip.go":                    "the person's own clipboard",
	"cli/manage/auth.go":                  "a sign-in that the person asked for",
	"cli/serve/web.go":                    "the person's own browser",
	"doctor/doctor.go":                    "git's version",
	"snapshot/git.go":                     "git without hooks and configuration of the repository",
	"workspace/project.go":                "git without hooks and configuration of the repository",
	"worktree/git.go":                     "git without hooks and configuration of the repository",
	"lsp/install.go":                      "an installation that the person asked for",
	"shell/resident_other.go":             "the system's list of processes",
	"lsp/lsptest/lsptest.go":              "a child of the tests' own server",
	"mcp/mcptest/mcptest.go":              "a child of the tests' own server",
	"enginetest/repository.go":            "git in a directory of a test",
	"store/postgres/pgtest/pgtest.go":     "the database of tests",
	"sandbox/kerneltest/without_linux.go": "it refuses these calls, for tests, and makes none",
}

// TestOneDoor holds that nothing starts a process for a tool by itself.
func TestOneDoor(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		ast.Inspect(file, func(n ast.Node) bool {
			if what := starts(n); what != "" {
				used[name] = true
				if starters[name] == "" {
					t.Errorf("%s starts a process (%s): use shell.Runner, or say here why not", name, what)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range starters {
		if !used[name] {
			t.Errorf("%s starts no process any more", name)
		}
	}
}

// starts names the function that a node uses to start a process; "" for none.
func starts(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch name := pkg.Name + "." + sel.Sel.Name; name {
	case "exec.Command", "exec.CommandContext", "os.StartProcess", "syscall.ForkExec", "syscall.StartProcess", "syscall.Exec",
		"unix.Exec", "unix.SYS_EXECVE", "unix.SYS_CLONE", "unix.SYS_CLONE3", "unix.SYS_EXECVEAT":
		return name
	}
	return ""
}
