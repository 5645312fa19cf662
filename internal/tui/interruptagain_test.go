package tui

import (
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/tui/dialog"
)

// TestAgainIsSoon holds that a key that was pressed long ago does not count.
func TestAgainIsSoon(t *testing.T) {
	d := withHistory(t, Options{})
	d.press("ctrl+c")
	d.now = d.now.Add(again + time.Second)
	d.press("ctrl+c")
	if d.quit {
		t.Error("it left")
	}
	d.press("ctrl+c")
	if !d.quit {
		t.Error("it did not leave")
	}
}

// TestAgainEndsWithItsReason holds that "press esc again" is said no longer than it is true: not
// after another key, not after the turn, and not until the time of an older notice is over.
func TestAgainEndsWithItsReason(t *testing.T) {
	const said = "again to stop the turn"
	working := reply(2, &lathe.Text{Text: "I work"})
	working.Info.(*lathe.Assistant).Completed = time.Time{}
	d := withHistory(t, Options{}, question(1, "go"), working)
	busy := lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}}
	d.event(busy)
	d.press("esc")
	d.shows(said)
	d.press("a")
	d.hides(said)

	d.press("ctrl+u", "esc")
	d.shows(said)
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.hides(said)

	var waits []time.Duration
	d.app.after = func(wait time.Duration) tea.Cmd {
		waits = append(waits, wait)
		return nil
	}
	d.app.ticking = false
	d.app.fail(errors.New("an older notice"))
	d.do(d.app.tick())
	d.app.notify(dialog.Info, "a newer one")
	d.do(d.app.tick())
	d.event(busy)
	d.do(d.app.tick())
	if diff := cmp.Diff([]time.Duration{10 * time.Second, again, 250 * time.Millisecond}, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}
