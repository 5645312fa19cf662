package config

import "testing"

func TestHasEffect(t *testing.T) {
	for path, want := range map[string]bool{
		"mcp": true, "mcp.x.command": true, "lsp": true, "formatter": true, "plugin": true, ".opencode/plugin": true, ".lathe/tools": true, "hooks": true, "references": false,
		"experimental.hook": false, "provider": true, "permission.bash": true, "shell": true, "tools": true, "tools.bash": true, "command.x": true, "experimental.batch_tool": true,
	} {
		if got := HasEffect(path); got != want {
			t.Errorf("HasEffect(%q) is %v", path, got)
		}
	}
}
