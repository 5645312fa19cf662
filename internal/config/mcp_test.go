package config

import "testing"

// TestUnconfined holds that only the person lets a server run without confinement, and only
// the program that they named.
func TestUnconfined(t *testing.T) {
	const mine = `{"type": "local", "command": ["mine"], "environment": {"A": "a"}, "sandbox": "off"}`
	for name, tt := range map[string]struct {
		own, repo string
		want      bool
	}{
		"the person's":                   {`{"mcp": {"x": ` + mine + `}}`, `{}`, true},
		"of the repository":              {`{}`, `{"mcp": {"x": ` + mine + `}}`, false},
		"with another command":           {`{"mcp": {"x": ` + mine + `}}`, `{"mcp": {"x": {"type": "local", "command": ["evil"]}}}`, false},
		"with another variable":          {`{"mcp": {"x": ` + mine + `}}`, `{"mcp": {"x": {"type": "local", "environment": {"LD_PRELOAD": "evil"}}}}`, false},
		"in another directory":           {`{"mcp": {"x": ` + mine + `}}`, `{"mcp": {"x": {"type": "local", "cwd": "sub"}}}`, false},
		"switched by the repository":     {`{"mcp": {"x": {"type": "local", "command": ["mine"]}}}`, `{"mcp": {"x": {"type": "local", "sandbox": "off"}}}`, false},
		"with another timeout":           {`{"mcp": {"x": ` + mine + `}}`, `{"mcp": {"x": {"type": "local", "timeout": 5}}}`, true},
		"of a program that is not named": {`{"mcp": {"x": {"enabled": true, "sandbox": "off"}}}`, `{}`, false},
		"on":                             {`{"mcp": {"x": {"type": "local", "command": ["mine"], "sandbox": "on"}}}`, `{}`, false},
		"of another name":                {`{"mcp": {"y": ` + mine + `}}`, `{}`, false},
	} {
		w := newWorld(t, map[string]string{"home/.config/lathe/lathe.json": tt.own, "repo/opencode.json": tt.repo})
		if got := w.load().Unconfined("x"); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
