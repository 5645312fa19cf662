package session_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/enginetest"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store/postgres/pgtest"
)

// A turn whose connection to the database is lost while one of its commits is under way, before
// the database has it or after, goes on: everything is stored and told once, as without that.
func TestTurnGoesOnWhenItsCommitIsCut(t *testing.T) {
	if !pgtest.Available() {
		t.Skip("there is no PostgreSQL here")
	}
	t.Setenv(enginetest.StoreVar, "postgres")
	want, _ := cutTurn(t, 0, false)
	for _, deaf := range []bool{false, true} {
		for n := int64(1); ; n++ {
			got, cut := cutTurn(t, n, deaf)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("commit %d, deaf %v (-want +got):\n%s", n, deaf, diff)
			}
			if !cut {
				if n < 5 {
					t.Errorf("a turn has %d commits", n-1)
				}
				break
			}
		}
	}
}

// cutTurn has a turn of two steps whose nth commit after the first request loses its connection,
// and returns what is stored and told of it.
func cutTurn(t *testing.T, n int64, deaf bool) (story []string, cut bool) {
	var counting, strikes atomic.Bool
	var commits atomic.Int64
	p := newPlay(t, nil, nil)
	p.answer = func(req *llm.Request) say {
		counting.Store(true)
		if req.Messages[len(req.Messages)-1].Role == llm.RoleTool {
			return say{text: "it is done"}
		}
		return say{text: "I look", calls: []use{{"read", args{"filePath": p.dir + "/main.go"}}}}
	}
	p.wrote = func() {
		if counting.Load() && commits.Add(1) == n {
			strikes.Store(true)
		}
	}
	p.dial = pgtest.Dialer(func() bool { return strikes.Swap(false) }, deaf)
	p.open()
	id := p.session()
	sub := p.bus.Subscribe(t.Context(), bus.Filter{SessionID: id}, bus.Limits{})
	defer sub.Close()
	out := p.prompt(id, session.Prompt{}, "look")
	cut = commits.Load() >= n && n > 0
	counting.Store(false)
	if out.Failure != nil {
		t.Errorf("commit %d, deaf %v: the turn failed: %v", n, deaf, out.Failure)
	}
	for _, m := range p.messages(id) {
		story = append(story, fmt.Sprintf("%T", m.Info))
		for _, part := range m.Parts {
			story = append(story, fmt.Sprintf("  %d %T", part.Seq, part.Body))
		}
	}
	var told []string
	for newest := int64(0); ; {
		env, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st, ok := env.Event.(lathe.SessionStatus); ok && st.Status == (lathe.Idle{}) {
			break
		}
		if env.Number == 0 {
			continue // text that streams
		}
		if env.Number <= newest {
			t.Errorf("commit %d, deaf %v: %T has number %d after %d", n, deaf, env.Event, env.Number, newest)
		}
		newest = env.Number
		if _, titled := env.Event.(lathe.SessionUpdated); titled {
			continue // the title comes at any time
		}
		told = append(told, fmt.Sprintf("%T", env.Event))
	}
	return slices.Concat(story, told), cut
}
