package tui

import (
	"testing"

	"lathe"
	"lathe/internal/tui/look"
)

// TestHintsAreForTheScreen holds that what the engine says to do can be done where
// the person is.
func TestHintsAreForTheScreen(t *testing.T) {
	for in, want := range map[string]string{
		"the key was refused; set a valid key with: lathe auth login acme-1": "the key was refused; set a valid key with: /connect",
		"run: lathe auth login acme":                                         "/connect", "list them with: lathe models --all": "list them with: /models",
		"/connect, or lathe auth login x": "/connect, or /connect", "plain": "plain",
	} {
		if got := look.InScreen(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	m := reply(2)
	m.Info.(*lathe.Assistant).Error = &lathe.AuthFailure{Provider: "acme", Message: "it has no key; run: lathe auth login acme"}
	d := withHistory(t, Options{}, question(1, "go"), m)
	d.shows("it has no key; /connect")
	d.engine.fail = lathe.Errorf(lathe.CodeAuth, "run: lathe auth login, or set a key such as X", "no provider is connected")
	d.typed("x")
	d.press("enter")
	d.shows("no provider is connected", "/connect, or set a key")
}
