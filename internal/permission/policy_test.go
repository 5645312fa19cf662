package permission_test

import (
	"testing"

	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/permission"
)

func drawRules(t *rapid.T, label string) []lathe.Rule {
	rule := rapid.Custom(func(t *rapid.T) lathe.Rule {
		return lathe.Rule{
			Permission: rapid.SampledFrom([]string{"*", "bash", "edit", "b*"}).Draw(t, "permission"),
			Pattern:    rapid.SampledFrom([]string{"*", "git *", "x"}).Draw(t, "pattern"),
			Action:     rapid.SampledFrom([]lathe.Action{lathe.Allow, lathe.Deny, lathe.AskMe}).Draw(t, "action"),
		}
	})
	return rapid.SliceOfN(rule, 0, 6).Draw(t, label)
}

// TestPolicyIsNeverLooserThanACeiling holds that a policy below another allows
// only what both allow, and denies what either denies.
func TestPolicyIsNeverLooserThanACeiling(t *testing.T) {
	strict := map[lathe.Action]int{lathe.Allow: 0, lathe.AskMe: 1, lathe.Deny: 2}
	rapid.Check(t, func(t *rapid.T) {
		upper := permission.Policy{Rules: drawRules(t, "upper"), Ceilings: [][]lathe.Rule{drawRules(t, "top")}}
		own := permission.Policy{Rules: drawRules(t, "own")}
		both := own.Below(upper)
		for _, name := range []string{"bash", "edit", "bx"} {
			for _, text := range []string{"git push", "x", "y"} {
				want := max(strict[own.Action(name, text)], strict[upper.Action(name, text)])
				if got := both.Action(name, text); strict[got] != want {
					t.Fatalf("%s %s: %s below %s is %s", name, text, own.Action(name, text), upper.Action(name, text), got)
				}
				want = max(strict[own.ActionUnder(name, text)], strict[upper.ActionUnder(name, text)])
				if got := both.ActionUnder(name, text); strict[got] != want {
					t.Fatalf("below %s %s: %s", name, text, got)
				}
			}
			if (own.Hidden(name) || upper.Hidden(name)) != both.Hidden(name) {
				t.Fatalf("%s: hidden %t", name, both.Hidden(name))
			}
		}
	})
}
