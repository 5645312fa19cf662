package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store/local"
)

// TestFollow holds that a turn of another process is told here as it goes on, and
// that its partial answer does not pass for the end.
func TestFollow(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} }).open()
	id := p.session()
	sess, err := p.svc.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := p.store.Acquire(t.Context(), id, local.Process{PID: 1, Host: "another machine"}.Owner())
	if err != nil {
		t.Fatal(err)
	}
	now := sess.Created
	m := lathe.Message{ID: "msg_b", SessionID: id, Created: now, Info: &lathe.Assistant{ParentID: "msg_a", Agent: "build", Model: scripted}}
	text := lathe.Part{ID: "prt_b", MessageID: m.ID, SessionID: id, Body: &lathe.Text{Time: lathe.Span{Start: now}}}
	for _, err := range []error{
		p.store.AddMessage(t.Context(), &lathe.Message{ID: "msg_a", SessionID: id, Created: now, Info: &lathe.User{Agent: "build", Model: scripted}}),
		p.store.AddMessage(t.Context(), &m), p.store.PutPart(t.Context(), &text), p.store.AppendText(t.Context(), text.ID, 0, "so far"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	events := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id})
	defer events.Close()
	for range 2 {
		p.svc.Follow(sess, p.messages(id))
	}
	until := func(want string) {
		t.Helper()
		for {
			env, err := events.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			switch ev := env.Event.(type) {
			case lathe.SessionStatus:
				got = map[bool]string{true: "idle", false: "busy"}[ev.Status == lathe.Idle{}]
			case lathe.PartUpdated:
				got = ev.Part.Body.(*lathe.Text).Text
			case lathe.MessageUpdated:
				if a, ok := ev.Message.Info.(*lathe.Assistant); ok && !a.Completed.IsZero() {
					got = "over"
				}
			}
			switch got {
			case want:
				return
			case "idle", "over":
				t.Fatalf("%q before %q", got, want)
			}
		}
	}
	until("busy")
	until("so far")
	if err := p.store.AppendText(t.Context(), text.ID, 6, " and on"); err != nil {
		t.Fatal(err)
	}
	until("so far and on")
	m.Info = &lathe.Assistant{ParentID: "msg_a", Agent: "build", Model: scripted, Finish: lathe.FinishStop, Completed: now}
	text.Body = &lathe.Text{Text: "all of it", Time: lathe.Span{Start: now, End: now}}
	for _, err := range []error{p.store.PutPart(t.Context(), &text), p.store.UpdateMessage(t.Context(), &m), lease.Release(t.Context())} {
		if err != nil {
			t.Fatal(err)
		}
	}
	until("over")
	until("idle")
	if out := p.prompt(id, session.Prompt{}, "and now?"); out.Failure != nil {
		t.Error(out.Failure)
	}
}

// What another process works at cannot be stopped here, and nobody is told that it was.
func TestAbortOfAnotherProcess(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} }).open()
	id := p.session()
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Errorf("an idle session: %v", err)
	}
	lease, err := p.store.Acquire(t.Context(), id, local.Process{PID: 1, Host: "another machine"}.Owner())
	if err != nil {
		t.Fatal(err)
	}
	err = p.svc.Abort(t.Context(), id)
	if lathe.CodeOf(err) != lathe.CodeBusy || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("a session of another process: %v", err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Errorf("once that has ended: %v", err)
	}
}

// TestAttend holds that what another process does in a session that was idle when it was opened
// is told here, once: its turn, and what it removes; and that this process's own work is not told
// twice.
func TestAttend(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} })
	wrote := make(chan func(), 1)
	p.watch = func(_ context.Context, changed func()) error { wrote <- changed; return nil }
	p.open()
	if p.store.Journal != nil {
		t.Skip("this store tells by itself what others do")
	}
	other := p.another()
	id := p.session()
	p.prompt(id, session.Prompt{}, "own")
	if err := p.svc.Attend(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	changed := <-wrote
	events := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id})
	defer events.Close()

	other.prompt(id, session.Prompt{}, "theirs")
	changed()
	var got []string
	for len(got) == 0 || got[len(got)-1] != "done" {
		env, err := events.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := env.Event.(lathe.PartUpdated); ok {
			if text, ok := u.Part.Body.(*lathe.Text); ok && !text.Synthetic {
				got = append(got, text.Text)
			}
		}
	}
	if diff := cmp.Diff([]string{"theirs", "done"}, got); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	changed()
	p.prompt(id, session.Prompt{}, "own again")
	changed()
	changed()
	if _, err := other.svc.Editor.Rename(t.Context(), id, "that is all"); err != nil {
		t.Fatal(err)
	}
	changed()
	times := 0
	for over := false; !over; {
		env, err := events.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch ev := env.Event.(type) {
		case lathe.PartUpdated:
			if text, ok := ev.Part.Body.(*lathe.Text); ok && ev.New && text.Text == "own again" {
				times++
			}
		case lathe.SessionUpdated:
			over = ev.Session.Title == "that is all"
		}
	}
	if times != 1 {
		t.Errorf("an own prompt is told %d times", times)
	}
}
