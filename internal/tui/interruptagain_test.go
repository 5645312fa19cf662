package tui

import (
	"testing"
	"time"
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
