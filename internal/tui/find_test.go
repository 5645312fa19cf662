package tui

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/engine"
)

// longSession has far more messages than are read at first; every 50th says "needle", and an
// output of a tool near the beginning does so in a line that is folded.
func longSession() (list []lathe.Message) {
	for i := 1; i <= 600; i += 2 {
		q, a := question(i, fmt.Sprintf("question %d", i)), reply(i+1, &lathe.Text{Text: fmt.Sprintf("answer %d", i+1)})
		switch {
		case i == 21:
			out := strings.Repeat("line\n", 60) + "the folded NEEDLE\n" + strings.Repeat("line\n", 60)
			a = reply(i+1, &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{Input: []byte(`{"command": "make"}`), Output: out}}, &lathe.Text{Text: "ran it"})
		case i%100 == 1:
			a = reply(i+1, &lathe.Text{Text: fmt.Sprintf("before\n\n%sa Needle in %d\n\nafter", strings.Repeat("a paragraph\n\n", 30), i+1)})
		}
		list = append(list, q, a)
	}
	return list
}

func TestFindInTheWholeConversation(t *testing.T) {
	d := withHistory(t, Options{}, longSession()...)
	d.press("ctrl+x", "/")
	d.typed("needle")
	d.shows("find in the conversation", "enter find")
	d.press("enter")
	d.shows("a Needle in 502", "1 of 7", "n older · N newer")
	for _, want := range []string{"a Needle in 402", "a Needle in 302", "a Needle in 202", "a Needle in 102", "the folded NEEDLE", "a Needle in 2"} {
		d.press("n")
		d.shows(want)
	}
	d.shows("7 of 7")
	d.press("n")
	d.shows("a Needle in 502", "1 of 7")
	d.typed("N")
	d.shows("a Needle in 2", "7 of 7")
	d.press("up", "down", "esc")
	d.shows("a Needle in 2")
	d.hides("find in the conversation")
}

// TestFindWritesOtherWords holds that words can be changed, that capitals count once there is
// one, and that leaving before anything was found goes back to where the person was.
func TestFindWritesOtherWords(t *testing.T) {
	d := withHistory(t, Options{}, longSession()...)
	before := strings.Join(d.lines(), "\n")
	d.typed("/find NEEDLE")
	d.press("enter")
	d.shows("the folded NEEDLE", "1 of 1")
	d.press("/")
	d.typed(" nowhere to be seen")
	d.press("enter")
	d.shows("nowhere in this session")
	d.press("/", "ctrl+u")
	d.typed("question 99")
	d.press("enter")
	d.shows("question 99", "1 of 1")
	d.press("/", "esc")
	if diff := cmp.Diff(before, strings.Join(d.lines(), "\n")); diff != "" {
		t.Errorf("the screen is not as before (-want +got):\n%s", diff)
	}
}

// TestFindMarksTheWords holds that what was found stands out on screen.
func TestFindMarksTheWords(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "漢字 Über alles, über"))
	d.press("ctrl+x", "/")
	d.typed("über")
	d.press("enter")
	d.shows("1 of 2")
	if out := d.app.View().Content; strings.Count(out, "7mÜber") != 1 || strings.Count(out, "7müber") != 1 {
		t.Errorf("not marked:\n%q", out)
	}
}

// TestFindLeavesOutWhatIsUndone holds that messages that are not shown are not found.
func TestFindLeavesOutWhatIsUndone(t *testing.T) {
	f := newFake()
	f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Revert: &lathe.Revert{MessageID: "msg_3"}}
	f.history["ses_1"] = []lathe.Message{question(1, "a needle"), reply(2, &lathe.Text{Text: "hay"}), question(3, "another needle")}
	d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
	d.typed("/find needle")
	d.press("enter")
	d.shows("1 of 1")
}

func TestToPrompts(t *testing.T) {
	d := withHistory(t, Options{}, longSession()...)
	d.press("alt+up", "alt+up", "alt+up", "alt+up", "alt+up", "alt+up")
	shown := strings.Join(d.lines(), "\n")
	d.press("alt+up")
	d.hides("▌ question 599")
	d.press("alt+down")
	if diff := cmp.Diff(shown, strings.Join(d.lines(), "\n")); diff != "" {
		t.Errorf("there and back again (-want +got):\n%s", diff)
	}
}

// noted keeps notes as the engine does.
type noted struct {
	*fakeEngine
	notes api.Notes
}

func (n *noted) Can() engine.Capabilities {
	return engine.Capabilities{Undo: n, Notes: n}
}

func (n *noted) Notes(context.Context, lathe.SessionID) (api.Notes, error) { return n.notes, nil }

