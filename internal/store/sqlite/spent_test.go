package sqlite

import (
	"testing"
	"time"

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
