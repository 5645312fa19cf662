package importer

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
)

// TestElsewhere counts what other programs have, without what was imported already.
func TestElsewhere(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".local/share/opencode/storage/session/p1/ses_a.json": "{}",
		".local/share/opencode/storage/session/p2/ses_b.json": "not even JSON",
		".local/share/opencode/storage/session/p2/ses_c.json": "{}",
		".local/share/opencode/auth.json":                     `{"anthropic": {"type": "api", "key": "secret"}}`,
		".config/opencode/opencode.jsonc":                     "{ // mine\n \"mcp\": {\"files\": {}}, \"plugin\": [\"one\", \"two\"] }",
		".config/opencode/plugin/own.ts":                      "export {}",
		".claude/projects/-tmp-x/1.jsonl":                     "{}",
		".claude/projects/-tmp-x/2.jsonl":                     "{}",
		".claude/projects/-tmp-x/sub/3.jsonl":                 "{}",
		".claude/settings.json":                               `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`,
		".claude.json":                                        `{"mcpServers": {"docs": {"command": "docs"}}}`,
		".codex/sessions/2026/01/02/rollout-1.jsonl":          "{}",
		".codex/config.toml":                                  "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nK = \"v\"\n[mcp_servers.\"b c\"]\nurl = \"https://example.com\"\n",
		".claude/commands/a/b.md":                             "x",
		".claude/agents/one.md":                               "x",
		".codex/prompts/p.md":                                 "x",
		".codex/AGENTS.md":                                    "be brief",
		".codex/auth.json":                                    `{"OPENAI_API_KEY": null}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": home}
	got := look(t, env, func(id lathe.SessionID) bool { return id == "ses_c" })
	want := []api.Elsewhere{
		{Program: api.OpenCode, Dir: filepath.Join(home, ".local/share/opencode"), Sessions: 2, Servers: 1, Plugins: 3, Login: true},
		{Program: api.ClaudeCode, Dir: filepath.Join(home, ".claude"), Sessions: 2, Servers: 1, Hooks: 1, Commands: 1, Agents: 1},
		{Program: api.Codex, Dir: filepath.Join(home, ".codex"), Sessions: 1, Servers: 2, Commands: 1, Told: true, Login: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for _, program := range []string{api.ClaudeCode, api.Codex} {
		if err := looker(t, env, nil).Adopt(t.Context(), api.Import{Program: program}, func(api.ImportNews) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	want[1].Commands, want[1].Agents = 0, 0
	want[2].Commands, want[2].Told = 0, false
	if diff := cmp.Diff(want[1:], look(t, env, func(lathe.SessionID) bool { return false })[1:]); diff != "" {
		t.Errorf("found after an import (-want +got):\n%s", diff)
	}
	env["HOME"] = t.TempDir()
	if got := look(t, env, nil); len(got) > 0 {
		t.Errorf("an empty machine has %v", got)
	}
}

func looker(t *testing.T, env map[string]string, has func(lathe.SessionID) bool) Machine {
	t.Helper()
	getenv := func(name string) string { return env[name] }
	paths, err := config.DefaultPaths(getenv)
	if err != nil {
		t.Fatal(err)
	}
	return Machine{Paths: paths, Getenv: getenv, Has: func(_ context.Context, id lathe.SessionID) bool { return has(id) }}
}

func look(t *testing.T, env map[string]string, has func(lathe.SessionID) bool) []api.Elsewhere {
	t.Helper()
	out, err := looker(t, env, has).Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}
