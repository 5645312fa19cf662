package session_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/session"
	"lathe/internal/snapshot"
	"lathe/internal/undo"
)

// files is the repository as it is: mode and content by path.
func (w *world) files() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		rel, _ := filepath.Rel(w.repo, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			out[rel] = "-> " + to
			return err
		}
		data, err := os.ReadFile(path)
		out[rel] = fmt.Sprintf("%v %s", info.Mode(), data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// users are the identifiers of the session's user messages.
func (w *world) users(s *session.Service, id lathe.SessionID) (ids []lathe.MessageID) {
	w.t.Helper()
	msgs, err := s.Messages(w.t.Context(), id, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range msgs {
		if _, ok := m.Info.(*lathe.User); ok {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (w *world) same(what string, want map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.files()); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRevertRedoUnrevertAndCleanUp(t *testing.T) {
	w := newWorld(t)
	w.write(map[string]string{"repo/keep.txt": "mine\n"})
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	start := w.files()
	w.ask(s, id, "printf 'a\\n' > a.txt; printf 'package other\\n' > main.go; chmod 600 main.go; ln -s a.txt link")
	one := w.files()
	w.ask(s, id, "rm a.txt; mkdir d && printf '\\0b' > d/bin; git mv -f main.go moved.go 2>/dev/null || mv main.go moved.go; true")
	two := w.files()
	users := w.users(s, id)

	sess, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&lathe.SessionSummary{Additions: 2, Deletions: 1, Files: 4}, sess.Summary); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	got, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[1]})
	if err != nil || len(got.Conflicts) > 0 {
		t.Fatalf("revert: %v, %v", got.Conflicts, err)
	}
	w.same("after the second prompt was reverted", one)
	if r := got.Session.Revert; r == nil || r.MessageID != users[1] || !strings.Contains(r.Diff, "+a\n") {
		t.Errorf("the session's revert is %+v", r)
	}
	if got, err = s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[0]}); err != nil || len(got.Conflicts) > 0 {
		t.Fatalf("revert further: %v, %v", got.Conflicts, err)
	}
	w.same("after the first was reverted too", start)
	if got, err = s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[1]}); err != nil || len(got.Conflicts) > 0 {
		t.Fatalf("redo: %v, %v", got.Conflicts, err)
	}
	w.same("after the first was redone", one)
	back, err := s.Undo.Unrevert(t.Context(), id, false)
	if err != nil || len(back.Conflicts) > 0 || back.Session.Revert != nil {
		t.Fatalf("unrevert: %+v, %v", back, err)
	}
	w.same("after unrevert", two)
	if back, err = s.Undo.Unrevert(t.Context(), id, false); err != nil || len(back.Files) > 0 {
		t.Errorf("unrevert of what is not reverted: %+v, %v", back, err)
	}

	if _, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[1]}); err != nil {
		t.Fatal(err)
	}
	w.ask(s, id, "true")
	after := w.users(s, id)
	if len(after) != 2 || after[0] != users[0] || after[1] == users[1] {
		t.Errorf("user messages are %v, were %v", after, users)
	}
	w.same("after the next prompt", one)
	if sess, err = s.Get(t.Context(), id); err != nil || sess.Revert != nil {
		t.Errorf("the session is still reverted: %+v, %v", sess.Revert, err)
	}
}

func TestRevertKeepsWhatTheUserChanged(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "echo one > a.txt; echo one > b.txt")
	w.write(map[string]string{"repo/a.txt": "by hand\n"})
	users := w.users(s, id)
	got, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[0]})
	if err != nil {
		t.Fatal(err)
	}
	want := []snapshot.Conflict{{Path: filepath.Join(w.repo, "a.txt"), Reason: "it was changed since by somebody else"}}
	if diff := cmp.Diff(want, got.Conflicts); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	if files := w.files(); files["a.txt"] != "-rwxr-xr-x by hand\n" || files["b.txt"] != "" {
		t.Errorf("files are %v", files)
	}
	if _, err := s.Undo.Unrevert(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	if files := w.files(); files["a.txt"] != "-rwxr-xr-x by hand\n" || !strings.HasSuffix(files["b.txt"], "one\n") {
		t.Errorf("after unrevert files are %v", files)
	}
	if _, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: users[0], Force: true}); err != nil {
		t.Fatal(err)
	}
	if files := w.files(); files["a.txt"] != "" {
		t.Errorf("after a forced revert files are %v", files)
	}
}

