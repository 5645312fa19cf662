package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/enginetest"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/undo"
)

// take queues work for a session, has this process take it as a worker, and returns a context
// of what is done for it.
func (p *play) take(id lathe.SessionID, doing ...int64) (ctx context.Context, n int64) {
	p.t.Helper()
	n, err := p.store.Queue.Add(p.t.Context(), store.Work{Session: id, Directory: p.dir, Root: p.dir, Body: []byte("do")})
	if err != nil {
		p.t.Fatal(err)
	}
	taken, err := p.store.Crew.Take(p.t.Context(), 1, doing, nil)
	if err != nil || len(taken) == 0 || taken[len(taken)-1].N != n {
		p.t.Fatalf("taken: %+v, %v", taken, err)
	}
	return store.WithTaking(p.t.Context(), store.Taking{N: n, By: taken[len(taken)-1].By.ID}), n
}

// A queued prompt that was answered and then taken back by a revert is not begun again by a
// worker that has it in hand still, nor is one that another worker has by now; and neither of
// them removes what the revert hides.
func TestQueuedPromptIsBegunOnce(t *testing.T) {
	if !pgtest.Available() {
		t.Skip("there is no PostgreSQL here")
	}
	t.Setenv(enginetest.StoreVar, "postgres")
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "did"} }).open()
	id := p.session()
	if err := p.store.Crew.Offer(t.Context(), []string{p.dir}, 1, nil); err != nil {
		t.Fatal(err)
	}
	p.prompt(id, session.Prompt{}, "first")
	queued, n := p.take(id)
	again := session.Prompt{MessageID: "msg_ffffffffffff00000000000001", Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "queued"}}}
	m, run, err := p.svc.Prompt(queued, id, again)
	if err != nil {
		t.Fatal(err)
	}
	p.wait(run)
	twice, second := p.take(id, n)
	for _, ctx := range []context.Context{queued, twice} {
		if _, run, err := p.svc.Prompt(ctx, id, again); err != nil || run.Last() == nil {
			t.Errorf("what is stored and was sent again: %v, %v", run, err)
		}
	}
	if _, err := p.svc.Undo.Revert(t.Context(), id, undo.Input{MessageID: m.ID}); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, ctx context.Context, in session.Prompt) {
		t.Helper()
		before := p.messages(id)
		_, _, err := p.svc.Prompt(ctx, id, in)
		if lathe.CodeOf(err) != lathe.CodeAborted || !errors.Is(err, store.ErrLost) {
			t.Errorf("%s: %v", what, err)
		}
		if diff := cmp.Diff(before, p.messages(id)); diff != "" {
			t.Errorf("%s changed the session (-before +after):\n%s", what, diff)
		}
	}
	refused("what a revert hides", queued, again)
	refused("what was queued twice", twice, again)
	if s, err := p.svc.Get(t.Context(), id); err != nil || s.Revert == nil || s.Revert.MessageID != m.ID {
		t.Errorf("reverted: %+v, %v", s.Revert, err)
	}
	p.prompt(id, session.Prompt{}, "in its place")
	refused("what a revert removed", queued, again)
	for _, n := range []int64{n, second} {
		if err := p.store.Crew.Done(t.Context(), n, nil, true); err != nil {
			t.Fatal(err)
		}
	}
	refused("what has ended", queued, again)

	given, n := p.take(id)
	if err := p.store.Crew.GiveBack(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	again.MessageID = "msg_ffffffffffff00000000000002"
	refused("what another may have by now", given, again)
	if got := len(p.asked()); got != 3 {
		t.Errorf("the model was asked %d times, not 3", got)
	}
}
