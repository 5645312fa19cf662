package session_test

import (
	"path/filepath"
	"testing"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/store/local"
)

// TestOutputsGoWithTheSession looks where the whole of long outputs goes: to a
// directory of the session, which its forks share and others do not.
func TestOutputsGoWithTheSession(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	where := func(id lathe.SessionID) string {
		t.Helper()
		w.ask(s, id, "seq 1 100000")
		messages, err := s.Messages(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		path := ""
		for _, m := range messages {
			for _, p := range m.Parts {
				if call, ok := p.Body.(*lathe.ToolCall); ok {
					path, _ = call.State.(*lathe.ToolDone).Metadata["outputPath"].(string)
				}
			}
		}
		return filepath.Dir(path)
	}
	first, second := w.create(s), w.create(s)
	all := filepath.Join(w.opts.Paths.Data, local.OutputsDir)
	if a, b := where(first), where(second); a != filepath.Join(all, string(first)) || b != filepath.Join(all, string(second)) {
		t.Errorf("the outputs are in %s and %s", a, b)
	}
	out, err := s.Fork(t.Context(), first, session.ForkInput{})
	if err != nil {
		t.Fatal(err)
	}
	if dir := where(out.Session.ID); dir != filepath.Join(all, string(first)) {
		t.Errorf("a fork's are in %s", dir)
	}
}