func TestRevertOfPartOfAMessage(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "echo one > a.txt")
	msgs, err := s.Messages(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	answer := msgs[1]
	last := answer.Parts[len(answer.Parts)-1]
	got, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: answer.ID, PartID: last.ID})
	if err != nil {
		t.Fatal(err)
	}
	if r := got.Session.Revert; r.MessageID != answer.ID || r.PartID != last.ID {
		t.Errorf("revert is %+v", r)
	}
	if files := w.files(); files["a.txt"] != "" {
		t.Errorf("files are %v", files)
	}
	w.ask(s, id, "true")
	if msgs, err = s.Messages(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	if len(msgs[1].Parts) != len(answer.Parts)-1 || msgs[1].ID != answer.ID {
		t.Errorf("the message has %d parts, had %d", len(msgs[1].Parts), len(answer.Parts))
	}
	if _, err := s.Undo.Revert(t.Context(), id, undo.Input{MessageID: "msg_none"}); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("revert to what is not there: %v", err)
	}
}

func TestForkTakesMessagesAndFilesAlong(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	w.ask(s, id, "echo one > a.txt")
	one := w.files()
	w.ask(s, id, "echo two > a.txt; echo > b.txt")
	two := w.files()
	users := w.users(s, id)
	all, err := s.Fork(t.Context(), id, session.ForkInput{})
	if err != nil {
		t.Fatal(err)
	}
	if diffs, err := s.Diffs.Of(t.Context(), all.Session.ID, ""); err != nil || len(diffs) != 2 || all.Session.Summary == nil || all.Session.Summary.Files != 2 {
		t.Errorf("the fork's diffs are %v, %v", diffs, err)
	}
	if all.Session.Title != "named (fork #1)" || len(w.users(s, all.Session.ID)) != 2 {
		t.Errorf("fork is %+v", all.Session)
	}
	some, err := s.Fork(t.Context(), all.Session.ID, session.ForkInput{MessageID: w.users(s, all.Session.ID)[1], Files: true})
	if err != nil || len(some.Conflicts) > 0 {
		t.Fatalf("fork with files: %+v, %v", some, err)
	}
	w.same("after the fork", one)
	if some.Session.Title != "named (fork #2)" {
		t.Errorf("title is %q", some.Session.Title)
	}
	msgs, err := s.Messages(t.Context(), some.Session.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range msgs {
		if a, ok := m.Info.(*lathe.Assistant); ok && a.ParentID != msgs[0].ID {
			t.Errorf("answer %s has parent %s, want %s", m.ID, a.ParentID, msgs[0].ID)
		}
		if m.ID == users[0] {
			t.Errorf("message %s was not given a new identifier", m.ID)
		}
	}
	w.ask(s, some.Session.ID, "true")
	back, err := s.Undo.ForkFiles(t.Context(), some.Session.ID, false)
	if err != nil || len(back.Conflicts) > 0 || len(back.Files) != 2 {
		t.Errorf("the files back: %+v, %v", back, err)
	}
	w.same("after the way back", two)
	if back, err = s.Undo.ForkFiles(t.Context(), some.Session.ID, false); err != nil || len(back.Files) > 0 {
		t.Errorf("the files back again: %+v, %v", back, err)
	}
}

func TestArchiveAndRename(t *testing.T) {
	w := newWorld(t)
	s, stop := w.playing(oneCall{"bash", "command"})
	defer stop()
	id := w.create(s)
	if _, err := s.Editor.Rename(t.Context(), id, "other"); err != nil {
		t.Fatal(err)
	}
	sess, err := s.Editor.Archive(t.Context(), id, true)
	if err != nil || sess.Archived.IsZero() || sess.Title != "other" {
		t.Errorf("archived: %+v, %v", sess, err)
	}
	if sess, err = s.Editor.Archive(t.Context(), id, false); err != nil || !sess.Archived.IsZero() {
		t.Errorf("taken out: %+v, %v", sess, err)
	}
	if _, err := s.Editor.Rename(t.Context(), "ses_none", "x"); lathe.CodeOf(err) != lathe.CodeNotFound {
		t.Errorf("rename of what is not there: %v", err)
	}
}
