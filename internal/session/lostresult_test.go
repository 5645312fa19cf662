package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
)

// A result that could not be stored ends the turn. The call is closed then, and not only when the
// session is prompted again.
func TestCallIsClosedWhoseResultIsLost(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say {
		return say{calls: []use{{"bash", map[string]any{"command": "touch began; until [ -e go ]; do sleep 0.02; done", "description": "wait"}}}}
	})
	p.once = true
	p.open()
	s, err := p.svc.Create(t.Context(), session.Create{Directory: p.dir, Title: "named", Rules: []lathe.Rule{{Permission: "*", Pattern: "*", Action: lathe.Allow}}})
	if err != nil {
		t.Fatal(err)
	}
	_, run := p.send(s.ID, "go")
	p.await("began")
	lost := errors.New("the store is away for a moment")
	p.fault.Store(&lost)
	if err := os.WriteFile(filepath.Join(p.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := p.wait(run); out.Failure == nil {
		t.Error("the turn has not failed")
	}
	for _, m := range p.messages(s.ID) {
		for _, part := range m.Parts {
			if c, ok := part.Body.(*lathe.ToolCall); ok {
				if f, failed := c.State.(*lathe.ToolFailed); !failed || f.Error != store.Interrupted {
					t.Errorf("the call is left %#v", c.State)
				}
			}
		}
	}
}
