package tui

import (
	"context"
	"errors"
	"testing"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// branching is an engine that makes worktrees.
type branching struct {
	*ableFake
	made []string
	err  error
}

func (f *branching) Can() engine.Capabilities {
	c := f.ableFake.Can()
	c.Worktrees = f
	return c
}

func (f *branching) CreateWorktree(_ context.Context, name string) (api.Worktree, error) {
	f.made = append(f.made, name)
	return api.Worktree{Name: "a-name", Directory: "/w/a-name"}, f.err
}

// /worktree leaves the screen for a worktree that was made, and only then.
func TestWorktree(t *testing.T) {
	f := &branching{ableFake: newAble(), err: errors.New("this is no git repository")}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.typed("/worktree a name")
	d.press("enter")
	d.shows("a turn is running")
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	d.typed("/worktree a name")
	d.press("enter")
	d.shows("this is no git repository")
	if d.app.Elsewhere() != nil {
		t.Errorf("it goes to %+v", d.app.Elsewhere())
	}
	f.err = nil
	d.typed("/worktree a name")
	d.press("enter")
	if w := d.app.Elsewhere(); w == nil || w.Name != "a-name" {
		t.Errorf("it goes to %+v", w)
	}
	if len(f.made) != 2 || f.made[1] != "a name" {
		t.Errorf("made %q", f.made)
	}
}
