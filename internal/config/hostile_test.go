package config

import (
	"fmt"
	"strings"
	"testing"

	"lathe/internal/jsonc"
)

// TestManyIssues has a file of one line in which a million values are wrong: only
// those that are told are quoted.
func TestManyIssues(t *testing.T) {
	src := jsonc.NewSource("f", []byte(`{"instructions":[`+strings.Repeat("1,", 1_000_000)+`]}`))
	root, err := src.Parse()
	if err != nil {
		t.Fatal(err)
	}
	d := &decoder{}
	for _, e := range root.Get("instructions").Items {
		d.want(e, "instructions", "a string")
	}
	if len(d.issues) != 1_000_000 || len(d.excerpts) != maxShown {
		t.Errorf("%d issues, %d lines quoted", len(d.issues), len(d.excerpts))
	}
	if msg := d.err().Error(); !strings.HasSuffix(msg, "and 999990 more") || strings.Count(msg, "^") != maxShown {
		t.Errorf("told: %s", msg)
	}
}

// TestManyAgentsAndRules has an untrusted repository that defines more agents and
// rules than anybody would, in one file and in another: each agent has each rule.
func TestManyAgentsAndRules(t *testing.T) {
	var agents, rules []string
	for i := range 4 * mostRules {
		agents = append(agents, fmt.Sprintf(`"a%d": {"prompt": "x", "permission": {"bash": {"x%d": "deny"}}}`, i, i))
		rules = append(rules, fmt.Sprintf(`"x%d": "deny"`, i))
	}
	text := `{"agent": {` + strings.Join(agents, ",") + `}, "permission": {"bash": {` + strings.Join(rules, ",") + `}}}`
	w := newWorld(t, map[string]string{
		"repo/opencode.json": text, "repo/sub/opencode.json": strings.ReplaceAll(strings.ReplaceAll(text, `"a`, `"b`), `"bgent"`, `"agent"`), "repo/.opencode/agent/one.md": "---\nprompt: x\n---\nmore",
	})
	w.opts.Trusted = false
	c := w.load()
	if got := len(c.Agents); got != mostAgents {
		t.Errorf("%d agents, want %d", got, mostAgents)
	}
	if got := len(c.Tighten("build", nil)); got != mostRules {
		t.Errorf("%d rules for every agent, want %d", got, mostRules)
	}
	told := map[string]bool{}
	for _, l := range c.LeftOut {
		told[l.Path] = true
	}
	if !told["agent"] || !told["permission"] {
		t.Errorf("what is left out is not told: %v", c.LeftOut)
	}
	w.opts.Trusted = true
	if got := len(w.load().Agents); got != 8*mostRules+1 {
		t.Errorf("%d agents of a trusted repository", got)
	}
}
