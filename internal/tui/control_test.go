package tui

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// Another program writes into the input, sends it, opens dialogs and sessions.
func TestControlled(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "first"))
	d.engine.sessions["ses_2"] = lathe.Session{ID: "ses_2", Title: "Another one"}
	tell := func(kind, props string) {
		d.event(lathe.ClientEvent{Type: "tui." + kind, Properties: []byte(props)})
	}
	execute := func(command string) { tell("command.execute", fmt.Sprintf(`{"command":%q}`, command)) }
	d.typed("look at ")
	tell("prompt.append", `{"text":"@main.go\u001b[31m"}`)
	d.shows("❯ look at @main.go")
	tell("toast.show", `{"title":"Build","message":"it failed","variant":"error"}`)
	d.shows("Build: it failed")
	execute("help.show")
	d.shows("── help")
	d.press("esc")
	execute("model.list")
	d.shows("Big")
	d.press("esc")
	execute("session.list")
	execute("session.page.up")
	tell("session.select", `{"sessionID":"ses_2"}`)
	if d.app.opening != "ses_2" && d.app.session.ID != "ses_2" {
		t.Errorf("session %q, opening %q", d.app.session.ID, d.app.opening)
	}
	tell("session.select", `{"sessionID":"../x"}`)
	tell("session.select", `nonsense`)
	execute("app.exit")
	execute("")

	d = withHistory(t, Options{}, question(1, "first"))
	execute("prompt.submit") // there is nothing to send
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"rm x"}}})
	tell("prompt.append", `{"text":"y"}`) // goes to the input, and answers nothing
	execute("prompt.submit")
	if diff := cmp.Diff([]string{`prompt ses_1 "y"  `}, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	tell("prompt.append", `{"text":"gone"}`)
	execute("prompt.clear")
	if !d.app.input.Empty() {
		t.Errorf("input %q", d.app.input.Text())
	}
}
