package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

// TestUnconfinedHelpers holds the same of language servers and formatters.
func TestUnconfinedHelpers(t *testing.T) {
	for name, tt := range map[string]struct {
		own, repo string
		want      []string
	}{
		"the person's": {
			`{"lsp": {"rust": {"sandbox": false}, "x": {"command": ["x"], "sandbox": "off"}}, "formatter": {"prettier": {"sandbox": false}}}`, `{}`,
			[]string{"the language server rust", "the language server x", "the formatter prettier"},
		},
		"on, and disabled":             {`{"lsp": {"rust": {"sandbox": true}, "x": {"disabled": true, "sandbox": false}}, "formatter": {"gofmt": {"sandbox": "on"}}}`, `{}`, nil},
		"of the repository":            {`{}`, `{"lsp": {"rust": {"sandbox": false}}, "formatter": {"prettier": {"sandbox": "off"}}}`, nil},
		"with its command":             {`{"lsp": {"rust": {"sandbox": false}}, "formatter": {"gofmt": {"sandbox": false}}}`, `{"lsp": {"rust": {"command": ["evil"]}}, "formatter": {"gofmt": {"command": ["evil"]}}}`, nil},
		"with its variables":           {`{"lsp": {"rust": {"sandbox": false}}, "formatter": {"gofmt": {"sandbox": false}}}`, `{"lsp": {"rust": {"env": {"A": "x"}}}, "formatter": {"gofmt": {"environment": {"A": "x"}}}}`, nil},
		"with its initialization":      {`{"lsp": {"rust": {"sandbox": false}}}`, `{"lsp": {"rust": {"initialization": {"check": {"overrideCommand": ["evil"]}}}}}`, nil},
		"with its kinds of files only": {`{"lsp": {"rust": {"sandbox": false}}}`, `{"lsp": {"rust": {"extensions": [".rs"]}}}`, []string{"the language server rust"}},
	} {
		w := newWorld(t, map[string]string{"home/.config/lathe/lathe.json": tt.own, "repo/opencode.json": tt.repo})
		if diff := cmp.Diff(tt.want, w.load().UnconfinedNames()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
