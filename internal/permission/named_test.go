package permission_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// A protected request that goes by a name is allowed by rules and approvals that
// say the name, and by nothing wider.
func TestNamed(t *testing.T) {
	const name = "http://localhost:3000/"
	request := tool.Request{
		Permission: "webfetch", Patterns: []string{name + "a"}, Always: []string{name + "*"},
		Metadata: map[string]any{tool.MetaProtected: true, tool.MetaNamed: name},
	}
	once := request
	once.Always = nil
	allow := func(patterns ...string) []lathe.Rule {
		rules := []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}
		for _, p := range patterns {
			rules = append(rules, lathe.Rule{Permission: "webfetch", Pattern: p, Action: lathe.Allow})
		}
		return rules
	}
	for what, tt := range map[string]struct {
		request         tool.Request
		rules, approved []lathe.Rule
		ceilings        [][]lathe.Rule
		asks            bool
	}{
		"everything is allowed":          {request: request, rules: allow("*", "http://*", "http://localhost:3*"), approved: allow("*"), asks: true},
		"a rule says the name":           {request: request, rules: allow(name + "*")},
		"another name":                   {request: request, rules: allow("http://localhost:3001/*"), asks: true},
		"an approval says the name":      {request: request, rules: allow(), approved: allow(name + "a")},
		"nothing was offered":            {request: once, rules: allow(), approved: allow(name + "*"), asks: true},
		"nothing offered, a rule names":  {request: once, rules: allow(name + "*")},
		"a caller may not":               {request: request, rules: allow(name + "*"), ceilings: [][]lathe.Rule{allow("*")}, asks: true},
		"a caller may too":               {request: request, rules: allow(name + "*"), ceilings: [][]lathe.Rule{allow(name + "a")}},
		"a later rule asks":              {request: request, rules: append(allow(name+"*"), lathe.Rule{Permission: "webfetch", Pattern: "*", Action: lathe.AskMe}), asks: true},
		"another permission is approved": {request: request, rules: allow(), approved: []lathe.Rule{{Permission: "bash", Pattern: name + "*", Action: lathe.Allow}}, asks: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := make(chan lathe.Ask, 1)
			s := permission.New(permission.Options{Approved: tt.approved, Publish: func(ev lathe.Event) {
				if a, ok := ev.(lathe.PermissionAsked); ok {
					asked <- a.Ask
				}
			}})
			done := make(chan error, 1)
			go func() {
				done <- s.Ask(t.Context(), permission.AskInput{SessionID: "ses_1", Policy: permission.Policy{Rules: tt.rules, Ceilings: tt.ceilings}, Request: tt.request})
			}()
			synctest.Wait()
			if got := len(asked) > 0; got != tt.asks {
				t.Errorf("%s: asks %v", what, got)
			}
			s.Close()
			<-done
		})
	}
}

// "always" to such a request remembers the name, releases what waits for the same,
// and takes no pattern that is wider.
func TestNamedAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "http://localhost:3000/"
		asked := make(chan lathe.Ask, 2)
		s := permission.New(permission.Options{Publish: func(ev lathe.Event) {
			if a, ok := ev.(lathe.PermissionAsked); ok {
				asked <- a.Ask
			}
		}})
		defer s.Close()
		done := make(chan error, 2)
		for _, path := range []string{"a", "b"} {
			go func() {
				done <- s.Ask(t.Context(), permission.AskInput{SessionID: "ses_1", Request: tool.Request{
					Permission: "webfetch", Patterns: []string{name + path}, Always: []string{name + "*"},
					Metadata: map[string]any{tool.MetaProtected: true, tool.MetaNamed: name},
				}})
			}()
		}
		synctest.Wait()
		ask := <-asked
		for _, wide := range []string{"*", "http://*", "http://localhost:3000*"} {
			if err := s.Reply(t.Context(), ask.ID, lathe.Reply{Kind: lathe.Always, Patterns: []string{wide}}); lathe.CodeOf(err) != lathe.CodeInvalid {
				t.Errorf("%s: %v", wide, err)
			}
		}
		if err := s.Reply(t.Context(), ask.ID, lathe.Reply{Kind: lathe.Always}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		want := []lathe.Rule{{Permission: "webfetch", Pattern: name + "*", Action: lathe.Allow}}
		if diff := cmp.Diff(want, s.Approved()); diff != "" {
			t.Errorf("approved (-want +got):\n%s", diff)
		}
	})
}
