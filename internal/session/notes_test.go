package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/session"
)

// TestNotesOutliveTheProcess holds that bookmarks and what was looked at are kept with the
// session, in the order of the messages, and go with it.
func TestNotesOutliveTheProcess(t *testing.T) {
	p := newPlay(t, nil, editor).open()
	id := p.session()
	for _, in := range []api.NotesChange{
		{Mark: &api.Bookmark{Message: "msg_2", Text: "  the second ", Created: 2}, Look: []string{"a.go 1", "b.go 2"}},
		{Mark: &api.Bookmark{Message: "msg_1", Text: strings.Repeat("長", 500), Created: 1}},
		{Mark: &api.Bookmark{Message: "msg_3", Text: "gone", Created: 3}},
		{Unmark: "msg_3", Unlook: []string{"a.go 1"}, Look: []string{"b.go 2", "c.go 3"}},
	} {
		if _, err := p.svc.Notes.Change(t.Context(), id, in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.svc.Notes.Change(t.Context(), id, api.NotesChange{Mark: &api.Bookmark{Text: "of nothing"}}); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a bookmark without a message: %v", err)
	}
	if _, err := p.svc.Notes.Change(t.Context(), "ses_none", api.NotesChange{Look: []string{"x"}}); err == nil {
		t.Error("a session that is not there was noted about")
	}
	p.serve() // as a new process does
	got, err := p.svc.Notes.Of(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if n := len([]rune(got.Bookmarks[0].Text)); n > 210 {
		t.Errorf("a name of %d characters was kept", n)
	}
	got.Bookmarks[0].Text = ""
	want := api.Notes{Bookmarks: []api.Bookmark{{Message: "msg_1", Created: 1}, {Message: "msg_2", Text: "the second", Created: 2}}, Looked: []string{"b.go 2", "c.go 3"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestUndoOffIsKnownWhenOpened holds that a session whose changes were not recorded says so when
// it is opened again, and no longer once changes are recorded.
func TestUndoOffIsKnownWhenOpened(t *testing.T) {
	p := newPlay(t, map[string]string{"repo/lathe.json": `{"snapshot": false}`}, editor).open()
	id := p.session()
	off := func(want string) {
		t.Helper()
		got, err := p.svc.Notes.Of(t.Context(), id)
		if err != nil || want == "" && got.UndoOff != "" || !strings.Contains(got.UndoOff, want) {
			t.Errorf("undo is off since %q, %v; want %q", got.UndoOff, err, want)
		}
	}
	p.prompt(id, session.Prompt{}, "hello")
	off("")
	p.prompt(id, session.Prompt{}, "edit "+p.dir+"/a")
	off("snapshots are switched off")
	if err := os.Remove(filepath.Join(p.dir, "lathe.json")); err != nil {
		t.Fatal(err)
	}
	p.serve()
	off("no snapshot was taken")
	p.prompt(id, session.Prompt{}, "edit "+p.dir+"/b")
	off("")
}
