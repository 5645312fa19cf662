package postgres_test

import (
	"errors"
	"testing"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// A server that was taken for dead comes back and goes on writing: nothing of it is
// stored, whatever it writes, and the new owner's work stays.
func TestWritesOfAnOldOwnerAreRefused(t *testing.T) {
	url := pgtest.Schema(t)
	paused, old := open(t, postgres.Options{URL: url})
	next, s := open(t, postgres.Options{URL: url})
	ctx := t.Context()
	const ses = lathe.SessionID("ses_1")
	must(t, old.CreateSession(ctx, storetest.Session(string(ses))))
	must(t, old.AddMessage(ctx, &lathe.Message{ID: "msg_1", SessionID: ses, Info: &lathe.Assistant{}}))
	text := &lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: ses, Body: &lathe.Text{Time: lathe.Span{Start: epoch}}}
	call := &lathe.Part{ID: "prt_2", MessageID: "msg_1", SessionID: ses, Body: &lathe.ToolCall{Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`)}}}
	must(t, old.PutPart(ctx, text))
	must(t, old.PutPart(ctx, call))
	lost, err := old.Acquire(ctx, ses, paused.Self())
	must(t, err)
	must(t, old.AppendText(ctx, "prt_1", 0, "before"))
	must(t, old.SaveProgress(ctx, call))

	must(t, s.BreakLease(ctx, ses))
	_, err = s.Acquire(ctx, ses, next.Self())
	must(t, err)
	want, err := s.Message(ctx, ses, "msg_1")
	must(t, err)

	for name, write := range map[string]func() error{
		"message": func() error {
			return old.AddMessage(ctx, &lathe.Message{ID: "msg_2", SessionID: ses, Info: &lathe.User{}})
		},
		"info": func() error {
			return old.UpdateMessage(ctx, &lathe.Message{ID: "msg_1", SessionID: ses, Info: &lathe.Assistant{Finish: "stop"}})
		},
		"removal":  func() error { return old.RemoveMessage(ctx, ses, "msg_1") },
		"part":     func() error { return old.PutPart(ctx, text) },
		"gone":     func() error { return old.RemovePart(ctx, "prt_1") },
		"boundary": func() error { return old.SetBoundary(ctx, ses, 1) },
		"todos":    func() error { return old.SetTodos(ctx, ses, nil) },
		"diffs":    func() error { return old.SetDiffs(ctx, ses, "", nil) },
		"value":    func() error { return old.SetValue(ctx, ses, "k", nil) },
		"text":     func() error { return old.AppendText(ctx, "prt_1", 6, " after") },
		"drop":     func() error { return old.Batch(ctx, func(tx store.Tx) error { return tx.DropMessages(ses) }) },
		"session": func() error {
			_, err := old.UpdateSession(ctx, ses, func(s *lathe.Session) error { s.Title = "after"; return nil })
			return err
		},
		"deletion": func() error { _, err := old.DeleteSession(ctx, ses); return err },
	} {
		if err := write(); !errors.Is(err, store.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	call.Body.(*lathe.ToolCall).State.(*lathe.ToolRunning).Metadata = map[string]any{"output": "after"}
	must(t, old.SaveProgress(ctx, call)) // as for a call that is over
	got, err := s.Message(ctx, ses, "msg_1")
	must(t, err)
	if len(got.Parts) != 2 || got.Parts[0].Body.(*lathe.Text).Text != want.Parts[0].Body.(*lathe.Text).Text ||
		got.Parts[1].Body.(*lathe.ToolCall).State.(*lathe.ToolRunning).Metadata["output"] != nil {
		t.Errorf("the old owner changed %+v", got.Parts)
	}
	// What belongs to nobody else it may write again once it knows.
	must(t, lost.Release(ctx))
	must(t, s.BreakLease(ctx, ses))
	must(t, old.SetTodos(ctx, ses, nil))
}

// Closing what an owner left open takes the session from it, too: it is refused when
// it comes back, though nobody has the lease.
func TestRecoveryTakesTheLease(t *testing.T) {
	url := pgtest.Schema(t)
	at := schema(url)
	o, end := living(t, at)
	end()
	next, s := open(t, postgres.Options{URL: url})
	if _, err := s.Recover(t.Context(), "ses_living", next.Self()); err != nil {
		t.Fatal(err)
	}
	if h, held, err := s.Holder(t.Context(), "ses_living"); held || err != nil {
		t.Errorf("held by %v (was %v), %v", h, o, err)
	}
}
