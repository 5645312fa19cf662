package permission

import (
	"testing"

	"lathe"
	"lathe/internal/judge"
)

// TestApprovalCountsForTheProgramHoweverSpelt holds that what was approved by a
// path is not asked about by the name alone, while rules that name a program still
// find it, and a command of that name is another.
func TestApprovalCountsForTheProgramHoweverSpelt(t *testing.T) {
	ask := rules(lathe.AskMe, "bash", "*")
	for _, row := range []struct {
		script   string
		rules    []lathe.Rule
		approved []lathe.Rule
		want     lathe.Action
	}{
		{"./build.sh all", ask, nil, lathe.AskMe},
		{"./build.sh all", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.Allow},
		{"./build.sh", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.Allow},
		{"./build.sh all && ./build.sh test", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.Allow},
		{"build.sh all", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.AskMe},
		{"./build.sh all; build.sh all", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.AskMe},
		{"./build.sh all; env build.sh all", ask, rules(lathe.Allow, "bash", "./build.sh *", "env *"), lathe.AskMe},
		{"./other.sh all", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.AskMe},
		{"./build.sh $(date)", ask, rules(lathe.Allow, "bash", "./build.sh *"), lathe.AskMe},
		{"./build.sh all", append(ask, rules(lathe.Allow, "bash", "./build.sh *")...), nil, lathe.Allow},
		{"./curl x", append(append(rules(lathe.Allow, "bash", "*"), rules(lathe.AskMe, "bash", "curl *")...), rules(lathe.Allow, "bash", "./*")...), nil, lathe.AskMe},
		{"./curl x", rules(lathe.AskMe, "bash", "curl *", "*"), rules(lathe.Allow, "bash", "./curl *"), lathe.Allow},
		{"/bin/rm x", append(ask, rules(lathe.Deny, "bash", "rm *")...), rules(lathe.Allow, "bash", "/bin/rm *"), lathe.Deny},
	} {
		got := lathe.Allow
		for _, req := range judge.Analyze(row.script, judge.Env{Dir: "/w", Home: "/home/me"}).Requests(root{}) {
			if req.Permission != "bash" {
				continue
			}
			for _, a := range actions(req.Permission, req.Patterns, req.Metadata, Policy{Rules: row.rules}, row.approved) {
				got = stricter(got, a)
			}
		}
		if got != row.want {
			t.Errorf("%q is %s, want %s", row.script, got, row.want)
		}
	}
}
