package tui

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/engine"
)

// modalEngine is an engine that knows modes of approval.
type modalEngine struct {
	*fakeEngine
	mode lathe.ApprovalMode
	err  error
}

func (m *modalEngine) Can() engine.Capabilities {
	can := m.fakeEngine.Can()
	can.Modes = m
	return can
}

func (m *modalEngine) ApprovalMode(context.Context, lathe.SessionID) (lathe.ApprovalMode, error) {
	return m.mode, nil
}

func (m *modalEngine) SetApprovalMode(_ context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error {
	_ = m.note("mode %s %s", id, mode)
	return m.err
}

// TestModeChangesAtAnAsk holds that the mode can be changed while something is asked, that this is
// told, and that the ask stays for its answer.
func TestModeChangesAtAnAsk(t *testing.T) {
	m := &modalEngine{fakeEngine: newFake(), mode: lathe.AskFirst}
	m.sessions["ses_1"] = lathe.Session{ID: "ses_1", Agent: "build"}
	d := drive(t, Options{Engine: m, Start: Start{Session: "ses_1"}})
	d.event(downloads(2))
	d.press("f3")
	d.shows("permission: ", "the turn waits for you", "accept edits: changes files of the project unasked, asks before commands", "allow once")
	d.press("y")
	d.hides("permission: ")
	if diff := cmp.Diff([]string{"mode ses_1 edits", `reply per_1 once "" project=false`}, m.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestModeIsAlwaysVisible holds that the state line shows the mode that the engine keeps to, that
// a key goes through the modes, and that a refusal is told and changes nothing.
func TestModeIsAlwaysVisible(t *testing.T) {
	m := &modalEngine{fakeEngine: newFake(), mode: lathe.AcceptEdits}
	m.sessions["ses_1"] = lathe.Session{ID: "ses_1", Agent: "build"}
	d := drive(t, Options{Engine: m, Start: Start{Session: "ses_1"}})
	d.shows(" build · accept edits · acme/big")
	d.press("f3")
	d.shows(" build · plan only · acme/big", "plan only: changes nothing")
	m.err = errors.New("mode auto needs confined commands")
	d.press("f3")
	d.shows(" build · plan only · acme/big", "needs confined commands")
	m.err = nil
	d.event(lathe.SessionMode{SessionID: "ses_1", Mode: lathe.AskFirst}, lathe.SessionMode{SessionID: "ses_2", Mode: lathe.Auto})
	d.shows(" build · ask first · acme/big")
	d.typed("/approval")
	d.press("esc", "enter")
	d.shows("how much is asked", "accept edits  changes files of the project unasked", "auto  changes and confined commands unasked")
	d.press("esc")
	if diff := cmp.Diff([]string{"mode ses_1 plan", "mode ses_1 auto"}, m.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestModeBeforeTheFirstPrompt holds that a mode chosen before there is a session holds from its
// first prompt on.
func TestModeBeforeTheFirstPrompt(t *testing.T) {
	m := &modalEngine{fakeEngine: newFake(), mode: lathe.AskFirst}
	d := drive(t, Options{Engine: m})
	d.shows(" build · by rules · ")
	d.press("f3")
	d.shows(" build · ask first · ")
	d.typed("hello")
	d.press("enter")
	if diff := cmp.Diff([]string{"create", "mode ses_new ask", `prompt ses_new "hello"  `}, m.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	d.press("ctrl+x", "n")
	d.shows(" build · ask first · ")
}
