package retention

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// Old entries of the audit go, more than are removed at once, and an entry says so.
func TestAuditIsHeldToPolicy(t *testing.T) {
	db, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Schema(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, ctx := db.Store(), t.Context()
	for _, what := range []string{"one", "two", "three"} {
		if err := s.Audit.Record(ctx, store.Change{What: what}); err != nil {
			t.Fatal(err)
		}
	}
	re := &Retention{Policy: Policy{Audit: day}, Store: s, Now: time.Now, From: "test"}
	run := func() (Due, []string) {
		due, err := re.Run(ctx, nil, nothing)
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Audit.Changes(ctx, store.ChangeFilter{})
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, c := range all {
			what = append(what, c.What+" "+c.From)
		}
		return due, what
	}
	due, left := run()
	if diff := cmp.Diff([]string{"three ", "two ", "one "}, left); diff != "" || (due != Due{}) {
		t.Errorf("they are young: %+v (-want +got):\n%s", due, diff)
	}
	re.Now = func() time.Time { return time.Now().Add(2 * day) }
	planned, err := re.Plan(ctx, nothing)
	if err != nil {
		t.Fatal(err)
	}
	due, left = run()
	if diff := cmp.Diff([]string{"retention: audit test"}, left); diff != "" || (due != Due{Audit: 3}) || planned != due {
		t.Errorf("%+v, planned %+v (-want +got):\n%s", due, planned, diff)
	}
}
