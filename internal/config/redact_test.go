package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/config"
)

// What came from the environment or a file, what a key calls a secret and what
// addresses hold of credentials is not told; names that clients need are.
func TestRedaction(t *testing.T) {
	home := t.TempDir()
	paths := config.Paths{Home: home, Config: filepath.Join(home, "config")}
	for name, text := range map[string]string{
		"config/key": "FROMFILE-1234\n",
		"config/lathe.json": `{
			"model": "{env:MODEL}", "username": "{env:NAME}", "enterprise": {"url": "https://user:hunter2@share.example/x?api_key=hunter3&q=1"},
			"provider": {"p": {"name": "P {env:PART}", "options": {"apiKey": "plain-key-1", "baseURL": "https://u@h:pw@llm.example/v1", "organization": "{file:./key}"}}},
			"agent": {"a": {"prompt": "{file:./key}", "description": "plain"}},
			"mcp": {"m": {"type": "local", "command": ["srv", "--token", "hunter4", "--api-key=hunter5", "{env:PART}", "plain"], "environment": {"A": "hunter6"}}}
		}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"MODEL": "p/m", "NAME": "FROMENV-1234", "PART": "FROMPART-1234"}
	c, err := config.Load(t.Context(), config.Options{Dir: home, Worktree: home, Paths: paths, Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(c.JSON(), &got); err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	const hidden = "[secret]"
	want := m{
		"model": "p/m", "username": hidden, "enterprise": m{"url": "https://[secret]@share.example/x?api_key=[secret]&q=1"},
		"provider": m{"p": m{"name": hidden, "options": m{"apiKey": hidden, "baseURL": "https://[secret]@llm.example/v1", "organization": hidden}}},
		"agent":    m{"a": m{"prompt": hidden, "description": "plain"}},
		"mcp":      m{"m": m{"type": "local", "command": []any{"srv", "--token", hidden, "--api-key=[secret]", hidden, "plain"}, "environment": m{"A": hidden}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	out := string(c.Redactor()([]byte(`{"prompt":"FROMFILE-1234","name":"P FROMPART-1234","url":"https://u@h:pw@llm.example/v1","model":"p/m"}`)))
	if want := `{"prompt":"[secret]","name":"[secret]","url":"[secret]","model":"p/m"}`; out != want {
		t.Errorf("elsewhere: %s", out)
	}
}
