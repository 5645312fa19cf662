package builtin

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/workspace"
)

// What would steer a program from the top of the workspace is known before it is there.
func TestForbidden(t *testing.T) {
	top := t.TempDir()
	forbidden := Forbidden(workspace.Root{Dir: filepath.Join(top, "sub")}, "/home/none", []string{filepath.Join(top, "sub"), top})
	type answer struct{ File, Whole bool }
	want := map[string]answer{
		".envrc":                    {true, true},
		"sub/.envrc":                {true, true},
		"other/.envrc":              {},
		".ENVRC":                    {true, true},
		"x.code-workspace":          {true, true},
		".vscode":                   {false, true},
		".vscode/tasks.json":        {true, true},
		".vscode/extensions.json":   {},
		".github":                   {false, true},
		".github/workflows":         {false, true},
		".github/workflows/ci.yml":  {true, true},
		".github/pull_request.md":   {},
		".lathe":                    {false, true},
		".lathe/agent/x.md":         {true, true},
		".lathe/plans/x.md":         {},
		"opencode.json":             {true, true},
		".husky/pre-commit":         {true, true},
		"src/main.go":               {},
		"node_modules/.bin/x":       {},
		".config/mise/config.toml":  {true, true},
		".config/other/config.toml": {},
	}
	got := map[string]answer{}
	for name := range want {
		path := filepath.Join(top, name)
		got[name] = answer{forbidden(path, false), forbidden(path, true)}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if forbidden(filepath.Dir(top), true) || forbidden(top, true) {
		t.Error("what lies around the workspace is not forbidden")
	}
}
