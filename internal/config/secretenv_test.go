package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A variable counts as a secret by where its value stands, or where that says
// little, by its name.
func TestSecretVariables(t *testing.T) {
	w := newWorld(t, map[string]string{"home/.config/lathe/lathe.json": `{
  "username": "{env:USER}", "server": {"port": {env:PORT}},
  "provider": {
    "a": {"options": {"apiKey": "{env:WORK_LLM}", "baseURL": "http://{env:HOST_NAME}/v1", "headers": {"x-team": "{env:TEAM}", "authorization": "Bearer {env:GATEWAY_TOKEN}"}}},
    "b": {"options": {"apiKey": "{env:UNSET}"}}},
  "mcp": {"m": {"type": "local", "command": ["x"], "environment": {"HOME": "{env:HOME}", "PATH": "{env:PATH}", "PW": "{env:DB_PASSWORD}"}}}
}`})
	for name, value := range map[string]string{
		"USER": "ann", "PORT": "4", "WORK_LLM": "sk-4-work", "HOST_NAME": "host", "TEAM": "blue", "GATEWAY_TOKEN": "gate-token-1", "PATH": "/bin", "DB_PASSWORD": "p",
	} {
		w.env[name] = value
	}
	want := []string{"WORK_LLM", "GATEWAY_TOKEN", "DB_PASSWORD"}
	if diff := cmp.Diff(want, w.load().SecretVariables(w.getenv)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
