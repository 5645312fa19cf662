package permission

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tool"
)

// TestOwnPatterns holds that patterns which a person wrote count in place of those
// that were offered, for the ask at hand as well.
func TestOwnPatterns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		ask := make(chan error, 1)
		go func() { ask <- s.Ask(t.Context(), input("a", nil, "go test ./...")) }()
		synctest.Wait()
		id := s.Pending()[0].ID
		for _, bad := range [][]string{{""}, {"a\x1b"}, {strings.Repeat("x", maxPattern+1)}, make([]string, maxPatterns+1)} {
			if err := s.Reply(t.Context(), id, lathe.Reply{Kind: lathe.Always, Patterns: bad}); err == nil {
				t.Errorf("%.20q is taken", bad)
			}
		}
		if err := s.Reply(t.Context(), id, lathe.Reply{Kind: lathe.Always, Patterns: []string{"go test *"}}); err != nil {
			t.Fatal(err)
		}
		if err := <-ask; err != nil {
			t.Error(err)
		}
		if err := s.Ask(t.Context(), input("b", nil, "go test ./x")); err != nil {
			t.Errorf("what the pattern covers: %v", err)
		}
		in := input("b", nil, "rm x")
		in.Request.Always = nil
		go func() { ask <- s.Ask(t.Context(), in) }()
		synctest.Wait()
		if err := s.Reply(t.Context(), s.Pending()[0].ID, lathe.Reply{Kind: lathe.Always, Patterns: []string{"*"}}); err == nil {
			t.Error("an ask that offers no pattern takes one")
		}
		s.Close()
		<-ask
	})
}

// TestOneAsk holds that a call which needs several permissions asks once, about
// those that the rules ask about, that one answer is for all of them, and that a
// rule which denies one of them is enough.
func TestOneAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := record(Options{})
		set := append(rules(lathe.Allow, "edit", "*"), rules(lathe.Deny, "read", "secret")...)
		call := func(also ...tool.Request) AskInput {
			in := input("a", set, "rm /tmp/x")
			in.Request = tool.Request{Permission: "external_directory", Patterns: []string{"/tmp/*"}, Always: []string{"/tmp/*"}, Metadata: map[string]any{"command": "rm /tmp/x"},
				Also: append(also, tool.Request{Permission: "edit", Patterns: []string{"x"}, Always: []string{"*"}},
					tool.Request{Permission: "bash", Patterns: []string{"rm /tmp/x"}, Always: []string{"rm *"}})}
			return in
		}
		done := make(chan error, 1)
		go func() { done <- s.Ask(t.Context(), call()) }()
		synctest.Wait()
		want := []lathe.Ask{{ID: s.Pending()[0].ID, SessionID: "a", Permission: "bash", Patterns: []string{"rm /tmp/x"}, Always: []string{"rm *"}, Metadata: map[string]any{
			"command": "rm /tmp/x", "also": []any{map[string]any{"permission": "external_directory", "patterns": []string{"/tmp/*"}, "always": []string{"/tmp/*"}}}}}}
		if diff := cmp.Diff(want, s.Pending()); diff != "" {
			t.Fatalf("asks (-want +got):\n%s", diff)
		}
		if err := s.Reply(t.Context(), want[0].ID, lathe.Reply{Kind: lathe.Always}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := s.Ask(t.Context(), call()); err != nil {
			t.Errorf("what was allowed is asked about again: %v", err)
		}
		set[0].Action = lathe.AskMe // edits too
		go func() { done <- s.Ask(t.Context(), call()) }()
		synctest.Wait()
		if err := s.Reply(t.Context(), s.Pending()[0].ID, lathe.Reply{Kind: lathe.Always, Patterns: []string{"x"}}); err != nil || <-done != nil {
			t.Fatal(err)
		}
		want2 := []lathe.Rule{{Permission: "bash", Pattern: "rm *", Action: lathe.Allow}, {Permission: "external_directory", Pattern: "/tmp/*", Action: lathe.Allow}, {Permission: "edit", Pattern: "x", Action: lathe.Allow}}
		if diff := cmp.Diff(want2, s.Approved()); diff != "" {
			t.Errorf("approved (-want +got):\n%s", diff)
		}
		err := s.Ask(t.Context(), call(tool.Request{Permission: "read", Patterns: []string{"secret"}}))
		if _, ok := errors.AsType[*Denied](err); !ok {
			t.Errorf("a denial among others: %v", err)
		}
	})
}

// TestEverythingIsNotStored holds that an "always" never stores a pattern that
// allows whatever is asked for, offered or written by a person, in place of what
// was asked for.
func TestEverythingIsNotStored(t *testing.T) {
	for _, p := range []string{"*", "**", "* *", "/*", "./**", `\*`, "*.*", "*/*", "?*"} {
		if !Everything(p) {
			t.Errorf("%q allows everything", p)
		}
	}
	for _, p := range []string{"", "a*", "*.go", "/tmp/*", "src/*", "?", "[a]"} {
		if Everything(p) {
			t.Errorf("%q does not allow everything", p)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var stored []lathe.Rule
		s := record(Options{OnApprove: func(_ context.Context, list []lathe.Rule) error { stored = append(stored, list...); return nil }})
		ask := func(r lathe.Reply, permission string, patterns ...string) error {
			done := make(chan error, 1)
			in := input("a", nil, patterns...)
			in.Request.Permission, in.Request.Always = permission, []string{"*"}
			go func() { done <- s.Ask(t.Context(), in) }()
			synctest.Wait()
			if err := s.Reply(t.Context(), s.Pending()[0].ID, r); err != nil {
				if err := s.Reply(t.Context(), s.Pending()[0].ID, lathe.Reply{Kind: lathe.Reject}); err != nil {
					t.Fatal(err)
				}
				<-done
				return err
			}
			return <-done
		}
		for _, p := range []string{"*", "**", "/*"} {
			if ask(lathe.Reply{Kind: lathe.Always, Patterns: []string{"x", p}}, "edit", "a") == nil {
				t.Errorf("a person can allow %q", p)
			}
		}
		always := lathe.Reply{Kind: lathe.Always, Project: true}
		for _, err := range []error{ask(always, "edit", "src/a*.go"), ask(always, "external_directory", "/*"), ask(always, "notes_add", "*")} {
			if err != nil {
				t.Error(err)
			}
		}
		want := append(rules(lathe.Allow, "edit", "src/a[*].go"), rules(lathe.Allow, "notes_add", "*")...)
		if diff := cmp.Diff(want, stored); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if n := s.Revoke(s.Approved()...); n != 3 || len(s.Approved()) != 0 {
			t.Errorf("%d revoked, %v left", n, s.Approved())
		}
	})
}
