package tui

import (
	"errors"
	"strings"
	"testing"

	"lathe"
)

// TestLongToasts holds that what to do is not cut off, with and without a dialog.
func TestLongToasts(t *testing.T) {
	d := withHistory(t, Options{})
	long := lathe.Errorf(lathe.CodeInvalid, "do this to mend it", "%s", strings.Repeat("something is wrong ", 8))
	d.app.fail(long)
	d.shows("something is wrong", "do this to mend it", "❯ ask anything", "A title ──")
	d.press("ctrl+p")
	d.app.fail(long)
	d.shows("do this to mend it", "commands")
	d.press("esc")
	d.app.fail(errors.New(strings.Repeat("much too long ", 80)))
	if n := strings.Count(d.text(), "much too long"); n > 5*maxTold {
		t.Errorf("%d times on screen", n)
	}
	d.app.toast = toast{}
	d.app.fail(errors.New("short"))
	d.shows("── short ─")
}

// TestUndoThatFails holds that a refused undo leaves the input alone.
func TestUndoThatFails(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "first"))
	d.engine.fail = lathe.Errorf(lathe.CodeBusy, "wait for it", "the session is busy")
	d.press("ctrl+x", "u")
	d.shows("the session is busy")
	if !d.app.input.Empty() {
		t.Errorf("the input holds %q", d.app.input.Text())
	}
}
