package permission_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/tool"
)

// TestProtected holds that neither a rule nor an earlier "always" lets a
// protected request through, and that a denial still denies.
func TestProtected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan lathe.Ask, 8)
		s := permission.New(permission.Options{
			Approved: []lathe.Rule{{Permission: "edit", Pattern: "*", Action: lathe.Allow}},
			Publish: func(ev lathe.Event) {
				if a, ok := ev.(lathe.PermissionAsked); ok {
					asked <- a.Ask
				}
			},
		})
		defer s.Close()
		in := permission.AskInput{
			SessionID: "ses_1",
			Policy:    permission.Policy{Rules: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}},
			Request:   tool.Request{Permission: "edit", Patterns: []string{".git/hooks/x"}, Always: []string{"other"}, Metadata: map[string]any{tool.MetaProtected: true}},
		}
		done := make(chan error, 1)
		go func() { done <- s.Ask(t.Context(), in) }()
		first := <-asked
		other := in
		other.Request = tool.Request{Permission: "bash", Patterns: []string{"x"}, Always: []string{"*"}}
		other.Rules = nil
		go func() { done <- s.Ask(t.Context(), other) }()
		second := <-asked
		if err := s.Reply(t.Context(), second.ID, lathe.Reply{Kind: lathe.Always}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(s.Pending()); n != 1 {
			t.Fatalf("%d asks wait; the protected one has to", n)
		}
		if err := s.Reply(t.Context(), first.ID, lathe.Reply{Kind: lathe.Always, Project: true}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("allowed, but got %v", err)
		}
		if n := len(s.Approved()); n != 2 {
			t.Errorf("%d approvals are remembered, one too many", n)
		}
		in.Rules = append(in.Rules, lathe.Rule{Permission: "edit", Pattern: ".git/*", Action: lathe.Deny})
		if _, ok := errors.AsType[*permission.Denied](s.Ask(t.Context(), in)); !ok {
			t.Error("a denied protected request was not denied")
		}
	})
}
