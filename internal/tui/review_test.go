package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/engine"
)

// reviewed is an engine with changes to look through.
type reviewed struct {
	*fakeEngine
	list []api.Reviewed
	back api.Reverted
}

func (r *reviewed) Can() engine.Capabilities {
	can := r.fakeEngine.Can()
	can.Review = r
	return can
}

func (r *reviewed) Review(context.Context, lathe.SessionID) ([]api.Reviewed, error) {
	return r.list, nil
}

func (r *reviewed) Between(_ context.Context, id lathe.SessionID, from, to lathe.MessageID) ([]api.ReviewedFile, error) {
	return r.list[0].Files, r.note("between %s %s %s", id, from, to)
}

func (r *reviewed) PreviewRevert(_ context.Context, id lathe.SessionID, m lathe.MessageID) (api.Reverted, error) {
	return r.back, r.note("preview %s %s", id, m)
}

func (r *reviewed) TakeBack(_ context.Context, id lathe.SessionID, in api.TakeBack) (api.Reverted, error) {
	return r.back, r.note("take back %s %s %q %d dry=%t", id, in.Message, in.File, in.Hunk, in.DryRun)
}

func (r *reviewed) Stage(_ context.Context, id lathe.SessionID, in api.Stage) (api.Staged, error) {
	out := api.Staged{Files: in.Files, Whole: in.Hunk > 0 && in.Files[0] == "new.txt"}
	if in.Change != "" && in.Change != r.list[0].Files[0].Key() && !out.Whole {
		return out, lathe.Errorf(lathe.CodeInvalid, "", "not the change that was seen")
	}
	return out, r.note("stage %s %s until=%s %q %d", id, in.Message, in.Until, in.Files, in.Hunk)
}

func reviewing(t *testing.T, o Options) (*driver, *reviewed) {
	before := strings.Join(strings.Fields("a b c d e f g h i j k l m n 漢 p"), "\n") + "\n"
	after := strings.Replace(strings.Replace(before, "b\n", "B\n", 1), "漢\n", "字\n", 1)
	r := &reviewed{fakeEngine: newFake(), list: []api.Reviewed{
		{Message: "msg_1", Text: "Make it louder", Files: []api.ReviewedFile{
			{File: "a b.txt", Before: before, After: after, Additions: 2, Deletions: 2, Status: "modified"},
			{File: "new.txt", After: "x\n", Additions: 1, Status: "added"},
		}},
		{Message: "msg_3", Text: "And what else?"},
		{Message: "msg_3", Taken: true, Files: []api.ReviewedFile{{File: "new.txt", Before: "x\n", Deletions: 1, Status: "deleted"}}},
	}}
	r.back = api.Reverted{Changed: []string{"/proj/a b.txt"}, Kept: []api.Kept{{Path: "/proj/x.txt", Reason: "it was changed since"}}, Conflicts: 1}
	r.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Agent: "build"}
	r.history["ses_1"] = []lathe.Message{question(1, "Make it louder"), reply(2, &lathe.Text{Text: "done"}), question(3, "And what else?")}
	o.Engine, o.Session = r, "ses_1"
	return drive(t, o), r
}

