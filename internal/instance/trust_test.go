package instance

import (
	"strings"
	"testing"

	"lathe/internal/config"
	"lathe/internal/jsonc"
	"lathe/internal/workspace"
)

// TestNoticeNamesSettings holds that the first few settings left out are named,
// with the files that hold them.
func TestNoticeNamesSettings(t *testing.T) {
	at := jsonc.Pos{File: "/repo/lathe.json"}
	left := []config.LeftOut{
		{Path: "permission.edit", Pos: at}, {Path: "provider", Pos: at}, {Path: "mcp", Pos: at}, {Path: "plugin", Pos: at}, {Path: "model", Pos: jsonc.Pos{File: "/repo/.lathe/lathe.json"}},
	}
	git := workspace.Root{Dir: "/repo", TopLevel: "/repo", Worktree: "/repo", VCS: "git"}
	for n, want := range map[int]string{
		1: "this repository is not trusted, so 1 setting of its configuration takes no effect (permission.edit in lathe.json);",
		2: "this repository is not trusted, so 2 settings of its configuration take no effect (permission.edit, provider in lathe.json);",
		5: "this repository is not trusted, so 5 settings of its configuration take no effect (permission.edit, provider, mcp, and 2 more in lathe.json, .lathe/lathe.json);",
	} {
		if got := (Trust{}).notice(git, left[:n]); !strings.HasPrefix(got, want) {
			t.Errorf("%d left out: %q, want %q", n, got, want)
		}
	}
	none := workspace.Root{Dir: "/repo", TopLevel: "/", Worktree: "/"}
	if got, want := (Trust{}).notice(none, left[:1]), "this directory is not trusted, so 1 setting of its configuration takes no effect (permission.edit in lathe.json);"; !strings.HasPrefix(got, want) {
		t.Errorf("outside git: %q, want %q", got, want)
	}
}
