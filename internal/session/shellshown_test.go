package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
)

// TestUserShellShowsItsLastOutput holds that people see all of what a command printed while it
// goes on, also what came shortly after something else.
func TestUserShellShowsItsLastOutput(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{} }).open()
	id := p.session()
	events := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id})
	defer events.Close()
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	context.AfterFunc(soon, events.Close)
	_, run, err := p.svc.Shell(t.Context(), id, session.ShellInput{Command: "echo one; sleep 0.02; echo two; exec sleep 600", Model: scripted})
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for e, err := range events.All() {
		if err != nil {
			t.Fatal(err)
		}
		if seen = printedBy(e.Event) == "one\ntwo\n"; seen {
			break
		}
	}
	if !seen {
		t.Error("the second line was not shown while the command ran")
	}
	if err := p.svc.Abort(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.wait(run)
	if tools := p.tools(id); len(tools) != 1 || !strings.Contains(tools[0], "User aborted the command") {
		t.Errorf("calls %q", tools)
	}
}

// printedBy is what a call that runs has shown.
func printedBy(ev lathe.Event) string {
	u, ok := ev.(lathe.PartUpdated)
	if !ok {
		return ""
	}
	call, ok := u.Part.Body.(*lathe.ToolCall)
	if !ok {
		return ""
	}
	running, ok := call.State.(*lathe.ToolRunning)
	if !ok {
		return ""
	}
	text, _ := running.Metadata["output"].(string)
	return text
}