// TestReview holds what a person can do who looks through a session's changes.
func TestReview(t *testing.T) {
	d, r := reviewing(t, Options{})
	d.press("ctrl+x", "v")
	d.shows("── changes ─", "+3 −3 · 0 of 3 looked at", "▌ Make it louder", "☐ a b.txt", "new.txt  added", "▌ And what else?", "no changes", "▌ taken back by you")
	d.press("down", "space")
	d.shows("☑ a b.txt", "1 of 3 looked at", "x take back", "r undo to here", "c compare", "g go to it")

	d.press("up", "enter") // the file
	d.shows("── a b.txt ─", "☑ looked at · hunk 1 of 2", "2      - b", "2 + B", "     1    1   a", "16   16   p", "x take hunk back · s stage hunk")
	d.press("n")
	d.shows("hunk 2 of 2", "- 漢", "+ 字")
	d.press("f")
	d.shows("hunk 2 of 2", "⋯")
	d.hides("    8    8   h")

	d.press("c")
	d.shows("comment on a b.txt:15 (a removed line)")
	d.typed("why?")
	d.press("enter")
	d.shows("hunk 2 of 2")

	r.back.Changed = append(r.back.Changed, "/proj/new.txt", "/proj/old.txt")
	r.back.Changed = append(r.back.Changed, "/proj/empty.txt")
	r.back.Deleted, r.back.Created, r.back.Emptied = []string{"/proj/new.txt"}, []string{"/proj/old.txt"}, []string{"/proj/empty.txt"}
	d.press("x")
	d.shows("● new.txt  would be deleted", "● /proj/old.txt  would be restored", "● /proj/empty.txt  would stay as an empty file")
	d.shows("take back hunk 2 of a b.txt", "nothing is done yet", "● a b.txt  would be changed", "⚠ /proj/x.txt  kept as it is: it was changed since", "❯ n  leave it")
	d.press("y")
	d.shows("── changes ─")
	d.press("esc")
	d.shows("❯ a b.txt:15 (a removed line): why?")
	want := []string{`take back ses_1 msg_1 "a b.txt" 2 dry=true`, `take back ses_1 msg_1 "a b.txt" 2 dry=false`}
	if diff := cmp.Diff(want, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestReviewOfPrompts holds staging, comparing, undoing and the commit.
func TestReviewOfPrompts(t *testing.T) {
	d, _ := reviewing(t, Options{Start: Start{Review: true}})
	d.shows("── changes ─")
	d.press("s", "c")
	d.shows("compare from: Make it louder")
	d.press("down", "down", "down", "c")
	d.shows(`from "Make it louder" to "And what el`)
	d.press("esc", "home", "c", "c")
	d.shows(`from "Make it louder" until now`, "enter open · space looked at · s stage · m commit · esc close")
	d.press("down", "enter") // what does nothing in a comparison is not offered
	d.shows("c comment · s stage hunk")
	d.hides("take hunk back")
	d.press("esc", "home")
	d.press("s", "esc", "home", "r")
	d.shows("undo this prompt and all after it", "would be taken back", "kept as it is")
	d.press("y")
	d.hides("── changes ─")
	d.press("ctrl+x", "v", "enter", "n", "s", "esc", "esc", "ctrl+u", "ctrl+x", "v", "m")
	d.shows("❯ Commit what is staged: read it with `git diff --cached`")
	want := []string{
		`stage ses_1 msg_1 until= ["a b.txt" "new.txt"] 0`,
		"between ses_1 msg_1 msg_3", "between ses_1 msg_1 now", `stage ses_1 msg_1 until=now ["a b.txt" "new.txt"] 0`, "preview ses_1 msg_1", "revert ses_1 msg_1",
		`stage ses_1 msg_1 until= ["a b.txt"] 2`,
	}
	if diff := cmp.Diff(want, d.engine.noted()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// remembered keeps with a session what was looked at, as the engine does.
type remembered struct {
	*reviewed
	notes api.Notes
}

func (r *remembered) Can() engine.Capabilities {
	can := r.reviewed.Can()
	can.Notes = r
	return can
}

func (r *remembered) Notes(context.Context, lathe.SessionID) (api.Notes, error) { return r.notes, nil }

func (r *remembered) Note(_ context.Context, _ lathe.SessionID, in api.NotesChange) (api.Notes, error) {
	r.notes.Looked = slices.DeleteFunc(r.notes.Looked, func(name string) bool {
		return slices.Contains(in.Unlook, name) || slices.Contains(in.Look, name)
	})
	r.notes.Looked = append(r.notes.Looked, in.Look...)
	return r.notes, nil
}

// TestReviewKeepsMarks holds that what was looked at is still marked when the session is
// opened again, until the file changes once more or the mark is taken back.
func TestReviewKeepsMarks(t *testing.T) {
	_, inner := reviewing(t, Options{})
	r := &remembered{reviewed: inner}
	open := func() *driver {
		d := drive(t, Options{Engine: r, Start: Start{Session: "ses_1"}})
		d.press("ctrl+x", "v")
		return d
	}
	d := open()
	d.press("down", "space")
	d.shows("☑ a b.txt", "☐ new.txt", "1 of 3 looked at")

	open().shows("☑ a b.txt", "☐ new.txt", "1 of 3 looked at")

	d.press("esc")
	looked := r.notes.Looked
	r.notes.Looked = nil // another screen took the mark back
	d.press("ctrl+x", "v")
	d.shows("☐ a b.txt", "0 of 3 looked at")
	r.notes.Looked = looked

	kept := r.list[0].Files[0]
	r.list[0].Files[0].After += "one line more\n"
	open().shows("☐ a b.txt", "0 of 3 looked at")

	r.list[0].Files[0] = kept
	d = open()
	d.press("down", "space")
	d.shows("☐ a b.txt", "0 of 3 looked at")
	open().shows("☐ a b.txt", "0 of 3 looked at")
}

// TestReviewOfARename holds that a file with another name is told as that.
func TestReviewOfARename(t *testing.T) {
	d, r := reviewing(t, Options{})
	r.list[0].Files = []api.ReviewedFile{
		{File: "new name.go", After: "x\n", Additions: 1, Status: "added"},
		{File: "old 名.go", Before: "x\n", Deletions: 1, Status: "deleted"},
	}
	d.press("ctrl+x", "v")
	d.shows("☐ new name.go  renamed from old 名.go", "☐ old 名.go  renamed to new name.go")
}

// TestReviewFits holds that the sheets fit a small and a large screen.
func TestReviewFits(t *testing.T) {
	for _, s := range [][2]int{{80, 24}, {200, 60}, {20, 6}} {
		d, _ := reviewing(t, Options{})
		d.send(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
		d.press("ctrl+x", "v")
		d.shot()
		d.press("down", "enter")
		d.shot()
		d.press("n", "x")
		d.shot()
	}
}
