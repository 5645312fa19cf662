package sqlite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

// paid is an answer that cost something.
func paid(ses lathe.SessionID, id string, cost lathe.Money) *lathe.Message {
	m := assistant(ses, id, lathe.Assistant{
		Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: epoch, Cost: cost, Tokens: lathe.Tokens{Input: int64(cost)},
	})
	m.Created = epoch
	return m
}

// answers is what the statistics count, by message cost; removed ones are negative.
func answers(t *testing.T, s *testDB, since time.Time) (costs []lathe.Money) {
	t.Helper()
	must(t, s.Answers(t.Context(), since, func(a store.Answer) error {
		if a.Tokens.Input != int64(a.Cost) || a.Model.String() != "p/m" || !a.Created.Equal(epoch) || a.Directory == "" {
			t.Errorf("answer %+v of %+v", a, a.Assistant)
		}
		if a.Removed {
			a.Cost = -a.Cost
		}
		costs = append(costs, a.Cost)
		return nil
	}))
	return costs
}

// What was spent stays counted when the answer goes: alone, with its session, as a
// copy only where it was made, and once when it comes back.
func TestSpentStaysCounted(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	s := open(t, dir)
	expect := func(what string, want ...lathe.Money) {
		t.Helper()
		if diff := cmp.Diff(want, answers(t, s, time.Time{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	a := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, userMessage(a, "msg_0", text("prt_0", "go"))))
	must(t, s.AddMessage(ctx, paid(a, "msg_1", 1)))
	must(t, s.AddMessage(ctx, paid(a, "msg_2", 2)))
	must(t, s.AddMessage(ctx, paid(a, "msg_3", 0)))
	must(t, s.RemoveMessage(ctx, a, "msg_0"))
	must(t, s.RemoveMessage(ctx, a, "msg_3"))
	must(t, s.RemoveMessage(ctx, a, "msg_2"))
	expect("after one answer was removed", 1, -2)
	if got := answers(t, s, epoch.Add(time.Second)); got != nil {
		t.Errorf("later than all: %v", got)
	}

	b := seed(t, s, "ses_b") // begins with a copy
	copied := paid(b, "msg_1b", 1)
	must(t, s.AddMessage(ctx, copied))
	must(t, s.batch(ctx, func(tx *tx) error { return tx.SetCopied(b, copied.Seq) }))
	must(t, s.AddMessage(ctx, paid(b, "msg_4", 4)))
	must(t, s.RemoveMessage(ctx, b, "msg_1b"))
	expect("after a copy was removed", 1, 4, -2)

	for _, id := range []lathe.SessionID{a, b} {
		if _, err := s.DeleteSession(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	expect("after the sessions were removed", -1, -2, -4)

	a = seed(t, s, "ses_a") // imported again
	must(t, s.AddMessage(ctx, paid(a, "msg_1", 1)))
	expect("after one came back", 1, -2, -4)
	must(t, s.RemoveMessage(ctx, a, "msg_1"))
	expect("after it went again", -1, -2, -4)

	must(t, s.Close())
	s = open(t, dir)
	expect("in the next process", -1, -2, -4)
	hits := 0
	must(t, s.Query(ctx, "SELECT data FROM spent", func(row []any) error { hits++; return nil }))
	if hits != 4 { // with the names of the columns
		t.Errorf("%d rows", hits)
	}
}
