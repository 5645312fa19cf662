package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// A review that an untrusted repository wishes for counts as an ask, and never loosens a
// rule of the person's that asks or denies.
func TestReviewOfARepositoryAsks(t *testing.T) {
	repo := []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Review}}
	for name, tt := range map[string]struct{ own, want []lathe.Rule }{
		"over an allow": {
			[]lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Allow}},
			[]lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Allow}, {Permission: "bash", Pattern: "*", Action: lathe.AskMe}},
		},
		"over an ask": {
			[]lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}},
			[]lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "bash", Pattern: "*", Action: lathe.AskMe}},
		},
		"over a denial": {
			[]lathe.Rule{{Permission: "bash", Pattern: "rm *", Action: lathe.Deny}},
			[]lathe.Rule{{Permission: "bash", Pattern: "rm *", Action: lathe.Deny}, {Permission: "bash", Pattern: "*", Action: lathe.AskMe}, {Permission: "bash", Pattern: "rm *", Action: lathe.Deny}},
		},
	} {
		if diff := cmp.Diff(tt.want, tightened(tt.own, repo)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	w := newWorld(t, map[string]string{
		"home/.config/lathe/lathe.json": `{"permission":{"bash":"allow"}}`, "repo/opencode.json": `{"permission":{"bash":"review"}}`,
	})
	w.opts.Trusted = false
	rules := w.load().Tighten("build", []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.Allow}})
	if last := rules[len(rules)-1]; last.Action != lathe.AskMe {
		t.Errorf("the last rule is %v", last)
	}
}
