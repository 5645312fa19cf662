package permission_test

import (
	"errors"
	"testing"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// TestReview holds that a call which can hold back what it changes is let go on by a rule
// that reviews, that any other is asked about, and that nothing stricter becomes looser.
func TestReview(t *testing.T) {
	review := lathe.Rule{Permission: "bash", Pattern: "*", Action: lathe.Review}
	for name, c := range map[string]struct {
		rules    []lathe.Rule
		ceiling  []lathe.Rule
		approved []lathe.Rule
		req      tool.Request
		want     lathe.Action
	}{
		"reviewed":            {rules: []lathe.Rule{review}, req: tool.Request{Permission: "bash", Patterns: []string{"make"}}, want: lathe.Review},
		"one of two asks":     {rules: []lathe.Rule{review, {Permission: "bash", Pattern: "rm *", Action: lathe.AskMe}}, req: tool.Request{Permission: "bash", Patterns: []string{"make", "rm x"}}, want: lathe.AskMe},
		"one of two denied":   {rules: []lathe.Rule{review, {Permission: "bash", Pattern: "rm *", Action: lathe.Deny}}, req: tool.Request{Permission: "bash", Patterns: []string{"rm x", "make"}}, want: lathe.Deny},
		"one of two allowed":  {rules: []lathe.Rule{review, {Permission: "bash", Pattern: "ls *", Action: lathe.Allow}}, req: tool.Request{Permission: "bash", Patterns: []string{"ls", "make"}}, want: lathe.Review},
		"anything":            {rules: []lathe.Rule{review}, req: tool.Request{Permission: "bash", Patterns: []string{"<dynamic: $x>"}, Metadata: map[string]any{tool.MetaUnder: []string{""}}}, want: lathe.Review},
		"anything, some deny": {rules: []lathe.Rule{review, {Permission: "bash", Pattern: "rm *", Action: lathe.Deny}}, req: tool.Request{Permission: "bash", Patterns: []string{"<dynamic: $x>"}, Metadata: map[string]any{tool.MetaUnder: []string{""}}}, want: lathe.AskMe},
		"approved":            {rules: []lathe.Rule{review}, approved: []lathe.Rule{{Permission: "bash", Pattern: "make *", Action: lathe.Allow}}, req: tool.Request{Permission: "bash", Patterns: []string{"make"}}, want: lathe.Allow},
		"below a ceiling":     {rules: []lathe.Rule{review}, ceiling: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.AskMe}}, req: tool.Request{Permission: "bash", Patterns: []string{"make"}}, want: lathe.AskMe},
		"a ceiling itself":    {rules: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}, ceiling: []lathe.Rule{review}, req: tool.Request{Permission: "bash", Patterns: []string{"make"}}, want: lathe.Review},
		"protected":           {rules: []lathe.Rule{review}, req: tool.Request{Permission: "bash", Patterns: []string{"make"}, Metadata: map[string]any{tool.MetaProtected: true}}, want: lathe.AskMe},
		"another permission":  {rules: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Review}}, req: tool.Request{Permission: "edit", Patterns: []string{"a"}}, want: lathe.AskMe},
	} {
		t.Run(name, func(t *testing.T) {
			policy := permission.Policy{Rules: c.rules}
			if c.ceiling != nil {
				policy.Ceilings = [][]lathe.Rule{c.ceiling}
			}
			asked := false
			s := permission.New(permission.Options{Approved: c.approved, Decide: func(lathe.Ask) (lathe.Reply, bool) {
				asked = true
				return lathe.Reply{Kind: lathe.Reject}, true
			}})
			c.req.Hold = &tool.Hold{}
			err := s.Ask(t.Context(), permission.AskInput{Request: c.req, Policy: policy})
			got := lathe.Allow
			switch _, denied := errors.AsType[*permission.Denied](err); {
			case denied:
				got = lathe.Deny
			case asked:
				got = lathe.AskMe
			case c.req.Hold.Given:
				got = lathe.Review
			}
			if got != c.want {
				t.Errorf("judged %s, want %s", got, c.want)
			}
			if c.req.Hold = nil; c.want == lathe.Review {
				if _ = s.Ask(t.Context(), permission.AskInput{Request: c.req, Policy: policy}); !asked {
					t.Error("what cannot hold anything back was not asked about")
				}
			}
		})
	}
}
