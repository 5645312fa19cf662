package permission

import (
	"context"
	"errors"
	"testing"

	"lathe"
	"lathe/internal/tool"
)

func TestMatchHost(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"*", "example.org", true},
		{"*", "[::1]:22", true},
		{"example.org", "example.org", true},
		{"Example.ORG.", "example.org", true},
		{"example.org", "example.org:22", true},
		{"example.org", "sub.example.org", false},
		{"example.org", "example.org.evil.com", false},
		{"*.example.org", "a.b.example.org", true},
		{"*.example.org", "example.org", false},
		{"*.example.org", "evilexample.org", false},
		{"example.org:22", "example.org:22", true},
		{"example.org:22", "example.org", false},
		{"example.org:443", "example.org", true},
		{"example.org:*", "example.org", true},
		{"example.org:80*", "example.org:8080", true},
		{"*:22", "x:22", true},
		{"*:22", "x", false},
		{"10.1.*", "10.1.2.3:5432", true},
		{"10.1.*", "10.1.evil.com", false},
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8:22", "10.1.2.3:22", true},
		{"10.0.0.0/8", "11.1.2.3", false},
		{"10.0.0.0/8", "10.example.org", false},
		{"fd00::/8", "[fd00::1]:22", true},
		{"::1", "::1", true},
		{"[::1]:22", "[::1]:22", true},
		{"[::1]:22", "::1", false},
		{"[0:0:0:0:0:0:0:1]", "::1", true},
		{"localhost:3000", "localhost:3000", true},
		{"localhost", "localhost.evil.com", false},
		{"", "example.org", false},
	} {
		if got := matchHost(tt.pattern, tt.host); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.host, got)
		}
	}
}

func TestNetworkRules(t *testing.T) {
	usual := func(host string) bool { return host == "registry.example" }
	rule := func(pattern string, a lathe.Action) lathe.Rule {
		return lathe.Rule{Permission: Network, Pattern: pattern, Action: a}
	}
	all := func(a lathe.Action) lathe.Rule { return lathe.Rule{Permission: "*", Pattern: "*", Action: a} }
	private := map[string]any{tool.MetaProtected: true, tool.MetaNamed: "inside.example"}
	for _, tt := range []struct {
		name  string
		rules []lathe.Rule
		host  string
		meta  map[string]any
		want  lathe.Action
	}{
		{"nothing is said", nil, "example.org", nil, lathe.AskMe},
		{"the project's package manager", nil, "registry.example", nil, lathe.Allow},
		{"and another port of it", nil, "registry.example:22", nil, lathe.AskMe},
		{"everything is asked about", []lathe.Rule{rule("*", lathe.AskMe)}, "registry.example", nil, lathe.Allow},
		{"the host is asked about by name", []lathe.Rule{rule("registry.example", lathe.AskMe)}, "registry.example", nil, lathe.AskMe},
		{"everything is denied", []lathe.Rule{rule("*", lathe.Deny)}, "registry.example", nil, lathe.Deny},
		{"the last rule counts", []lathe.Rule{rule("*.example.org", lathe.Deny), rule("a.example.org", lathe.Allow)}, "a.example.org", nil, lathe.Allow},
		{"and here it denies", []lathe.Rule{rule("a.example.org", lathe.Allow), rule("*.example.org", lathe.Deny)}, "a.example.org:22", nil, lathe.Deny},
		{"all tools are allowed", []lathe.Rule{all(lathe.Allow)}, "example.org", nil, lathe.Allow},
		{"all that is not named is denied", []lathe.Rule{all(lathe.Deny), {Permission: "bash", Pattern: "*", Action: lathe.Allow}}, "example.org", nil, lathe.AskMe},
		{"a private network is no default", []lathe.Rule{all(lathe.Allow), rule("*", lathe.Allow)}, "inside.example", private, lathe.AskMe},
		{"but can be named", []lathe.Rule{rule("inside.example", lathe.Allow)}, "inside.example:22", private, lathe.Allow},
		{"or what it is below", []lathe.Rule{rule("*.corp.example", lathe.Allow)}, "inside.corp.example", map[string]any{tool.MetaProtected: true, tool.MetaNamed: "inside.corp.example"}, lathe.Allow},
		{"not by its last part alone", []lathe.Rule{rule("*.example", lathe.Allow)}, "inside.example", private, lathe.AskMe},
		{"a denial holds", []lathe.Rule{rule("inside.example", lathe.Deny)}, "inside.example", private, lathe.Deny},
		{"a range", []lathe.Rule{rule("10.0.0.0/8", lathe.Allow)}, "10.1.2.3", map[string]any{tool.MetaProtected: true, tool.MetaNamed: "10.1.2.3"}, lathe.Allow},
		{"the internet is no range", []lathe.Rule{rule("0.0.0.0/0", lathe.Allow)}, "10.1.2.3", map[string]any{tool.MetaProtected: true, tool.MetaNamed: "10.1.2.3"}, lathe.AskMe},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(Options{Usual: usual})
			p := Policy{Rules: append(Defaults(Paths{}), tt.rules...)}
			if got := s.judge(tool.Request{Permission: Network, Patterns: []string{tt.host}, Always: []string{tt.host}, Metadata: tt.meta}, p); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			explore := Policy{Rules: Merge(Paths{}, Builtin("explore", Paths{}), nil, nil)}
			if got := s.judge(tool.Request{Permission: Network, Patterns: []string{"example.org"}}, explore); got != lathe.AskMe {
				t.Errorf("explore: %s", got)
			}
		})
	}
}

// An approval for a host is for all of its ports, and for no other.
func TestNetworkApproval(t *testing.T) {
	s := New(Options{Approved: []lathe.Rule{{Permission: Network, Pattern: "example.org", Action: lathe.Allow}}})
	p := Policy{Rules: Defaults(Paths{})}
	for host, want := range map[string]lathe.Action{"example.org": lathe.Allow, "example.org:22": lathe.Allow, "a.example.org": lathe.AskMe} {
		if got := s.judge(tool.Request{Permission: Network, Patterns: []string{host}}, p); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// Where programs report to their makers nobody is asked, unless a rule says so.
func TestReportsAreRefusedQuietly(t *testing.T) {
	s := New(Options{Reports: func(host string) bool { return host == "reports.example" }})
	ask := func(host string, rules ...lathe.Rule) error {
		ctx, done := context.WithCancelCause(t.Context())
		done(errAsked)
		return s.Ask(ctx, AskInput{Request: tool.Request{Permission: Network, Patterns: []string{host}}, Policy: Policy{Rules: append(Defaults(Paths{}), rules...)}})
	}
	if _, quiet := errors.AsType[*Reporting](ask("reports.example")); !quiet {
		t.Error("a report was asked about")
	}
	if err := ask("example.org"); !errors.Is(err, errAsked) {
		t.Errorf("another host: %v", err)
	}
	if err := ask("reports.example", lathe.Rule{Permission: Network, Pattern: "reports.example", Action: lathe.AskMe}); !errors.Is(err, errAsked) {
		t.Errorf("a rule asks: %v", err)
	}
	if err := ask("reports.example", lathe.Rule{Permission: Network, Pattern: "*", Action: lathe.Allow}); err != nil {
		t.Errorf("a rule allows: %v", err)
	}
}

var errAsked = errors.New("asked")
