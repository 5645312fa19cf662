package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/store/local"
	"lathe/internal/store/sqlite"
)

func TestMoveToADirectoryThatIsThere(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	old := filepath.Join(filepath.Dir(w.repo), "old")
	w.write(map[string]string{"old/x": ""})
	sess, err := s.Create(t.Context(), session.Create{Directory: old, Title: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	s, stop = w.service()
	defer stop()
	_, _, err = s.Prompt(t.Context(), sess.ID, session.Prompt{Model: lathe.ModelRef{Provider: "script", Model: "x"}, Parts: []lathe.PartBody{&lathe.Text{Text: "true"}}})
	if err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("a prompt in a directory that is gone: %v", err)
	}
	if sess, err = s.Move(t.Context(), sess.ID, w.repo); err != nil || sess.Directory != w.repo {
		t.Fatalf("moved: %+v, %v", sess, err)
	}
	w.ask(s, sess.ID, "echo here > here.txt")
	if files := w.files(); files["here.txt"] == "" {
		t.Errorf("the session did not go on in %s: %v", w.repo, files)
	}
}

// TestHeldElsewhere has sessions that other processes work in: one that lives on
// this machine, and one on a machine that nobody can look at.
func TestHeldElsewhere(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: w.opts.Paths.Data})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	here, there := local.Self(), local.Self()
	here.PID, here.Start = os.Getppid(), ""
	there.Host += "-gone"
	for _, tt := range []struct {
		owner  local.Process
		breaks bool
	}{{here, false}, {there, true}} {
		id := w.create(s)
		child, err := s.Create(t.Context(), session.Create{Directory: w.repo, ParentID: id})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Store().Acquire(t.Context(), child.ID, tt.owner.Owner()); err != nil {
			t.Fatal(err)
		}
		err = s.Delete(t.Context(), id)
		if lathe.CodeOf(err) != lathe.CodeBusy || !strings.Contains(err.Error(), "process") {
			t.Errorf("delete of a session that works elsewhere: %v", err)
		}
		if err := s.Unlock(t.Context(), child.ID); (err == nil) != tt.breaks {
			t.Errorf("unlock: %v", err)
		}
		if err := s.Delete(t.Context(), id); (err == nil) != tt.breaks {
			t.Errorf("delete after that: %v", err)
		}
	}
}

// TestDeleteStopsARunningTurn deletes a session whose tool waits, with a child.
func TestDeleteStopsARunningTurn(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	child, err := s.Create(t.Context(), session.Create{Directory: w.repo, ParentID: id})
	if err != nil {
		t.Fatal(err)
	}
	_, run, err := s.Prompt(t.Context(), child.ID, session.Prompt{
		Model: lathe.ModelRef{Provider: "script", Model: "x"}, Parts: []lathe.PartBody{&lathe.Text{Text: "sleep 600"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(t.Context()); err != nil && lathe.CodeOf(err) == "" {
		t.Error(err)
	}
	for _, id := range []lathe.SessionID{id, child.ID} {
		if _, err := s.Get(t.Context(), id); lathe.CodeOf(err) != lathe.CodeNotFound {
			t.Errorf("%s is still there: %v", id, err)
		}
	}
}
