package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/undo"
)

// TestUndoOff: where changes cannot be recorded that is told once, before the
// first of them, and a revert does not claim to have taken them back.
func TestUndoOff(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(t *testing.T, w *world)
		why  string
	}{
		{"home", func(_ *testing.T, w *world) { w.opts.Paths.Home = w.repo }, "it is the home directory"},
		{"too large", func(t *testing.T, w *world) {
			for i := range 2100 {
				f, err := os.Create(filepath.Join(w.repo, fmt.Sprintf("big%d", i)))
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Truncate(1 << 20); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}, "2100 files with 2100 MiB would have to be copied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			tt.make(t, w)
			s, stop := w.playing(oneCall{"bash", "command"})
			defer stop()
			id := w.create(s)
			sub := s.Subscribe(t.Context(), bus.Filter{})
			defer sub.Close()
			w.ask(s, id, "echo one > a.txt")
			w.ask(s, id, "echo two > b.txt")
			told, changed := undoEvents(t, sub)
			if len(told) != 1 || changed != 2 || !strings.Contains(told[0], tt.why) {
				t.Errorf("told %q in %d calls, want once, before the first: %s", told, changed, tt.why)
			}
			out, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: w.users(s, id)[0]})
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Files) > 0 || !(strings.Contains(out.Unrecorded, tt.why) || strings.Contains(out.Unrecorded, "no snapshot was taken")) {
				t.Errorf("the revert changed %v and says %q", out.Files, out.Unrecorded)
			}
		})
	}
}

// undoEvents reads events until the session was idle twice, and returns what was
// told before the first call was done, and how many calls were.
func undoEvents(t *testing.T, sub *bus.Subscription) (told []string, done int) {
	t.Helper()
	idle := 0
	for env, err := range sub.All() {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := env.Event.(type) {
		case lathe.UndoOff:
			if done > 0 {
				t.Error("told after the first change")
			}
			told = append(told, ev.Reason)
		case lathe.PartUpdated:
			if c, ok := ev.Part.Body.(*lathe.ToolCall); ok {
				if _, ok := c.State.(*lathe.ToolDone); ok {
					done++
				}
			}
		case lathe.SessionStatus:
			if _, ok := ev.Status.(lathe.Idle); ok {
				if idle++; idle == 2 {
					return told, done
				}
			}
		}
	}
	return told, done
}

// TestRevertRecorded: what was recorded is taken back, and nothing is said to be left.
func TestRevertRecorded(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "echo one > a.txt")
	out, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: w.users(s, id)[0]})
	if err != nil || len(out.Files) != 1 || out.Unrecorded != "" {
		t.Errorf("revert: %v, unrecorded %q, %v", out.Files, out.Unrecorded, err)
	}
}
