package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// TestEventsOfARevert holds what subscribers are told, and in which order.
func TestEventsOfARevert(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "echo one > a.txt")
	user := w.users(s, id)[0]
	sub := s.Subscribe(t.Context(), bus.Filter{})
	defer sub.Close()
	out, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: user})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Session.Revert.Diff; !strings.HasPrefix(got, "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n") {
		t.Errorf("the revert's patch is:\n%s", got)
	}
	if _, _, err := s.Prompt(t.Context(), id, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "x"}, NoReply: true, Parts: []lathe.PartBody{&lathe.Text{Text: "next"}},
	}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for env, err := range sub.All() {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := env.Event.(type) {
		case lathe.SessionUpdated:
			got = append(got, fmt.Sprintf("session reverted=%v summary=%v", ev.Session.Revert != nil, ev.Session.Summary != nil))
		case lathe.SessionDiff:
			got = append(got, fmt.Sprintf("diff of %d", len(ev.Diff)))
		case lathe.MessageRemoved:
			got = append(got, "removed")
		case lathe.MessageUpdated:
			got = append(got, "message")
		}
		if len(got) > 0 && got[len(got)-1] == "message" {
			break
		}
	}
	want := []string{"session reverted=true summary=true", "diff of 1", "removed", "removed", "removed", "session reverted=false summary=false", "message"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRevertOfABusySession(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "true")
	user := w.users(s, id)[0]
	_, run, err := s.Prompt(t.Context(), id, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "x"}, Parts: []lathe.PartBody{&lathe.Text{Text: "sleep 1000"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: user}); lathe.CodeOf(err) != lathe.CodeBusy {
		t.Errorf("revert: %v", err)
	}
	if _, err := s.Undo.Unrevert(t.Context(), id, false); lathe.CodeOf(err) != lathe.CodeBusy {
		t.Errorf("unrevert: %v", err)
	}
	_ = s.Abort(t.Context(), id) // how the turn ends is not what is tested
	_, _ = run.Wait(t.Context())
}
