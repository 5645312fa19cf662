package linear

import (
	"context"
	"testing"

	"lathe"
	"lathe/internal/tui/engine"
)

// modal is an engine that knows modes of approval.
type modal struct {
	*fake
	mode lathe.ApprovalMode
}

func (m *modal) Can() engine.Capabilities { return engine.Capabilities{Modes: m} }

func (m *modal) ApprovalMode(context.Context, lathe.SessionID) (lathe.ApprovalMode, error) {
	return m.mode, nil
}

func (m *modal) SetApprovalMode(_ context.Context, id lathe.SessionID, mode lathe.ApprovalMode) error {
	m.mode = mode
	return m.note("mode %s %s", id, mode)
}

// TestApproval holds that how much is asked can be heard and chosen with numbers alone.
func TestApproval(t *testing.T) {
	e := &fake{events: make(chan lathe.Envelope)}
	p := met(t, e, Options{Engine: &modal{fake: e, mode: lathe.AskFirst}, Session: "ses_1"})
	p.says("/approval")
	p.hears("2. ask first, asks before every change and every command, chosen\n")
	p.says("3")
	p.hears("Chosen: accept edits")
	p.says("/approval")
	p.hears("3. accept edits, changes files of the project unasked, asks before commands, chosen\n")
	p.leaves("mode ses_1 " + string(lathe.AcceptEdits))
}

// TestApprovalBeforeASession holds that it is said when nothing can be chosen yet.
func TestApprovalBeforeASession(t *testing.T) {
	e := &fake{events: make(chan lathe.Envelope)}
	p := met(t, e, Options{Engine: &modal{fake: e}})
	p.says("/approval")
	p.hears("This can be chosen once the session has begun.")
	p.leaves()
}
