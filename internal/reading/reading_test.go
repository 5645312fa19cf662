package reading_test

import (
	"testing"

	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/reading"
	"lathe/internal/workspace"
)

// TestJudgesAsThePolicy holds that the compiled rules say of every path what the
// policy says, however quickly.
func TestJudgesAsThePolicy(t *testing.T) {
	root := workspace.Root{Dir: "/w", Worktree: "/w", TopLevel: "/w", VCS: "git"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) []lathe.Rule {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) lathe.Rule {
				return lathe.Rule{
					Permission: rapid.SampledFrom([]string{"read", "re*", "edit"}).Draw(t, "permission"),
					Pattern:    rapid.SampledFrom([]string{"*", "*.env", "*.env.*", "a/*", "?/b", "a/b *", "[*].env", "*e*v*", "a\\b", ""}).Draw(t, "pattern"),
					Action:     rapid.SampledFrom([]lathe.Action{lathe.Allow, lathe.Deny, lathe.AskMe}).Draw(t, "action"),
				}
			}), 0, 6).Draw(t, label)
		}
		policy := permission.Policy{Rules: draw("rules"), Ceilings: [][]lathe.Rule{draw("ceiling")}}
		rules := reading.New(root, policy, nil, nil)
		for _, path := range []string{"x", "a/b", "a/x.env", ".env", ".env.local", "*.env", "c/b", "a/b c", "a"} {
			want := policy.Action("read", path)
			if got := rules.Path("/w/" + path).Action; got != want {
				t.Fatalf("%s: %s, want %s", path, got, want)
			}
			if got := rules.Below("/w")(path).Action; got != want {
				t.Fatalf("below, %s: %s, want %s", path, got, want)
			}
		}
	})
}

// BenchmarkBelow is what every file of a search costs where no rule matches.
func BenchmarkBelow(b *testing.B) {
	root := workspace.Root{Dir: "/w", Worktree: "/w", TopLevel: "/w", VCS: "git"}
	below := reading.New(root, permission.Policy{Rules: permission.Defaults(permission.Paths{})}, nil, nil).Below("/w")
	b.ReportAllocs()
	for b.Loop() {
		if below("internal/session/instance/some_file_of_a_tree.go").Action != lathe.Allow {
			b.Fatal("not allowed")
		}
	}
}
