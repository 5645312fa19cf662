package stats

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/store"
)

// answered is a store of two answers of one session.
type answered struct{ store.Stats }

func (answered) Answers(_ context.Context, _ time.Time, yield func(store.Answer) error) error {
	for range 2 {
		a := store.Answer{Session: "ses_1", Assistant: &lathe.Assistant{
			Completed: time.Unix(1, 0), Tokens: lathe.Tokens{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5},
		}}
		if err := yield(a); err != nil {
			return err
		}
	}
	return nil
}

func (answered) ToolUses(context.Context, time.Time, func(store.ToolUse) error) error { return nil }

func none(context.Context, lathe.SessionID) (api.WindowStats, lathe.ModelRef, bool, error) {
	return api.WindowStats{}, lathe.ModelRef{}, false, nil
}

// Clients read tokens here as they read them in messages.
func TestTokensAreNamedAsInMessages(t *testing.T) {
	st, err := Gather(t.Context(), Options{Store: answered{}, Windows: none}, api.StatsFilter{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(st.Total)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"answers":2,"tokens":{"input":2,"output":4,"reasoning":6,"cache":{"read":8,"write":10}},"cost":0}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
