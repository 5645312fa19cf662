package postgres_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// What was allowed holds where it was, on every server, for its time or until it is taken back.
func TestAllowances(t *testing.T) {
	url := pgtest.Schema(t)
	_, one := open(t, postgres.Options{URL: url})
	_, two := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	rule := func(pattern string) lathe.Rule {
		return lathe.Rule{Permission: "bash", Pattern: pattern, Action: lathe.Allow}
	}
	here, there := store.Place{Owner: "p /d", Directory: "/d"}, store.Place{Owner: "p /d", Directory: "/d/below"}
	must(t, one.Allowances.Allow(ctx, here, []lathe.Rule{rule("make *"), rule("gone *")}, "ann", time.Hour))
	must(t, one.Allowances.Allow(ctx, here, []lathe.Rule{rule("gone *")}, "ann", time.Microsecond))
	must(t, one.Allowances.Allow(ctx, here, []lathe.Rule{rule("git *")}, "bob", 0))
	must(t, one.Allowances.Allow(ctx, store.Place{Owner: "q /e", Directory: "/d"}, []lathe.Rule{rule("rm *")}, "", 0))
	allowed := func(at store.Place) map[string]string {
		t.Helper()
		all, err := two.Allowances.Allowed(ctx, at)
		must(t, err)
		got := map[string]string{}
		for _, a := range all {
			if a.Given.IsZero() || a.Rule.Permission != "bash" || a.Rule.Action != lathe.Allow {
				t.Errorf("%+v", a)
			}
			lasts := " for good"
			if !a.Until.IsZero() {
				lasts = " for " + a.Until.Sub(a.Given).Round(time.Minute).String()
			}
			got[a.Rule.Pattern] = a.Person + lasts
		}
		return got
	}
	if diff := cmp.Diff(map[string]string{"make *": "ann for 1h0m0s", "git *": "bob for good"}, allowed(here)); diff != "" {
		t.Errorf("where it was (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"git *": "bob for good"}, allowed(there)); diff != "" {
		t.Errorf("below (-want +got):\n%s", diff)
	}
	kept, err := two.Approvals(ctx, "p /d")
	must(t, err)
	if diff := cmp.Diff([]lathe.Rule{rule("git *")}, kept); diff != "" {
		t.Errorf("for good (-want +got):\n%s", diff)
	}
	must(t, two.Allowances.Disallow(ctx, here, rule("make *")))
	must(t, two.Allowances.Disallow(ctx, there, rule("git *")))
	must(t, two.Allowances.Disallow(ctx, there, rule("git *")))
	if diff := cmp.Diff(map[string]string{}, allowed(here)); diff != "" {
		t.Errorf("taken back (-want +got):\n%s", diff)
	}
}
