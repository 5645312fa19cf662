package storetest

import (
	"context"
	"errors"
	"fmt"
	"lathe"
	"lathe/internal/store"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testSessions(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	a, b, c := Session("ses_a"), Session("ses_b"), Session("ses_c")
	b.ParentID, b.Created, b.Archived = "ses_a", epoch.Add(time.Second), epoch
	a.Updated = b.Updated.Add(time.Second)
	c.Created, c.Updated, c.Directory, c.Title = epoch.Add(2*time.Second), epoch.Add(time.Hour), "/else", "Größe"
	c.Revert = &lathe.Revert{MessageID: "msg_1", Diff: strings.Repeat("d", large+1)}
	for _, ses := range []lathe.Session{a, b, c} {
		must(t, s.CreateSession(ctx, ses))
	}
	if err := s.CreateSession(ctx, a); !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: %v", err)
	}
	for _, tt := range []struct {
		name string
		f    store.SessionFilter
		want []lathe.Session
	}{
		{"all, newest first", store.SessionFilter{}, []lathe.Session{c, b, a}},
		{"limit", store.SessionFilter{Limit: 1}, []lathe.Session{c}},
		{"by use", store.SessionFilter{ByUse: true}, []lathe.Session{c, a, b}},
		{"roots", store.SessionFilter{Roots: true}, []lathe.Session{c, a}},
		{"children", store.SessionFilter{ParentID: "ses_a"}, []lathe.Session{b}},
		{"active", store.SessionFilter{Active: true}, []lathe.Session{c, a}},
		{"directory", store.SessionFilter{Directory: "/else", ProjectID: "p1"}, []lathe.Session{c}},
		{"search", store.SessionFilter{Search: "TITLE OF ses_A"}, []lathe.Session{a}},
		{"search takes no wildcards", store.SessionFilter{Search: "%"}, nil},
		{"since", store.SessionFilter{Since: epoch.Add(time.Minute)}, []lathe.Session{c}},
		{"before", store.SessionFilter{Before: epoch.Add(time.Hour), ByUse: true, Oldest: true}, []lathe.Session{b, a}},
		{"between", store.SessionFilter{Since: a.Updated, Before: c.Updated, ByUse: true, Oldest: true}, []lathe.Session{a}},
		{"the oldest", store.SessionFilter{Oldest: true, Limit: 2}, []lathe.Session{a, b}},
		{"other project", store.SessionFilter{ProjectID: "p2"}, nil},
	} {
		got, err := s.Sessions(ctx, tt.f)
		must(t, err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	stop := errors.New("stop")
	if _, err := s.UpdateSession(ctx, "ses_a", func(x *lathe.Session) error { x.Title = "no"; return stop }); !errors.Is(err, stop) {
		t.Errorf("update with error: %v", err)
	}
	a.Title = "yes"
	got, err := s.UpdateSession(ctx, "ses_a", func(x *lathe.Session) error { x.Title, x.ID = "yes", "other"; return nil })
	must(t, err)
	equal(t, a, got)
	got, err = s.Session(ctx, "ses_a")
	must(t, err)
	equal(t, a, got)
	if _, err := s.Session(ctx, "ses_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}

func testDeleteSession(t *testing.T, u Under) {
	at := u.at(t)
	s, ctx := at.open(t), t.Context()
	big := strings.Repeat("x", large+1)
	for i, parent := range []string{"", "ses_0", "ses_1", "", "ses_0"} {
		ses := Session(fmt.Sprintf("ses_%d", i))
		ses.ParentID = lathe.SessionID(parent)
		must(t, s.CreateSession(ctx, ses))
		must(t, s.AddMessage(ctx, UserMessage(ses.ID, "msg_1", Text(fmt.Sprintf("prt_%d", i), big+parent))))
	}
	must(t, s.AddMessage(ctx, Assistant("ses_2", "msg_2", lathe.Assistant{})))
	must(t, s.PutPart(ctx, openText("ses_2", "msg_2", "prt_open")))
	must(t, s.AppendText(ctx, "prt_open", 0, "streamed"))
	gone, err := s.DeleteSession(ctx, "ses_0")
	must(t, err)
	var ids []lathe.SessionID
	for _, g := range gone {
		ids = append(ids, g.ID)
	}
	equal(t, []lathe.SessionID{"ses_2", "ses_1", "ses_4", "ses_0"}, ids)
	left, err := s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	equal(t, []lathe.Session{Session("ses_3")}, left)
	nothingLeft(t, s) // and ses_3 has the body that it shared with ses_0
	msgs, err := s.Tail(ctx, "ses_3")
	must(t, err)
	equal(t, big, msgs[0].Parts[0].Body.(*lathe.Text).Text)
	if _, err := s.DeleteSession(ctx, "ses_0"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}
}

func testBatch(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	stop := errors.New("stop")
	err := s.Batch(ctx, func(tx store.Tx) error {
		must(t, tx.CreateSession(Session("ses_a")))
		must(t, tx.AddMessage(UserMessage("ses_a", "msg_1")))
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	func() {
		defer func() { recover() }()
		s.Batch(ctx, func(tx store.Tx) error {
			must(t, tx.CreateSession(Session("ses_b")))
			panic("broken")
		})
	}()
	got, err := s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	equal(t, []lathe.Session(nil), got)
	must(t, s.Batch(ctx, func(tx store.Tx) error { return tx.CreateSession(Session("ses_a")) }))

	cause := errors.New("why")
	done, cancel := context.WithCancelCause(ctx)
	cancel(cause)
	if err := s.CreateSession(done, Session("ses_c")); !errors.Is(err, cause) {
		t.Errorf("cancelled: %v", err)
	}
}

// testRecover closes what was left open: with all of the streamed text, by the store's
// clock, and only once.
func testRecover(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, UserMessage(ses, "msg_0", Text("prt_0", "closed"))))
	must(t, s.AddMessage(ctx, Assistant(ses, "msg_1", lathe.Assistant{Agent: "build"})))
	started := lathe.Span{Start: epoch.Add(-time.Second)}
	put := func(id string, body lathe.PartBody) lathe.Part {
		t.Helper()
		p := lathe.Part{ID: lathe.PartID(id), SessionID: ses, MessageID: "msg_1", Body: body}
		must(t, s.PutPart(ctx, &p))
		return p
	}
	thought := put("prt_1", &lathe.Reasoning{Text: "hm", Time: started})
	must(t, s.AppendText(ctx, "prt_1", 2, "m, yes"))
	pending := put("prt_2", &lathe.ToolCall{CallID: "a", Tool: "read", State: &lathe.ToolPending{Raw: `{"fi`}})
	running := put("prt_3", &lathe.ToolCall{CallID: "b", Tool: "bash", State: &lathe.ToolRunning{
		Input: []byte(`{"x":1}`), Metadata: map[string]any{"output": "so far"}, Start: started.Start,
	}})
	must(t, s.Batch(ctx, func(tx store.Tx) error {
		_, err := tx.UpdateSession(ses, func(x *lathe.Session) error { x.Compacting = epoch; return nil })
		return err
	}))
	ids, err := s.Unclosed(ctx)
	must(t, err)
	equal(t, []lathe.SessionID{ses}, ids)

	got, err := s.Recover(ctx, ses, s.Self)
	must(t, err)
	thought.Body = &lathe.Reasoning{Text: "hmm, yes", Time: lathe.Span{Start: started.Start, End: epoch}}
	pending.Body = &lathe.ToolCall{CallID: "a", Tool: "read", State: &lathe.ToolFailed{
		Error: store.Interrupted, Interrupted: true, Time: lathe.Span{Start: epoch, End: epoch},
	}}
	running.Body = &lathe.ToolCall{CallID: "b", Tool: "bash", State: &lathe.ToolFailed{
		Input: []byte(`{"x":1}`), Error: store.Interrupted, Metadata: map[string]any{"output": "so far"},
		Interrupted: true, Time: lathe.Span{Start: started.Start, End: epoch},
	}}
	want := []lathe.Part{thought, pending, running}
	equal(t, want, got)
	m, err := s.Message(ctx, ses, "msg_1")
	must(t, err)
	equal(t, want, m.Parts)
	equal(t, lathe.MessageInfo(&lathe.Assistant{
		Agent: "build", Completed: epoch, Error: &lathe.AbortedFailure{Message: store.AbortedMessage},
	}), m.Info)
	after, err := s.Session(ctx, ses)
	must(t, err)
	equal(t, Session("ses_a"), after)
}
