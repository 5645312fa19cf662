package mcpjson

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

// TestCodex reads the servers of Codex' configuration: values stand for themselves, and what
// cannot be carried over is said instead of being used otherwise than it was meant.
func TestCodex(t *testing.T) {
	w := place(t, nil, map[string]string{"TOKEN": "secret", "PASSED": "on"})
	path := filepath.Join(w.Home, ".codex", "config.toml")
	write(t, path, `model = "gpt-5"
[mcp_servers.files]
command = "npx"
args = ["-y", "${HOME}"]
env = { KEY = "v" }
env_vars = ["PASSED", "UNSET"]
tool_timeout_sec = 1.5
[mcp_servers."the docs"]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X-A = "b" }
enabled = false
[mcp_servers.few]
command = "x"
enabled_tools = ["one"]
[mcp_servers.unset]
url = "https://example.com/mcp"
env_http_headers = { X-Key = "NO_SUCH" }
[mcp_servers.empty]
[mcp_servers.wrong]
command = 1
[projects."/x"]
trust_level = "trusted"
`)
	all := Sources(w)
	if len(all) != 1 || !all[0].Codex() {
		t.Fatalf("sources %+v", all)
	}
	docs := config.MCP{Name: "the docs", Type: "remote", URL: "https://example.com/mcp", Enabled: new(false)}
	docsFull := docs
	docsFull.Headers = map[string]string{"Authorization": "Bearer secret", "X-A": "b"}
	files := config.MCP{Name: "files", Type: "local", Command: []string{"npx", "-y", "${HOME}"}, Environment: map[string]string{"KEY": "v"}, Timeout: 1500}
	filesFull := files
	filesFull.Environment = map[string]string{"KEY": "v", "PASSED": "on"}
	want := Source{Path: path, Scope: User, Digest: all[0].Digest,
		Servers: []Server{{filesFull, files}, {docsFull, docs}},
		Skipped: []string{
			`empty: it has neither "command" nor "url"`,
			`few: it leaves some of its tools out ("enabled_tools", "disabled_tools"): add it with lathe mcp add, and permission rules for these`,
			"unset: the variable NO_SUCH is not set", "wrong: it is not written as Codex writes servers",
		}}
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}

	was := all[0].Digest
	write(t, path, strings.Replace("[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"${HOME}\"]\n", "npx", "evil", 1))
	if all = Sources(w); len(all) != 1 || all[0].Digest == was {
		t.Error("what runs another program has the same digest")
	}
	write(t, path, "[mcp_servers.a]\ncommand = \"x\"\n[broken")
	if all = Sources(w); len(all) != 0 {
		t.Errorf("a broken file says %+v", all)
	}
}
