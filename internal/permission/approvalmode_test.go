package permission_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// decided says how a request is judged in a mode of approval.
func decided(t *testing.T, mode lathe.ApprovalMode, rules []lathe.Rule, req tool.Request) lathe.Action {
	t.Helper()
	asked := false
	s := permission.New(permission.Options{Decide: func(lathe.Ask) (lathe.Reply, bool) {
		asked = true
		return lathe.Reply{Kind: lathe.Reject}, true
	}})
	in := permission.AskInput{Request: req, Policy: permission.Policy{Rules: rules}.Bound(mode, permission.Paths{})}
	err := s.Ask(t.Context(), in.In(mode))
	switch _, denied := errors.AsType[*permission.Denied](err); {
	case denied:
		return lathe.Deny
	case asked:
		return lathe.AskMe
	}
	return lathe.Allow
}

// TestModesOfApproval holds what each mode asks, on top of rules that allow, ask and deny.
func TestModesOfApproval(t *testing.T) {
	usual := permission.Defaults(permission.Paths{})
	strict := append(permission.Defaults(permission.Paths{}), lathe.Rule{Permission: "edit", Pattern: "*", Action: lathe.AskMe},
		lathe.Rule{Permission: "bash", Pattern: "*", Action: lathe.AskMe}, lathe.Rule{Permission: "edit", Pattern: "*.lock", Action: lathe.Deny},
		lathe.Rule{Permission: "bash", Pattern: "git push*", Action: lathe.Deny})
	req := func(permission, pattern string) tool.Request {
		return tool.Request{Permission: permission, Patterns: []string{pattern}}
	}
	guarded := req("edit", ".vscode/tasks.json")
	guarded.Metadata = map[string]any{tool.MetaProtected: true}
	const a, q, d = lathe.Allow, lathe.AskMe, lathe.Deny
	for _, tt := range []struct {
		name  string
		rules []lathe.Rule
		req   tool.Request
		want  [5]lathe.Action // by rules, ask first, accept edits, plan only, auto
	}{
		{"reading", usual, req("read", "a.go"), [5]lathe.Action{a, a, a, a, a}},
		{"reading a secret", usual, req("read", ".env"), [5]lathe.Action{q, q, q, q, q}},
		{"an edit", usual, req("edit", "a.go"), [5]lathe.Action{a, q, a, d, a}},
		{"a command", usual, req("bash", "go test ./..."), [5]lathe.Action{a, q, q, a, a}},
		{"a command that changes what it does not name", usual, req(permission.Change, "git stash"), [5]lathe.Action{a, a, a, d, a}},
		{"a tool of a server", usual, req("docs_search", "*"), [5]lathe.Action{a, q, q, a, a}},
		{"a subagent", usual, req("task", "general"), [5]lathe.Action{a, a, a, a, a}},
		{"leaving the project", usual, req("external_directory", "/etc/*"), [5]lathe.Action{q, q, q, q, q}},
		{"a host", usual, req(permission.Network, "example.org:443"), [5]lathe.Action{q, q, q, q, q}},
		{"a file that steers a program", usual, guarded, [5]lathe.Action{q, q, q, d, q}},
		{"an edit that rules ask about", strict, req("edit", "a.go"), [5]lathe.Action{q, q, a, d, a}},
		{"an edit that rules deny", strict, req("edit", "go.lock"), [5]lathe.Action{d, d, d, d, d}},
		{"a command that rules ask about", strict, req("bash", "make"), [5]lathe.Action{q, q, q, q, a}},
		{"a command that rules deny", strict, req("bash", "git push"), [5]lathe.Action{d, d, d, d, d}},
	} {
		var got [5]lathe.Action
		for i, mode := range lathe.ApprovalModes() {
			got[i] = decided(t, mode, tt.rules, tt.req)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
