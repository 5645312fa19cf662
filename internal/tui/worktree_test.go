package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/engine"
)

// branching is an engine that makes worktrees.
type branching struct {
	*ableFake
	made    []string
	all     []api.Worktree
	removed []string
	err     error
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

func (f *branching) Worktrees(context.Context) ([]api.Worktree, error) { return f.all, nil }

func (f *branching) RemoveWorktree(_ context.Context, name string) (api.RemovedWorktree, error) {
	f.removed = append(f.removed, name)
	f.all = f.all[:1]
	return api.RemovedWorktree{Kept: "lathe/kept"}, nil
}

func (f *branching) AllSessions(context.Context) ([]lathe.Session, error) {
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	return []lathe.Session{
		{ID: "ses_8", Title: "an older one", Directory: "/w/two/sub", Updated: at(1)}, {ID: "ses_9", Title: "漢字 \x1b[2J", Directory: "/w/two/sub", Updated: at(2)},
		{ID: "ses_7", Title: "in another directory", Directory: "/w/twofold", Updated: at(3)},
	}, nil
}

func (f *branching) Dir() string { return "/w/one" }

// TestWorktreesAreListedAndRemoved looks at the worktrees, removes one after a question, and
// goes on in one; the one that the screen is in stays.
func TestWorktreesAreListedAndRemoved(t *testing.T) {
	eachSize(t, func(t *testing.T, s *sitting, said say.Language) {
		f := &branching{ableFake: newAble()}
		s.d.app.access.Able.Worktrees = f
		s.run("/worktrees")
		s.sees(said, "worktrees", "there is none; /worktree makes one")
		s.press("esc")
		f.all = []api.Worktree{
			{Name: "one", Branch: "lathe/one", Directory: "/w/one"},
			{Name: "two", Branch: "lathe/two", Directory: "/w/two", Changes: []api.WorkChange{{File: "a", Added: 3, Removed: 1}, {File: "b", Added: 2}}},
		}
		s.run("/worktrees")
		s.sees(said, "worktrees", "enter open", "ctrl+k remove", "nothing changed", "2 files, +5 -1")
		s.sees("", "lathe/one", "lathe/two", "漢字")
		s.d.hides("in another directory", "an older one")
		s.d.harmless()
		s.press("ctrl+k")
		s.sees(said, "you are in this worktree; leave it before it is removed")
		s.press("down")
		s.sees("", "/w/two")
		s.press("ctrl+k")
		s.sees(said, "remove two?", "its work is kept on a branch", "keep it", "remove it")
		s.press("enter")
		if len(f.removed) > 0 {
			t.Fatalf("removed %q", f.removed)
		}
		s.press("down", "enter")
		if w := s.d.app.Elsewhere(); w == nil || w.Name != "two" || w.Made || !s.d.quit {
			t.Errorf("it goes to %+v", w)
		}
		s.run("/worktrees")
		s.press("down", "ctrl+k", "down", "enter")
		if diff := cmp.Diff([]string{"two"}, f.removed); diff != "" {
			t.Errorf("removed (-want +got):\n%s", diff)
		}
		s.sees(said, "removed two; its work is on branch lathe/kept")
		s.d.hides("lathe/two")
	})
}

// TestWorktreeWaitsForTheTurn holds that a running turn is not left unseen.
func TestWorktreeWaitsForTheTurn(t *testing.T) {
	d, able := ableTo(t, Options{}, question(1, "Start it."))
	d.app.access.Able.Worktrees = &branching{ableFake: able, all: []api.Worktree{{Name: "two", Branch: "lathe/two", Directory: "/w/two"}}}
	d.event(lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	d.typed("/worktrees")
	d.press("esc", "enter", "enter")
	d.shows("a turn is running")
	if w := d.app.Elsewhere(); w != nil {
		t.Errorf("it goes to %+v", w)
	}
}
