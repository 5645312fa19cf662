package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// Rules for hosts may stand for themselves; they are rules like the others, and those
// of an untrusted repository only tighten.
func TestNetworkRules(t *testing.T) {
	rule := func(p, pat string, a lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: p, Pattern: pat, Action: a}
	}
	for _, tt := range []struct {
		name, person, repo string
		trusted            bool
		want               Rules
		says               string
	}{
		{"of their own", `{"network": {"*": "ask", "packages.example.org": "allow"}, "permission": {"bash": "allow"}}`, `{}`, true,
			Rules{rule("bash", "*", lathe.Allow), rule("network", "*", lathe.AskMe), rule("network", "packages.example.org", lathe.Allow)}, ""},
		{"one for all", `{"network": "deny", "permission": "allow"}`, `{}`, true,
			Rules{rule("*", "*", lathe.Allow), rule("network", "*", lathe.Deny)}, ""},
		{"among the others", `{"permission": {"network": {"a.example": "allow"}}}`, `{}`, true, Rules{rule("network", "a.example", lathe.Allow)}, ""},
		{"both", `{"network": "allow", "permission": {"network": "deny"}}`, `{}`, true, Rules{rule("network", "*", lathe.Deny)}, `"network" is another name for "permission.network"`},
		{"a trusted repository", `{}`, `{"network": {"b.example": "allow"}}`, true, Rules{rule("network", "b.example", lathe.Allow)}, ""},
		{"one that is not trusted", `{"network": {"*": "allow"}}`, `{"network": {"b.example": "allow", "c.example": "deny", "d.example": "ask"}}`, false,
			Rules{rule("network", "*", lathe.Allow), rule("network", "d.example", lathe.AskMe), rule("network", "c.example", lathe.Deny)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"home/.config/lathe/lathe.json": tt.person, "repo/opencode.json": tt.repo})
			w.opts.Trusted = tt.trusted
			c := w.load()
			if diff := cmp.Diff(tt.want, Rules(c.Tighten("", c.Permission))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := strings.Join(issues(w, c.Warnings), "\n"); !strings.Contains(got, tt.says) || tt.says == "" && got != "" {
				t.Errorf("warnings: %s", got)
			}
		})
	}
	w := newWorld(t, map[string]string{"repo/opencode.json": `{"network": 3}`})
	if _, err := Load(t.Context(), w.opts); err == nil || !strings.Contains(err.Error(), `"network" should be an action or an object of hosts`) {
		t.Errorf("%v", err)
	}
}
