package permission

import (
	"os"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/judge"
	"lathe/internal/tool"
)

// scripts reads a corpus of the judge, one script a line.
func scripts(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("../judge/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.SplitSeq(string(raw), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// Where everything but some programs is allowed, a denied program does not run
// without a question, however a script hides it; and everyday commands do not ask.
func TestDeniedProgramsDoNotRun(t *testing.T) {
	s := New(Options{Decide: func(lathe.Ask) (lathe.Reply, bool) { return lathe.Reply{Kind: lathe.Reject}, true }})
	set := rules(lathe.Allow, "*", "*")
	set = append(set, rules(lathe.Deny, "bash", "zap *")...)
	set = append(set, rules(lathe.AskMe, "bash", "rm -rf / *")...)
	runs := func(script string) bool {
		a := judge.Analyze(script, judge.Env{Dir: "/w", Home: "/home/me", Lookup: func(name string) (string, bool) { return "me", name == "USER" }})
		for _, r := range a.Requests(project{}) {
			if s.Ask(t.Context(), AskInput{Policy: Policy{Rules: set}, Request: tool.Request{Permission: r.Permission, Patterns: r.Patterns, Always: r.Always, Metadata: r.Metadata}}) != nil {
				return false
			}
		}
		return true
	}
	for _, script := range scripts(t, "attacks.txt") {
		if runs(script) {
			t.Errorf("runs: %q", script)
		}
	}
	for _, script := range append(scripts(t, "everyday.txt"), `docker rm $(docker ps -aq)`, `git diff $(git merge-base main HEAD)`, `mkdir -p "$(dirname "$F")"`, `kill $(lsof -ti :3000)`) {
		if !runs(script) {
			t.Errorf("asks: %q", script)
		}
	}
}

// project is a root at /w.
type project struct{}

func (project) Contains(string) bool   { return true }
func (project) Rel(path string) string { return strings.TrimPrefix(path, "/w/") }
