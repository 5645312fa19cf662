package session_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/undo"
)

// TestAbortBeforeTheTurnBegins holds that a turn that is aborted at once records
// it, whatever it had come to, and that the session goes on.
func TestAbortBeforeTheTurnBegins(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/a.txt": "x"}, func(*llm.Request) say { return say{text: "fine"} }).open()
	id := p.session()
	for range 20 {
		_, run, err := p.svc.Prompt(t.Context(), id, session.Prompt{
			Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.svc.Abort(t.Context(), id); err != nil {
			t.Fatalf("abort: %v", err)
		}
		out, err := run.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, aborted := out.Failure.(*lathe.AbortedFailure); out.Failure != nil && !aborted {
			t.Fatalf("the turn ended with %v", out.Failure)
		}
	}
	if out := p.prompt(id, session.Prompt{}, "and now?"); out.Failure != nil {
		t.Errorf("the session does not go on: %v", out.Failure)
	}
	for _, m := range p.messages(id) {
		if a, ok := m.Info.(*lathe.Assistant); ok && a.Completed.IsZero() {
			t.Errorf("answer %s was never completed", m.ID)
		}
	}
}

// TestSummarizeDropsWhatARevertHides holds that a compaction does not bring back
// what was reverted.
func TestSummarizeDropsWhatARevertHides(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/a.txt": "x"}, func(req *llm.Request) say {
		if strings.Contains(fmt.Sprint(req.Messages[len(req.Messages)-1]), "second secret") {
			return say{text: "I saw the second secret."}
		}
		return say{text: "## Goal\nThe first request was answered; nothing else was asked, nothing is open and nothing failed on the way."}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "first request")
	p.prompt(id, session.Prompt{}, "second secret")
	msgs := p.messages(id)
	if _, err := p.svc.Undo.Revert(t.Context(), id, undo.Input{MessageID: msgs[2].ID}); err != nil {
		t.Fatal(err)
	}
	if err := p.svc.Summarize(t.Context(), id, scripted, false); err != nil {
		t.Fatal(err)
	}
	for _, m := range p.messages(id) {
		for _, part := range m.Parts {
			if text, ok := part.Body.(*lathe.Text); ok && strings.Contains(text.Text, "second secret") {
				t.Error("a reverted message is still there after a compaction")
			}
		}
	}
}