func (n *noted) Note(_ context.Context, _ lathe.SessionID, in api.NotesChange) (api.Notes, error) {
	var out []api.Bookmark
	for _, b := range n.notes.Bookmarks {
		if b.Message != in.Unmark && (in.Mark == nil || b.Message != in.Mark.Message) {
			out = append(out, b)
		}
	}
	if in.Mark != nil {
		out = append(out, *in.Mark)
	}
	n.notes.Bookmarks = out
	return n.notes, n.fail
}

func withNotes(t *testing.T, have api.Notes, list ...lathe.Message) (*driver, *noted) {
	n := &noted{newFake(), have}
	n.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title"}
	n.history["ses_1"] = list
	return drive(t, Options{Engine: n, Start: Start{Session: "ses_1"}}), n
}

func TestBookmarks(t *testing.T) {
	d, n := withNotes(t, api.Notes{Bookmarks: []api.Bookmark{{Message: "msg_1", Text: "where it began"}}}, longSession()...)
	d.press("ctrl+x", "k")
	d.shows("bookmarked: question 599; ctrl+x j lists them")
	d.press("ctrl+x", "j")
	d.shows("bookmarks", "where it began", "question 599", "enter jump")
	d.press("enter")
	d.shows("▌ question 1")
	d.press("ctrl+x", "j", "down", "ctrl+r", "ctrl+u")
	d.typed("the end")
	d.press("enter")
	d.shows("the end")
	d.press("up", "ctrl+d")
	d.hides("where it began")
	d.press("enter")
	d.shows("▌ question 599")
	d.press("ctrl+x", "k")
	d.shows("the bookmark is gone")
	if len(n.notes.Bookmarks) != 0 {
		t.Errorf("bookmarks are left: %v", n.notes.Bookmarks)
	}
}

// TestUndoOffIsShownAfterOpening holds that the state line says so without a new event.
func TestUndoOffIsShownAfterOpening(t *testing.T) {
	d, _ := withNotes(t, api.Notes{UndoOff: "snapshots are switched off"}, question(1, "hello"))
	d.shows("undo off")
	d, _ = withNotes(t, api.Notes{}, question(1, "hello"))
	d.shows("undo on")
}

// TestStateLineShortensThePlace holds that the directory loses its beginning before it is left out.
func TestStateLineShortensThePlace(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"), reply(2, &lathe.Text{Text: "done"}))
	d.app.opts.Dir = "~/work/customers/north/billing/engine"
	d.send(tea.WindowSizeMsg{Width: 72, Height: 24})
	d.shows("build · acme/big · …", "/engine", "undo on")
	d.send(tea.WindowSizeMsg{Width: 40, Height: 24})
	d.hides("engine")
}

// TestUndoStandsWhereItIsNarrow holds that whether work can be undone is the last of the state
// line to go while the server can be reached, and that it cannot be reached stays in any case.
func TestUndoStandsWhereItIsNarrow(t *testing.T) {
	for _, lang := range []say.Language{say.English, say.Chinese} {
		for off, word := range map[string]string{"": "undo on", "snapshots are switched off": "undo off"} {
			n := &noted{newFake(), api.Notes{UndoOff: off}}
			n.sessions["ses_1"] = lathe.Session{ID: "ses_1", Title: "A title", Cost: 12_345_678}
			n.history["ses_1"] = []lathe.Message{question(1, "go"), reply(2, &lathe.Text{Text: "done"})}
			d := drive(t, Options{Engine: n, Start: Start{Session: "ses_1"}, Say: lang})
			d.app.opts.Dir, d.app.branch = "~/work/customers/north", "a-long-branch"
			d.app.link = engine.Link{Retry: d.now.Add(3 * time.Second)}
			for _, lost := range []bool{false, true} {
				d.app.lost = lost
				for _, width := range []int{16, 24, 30, 40, 60, 80, 200} {
					d.send(tea.WindowSizeMsg{Width: width, Height: 24})
					var want []string
					if width >= 24 {
						want = append(want, " build")
					}
					if lost {
						want = append(want, "⚠ "+lang.Text("not connected"))
					}
					if width >= 24 && !lost || width >= 40 {
						want = append(want, lang.Text(word))
					}
					lines := d.lines()
					for _, w := range want {
						if last := lines[len(lines)-1]; !strings.Contains(last, w) {
							t.Errorf("%v, %d wide, lost %v: no %q in %q", lang, width, lost, w, last)
						}
					}
				}
			}
		}
	}
}

// TestTimelineJumps holds that the timeline leads to a prompt far above what is on screen.
func TestTimelineJumps(t *testing.T) {
	d := withHistory(t, Options{}, longSession()...)
	d.press("ctrl+x", "g")
	d.typed("question 551")
	d.press("enter")
	d.shows("stay here")
	d.press("enter")
	d.hides("stay here", "▌ question 599")
	d.shows("▌ question 551")
}
