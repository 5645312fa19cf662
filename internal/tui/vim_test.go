package tui

import (
	"strings"
	"testing"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/prefs"
)

// TestVimInTheInput holds that the mode is shown, that commands edit what is written, that enter
// sends in either mode, and that the choice is remembered.
func TestVimInTheInput(t *testing.T) {
	var kept prefs.Prefs
	d := withHistory(t, Options{SavePrefs: func(p prefs.Prefs) error { kept = p; return nil }}, question(1, "an earlier prompt"))
	d.hides("insert")
	d.typed("/vim")
	d.press("esc", "enter")
	d.shows("keys of vi")
	if !kept.Vim {
		t.Error("it is not remembered")
	}
	d.typed("wrong words here")
	d.shows(" insert ")
	d.press("esc")
	d.shows(" normal ")
	d.typed("0d")
	d.shows(" normal d")
	d.typed("wcwright")
	d.shows(" insert ", "❯ right here")
	d.press("esc")
	d.typed("v0")
	d.shows(" visual ")
	d.press("esc")
	d.typed("Dxxxxxxxxxxxx")
	d.press("esc")
	d.typed("k")
	d.shows("❯ an earlier prompt")
	d.engine.noted()
	d.press("enter")
	d.calls(`prompt ses_1 "an earlier prompt"  `)
	d.typed("hi")
	d.shows("❯ hi", " insert ")
	d.press("esc")
	d.typed("dd/")
	d.shows("❯ /")
	d.press("esc", "ctrl+u")
	d.typed("vim")
	d.press("enter")
}

// TestVimLeavesTheScreenItsKeys holds that sheets, the leader and escape work in every mode.
func TestVimLeavesTheScreenItsKeys(t *testing.T) {
	d := withHistory(t, Options{Prefs: prefs.Prefs{Vim: true}}, question(1, "hello"))
	d.press("esc")
	d.press("ctrl+x", "g")
	d.shows("timeline")
	d.press("esc")
	d.typed("zq")
	d.press("f1")
	d.shows("help")
	d.press("esc", "i")
	d.typed("text")
	d.shows("❯ text")
}

// TestEveryActionCanHaveAKey walks the commands of the screen: each has an action that the
// configuration knows and that runs it.
func TestEveryActionCanHaveAKey(t *testing.T) {
	seen := map[keys.Action]string{}
	for _, c := range allCommands() {
		name := strings.Join(c.names, " ") + " " + c.title
		if c.action == "" {
			t.Errorf("%s has no action", name)
			continue
		}
		if other, twice := seen[c.action]; twice {
			t.Errorf("%s and %s are both %s", name, other, c.action)
		}
		seen[c.action] = name
		m, problems := keys.New(map[string]string{string(c.action): "ctrl+shift+f12"})
		if len(problems) > 0 || !m.Is("ctrl+shift+f12", c.action) {
			t.Errorf("%s cannot be bound: %v", c.action, problems)
		}
		if got := commandFor(c.action); got == nil || got.title != c.title {
			t.Errorf("%s runs %v", c.action, got)
		}
	}
	d := withHistory(t, Options{Keys: map[string]string{"command_skills": "f5", "command_exit": "none", "command_doctor": "f4", "elsewhere_list": "none"}})
	d.press("f4")
	d.shows("doctor")
}
