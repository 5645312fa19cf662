package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/memory"
)

func TestStash(t *testing.T) {
	m := memory.Open(t.TempDir(), "/p")
	d := drive(t, Options{Desk: Desk{Memory: m}})
	d.press("ctrl+s")
	d.shows("nothing was put aside")
	d.typed("a long thought")
	d.press("ctrl+s")
	d.shows("put aside; ctrl+s takes it back", "❯ ask anything")
	d.app.toast = toast{}
	d.typed("/stash second one")
	d.press("esc", "enter")
	d.press("ctrl+s")
	d.shows("❯ second one")
	d.hides("put aside")
	if n := len(m.Stashed()); n != 1 {
		t.Errorf("%d are left", n)
	}
	// From the list: what is written takes the place of what is taken.
	d.press("ctrl+p")
	d.typed("words after it")
	d.press("enter")
	d.shows("put aside", "a long thought")
	d.press("enter")
	d.shows("❯ a long thought", "put aside in its place")
	if l := m.Stashed(); len(l) != 1 || l[0].Draft.Text != "second one" {
		t.Errorf("the stash holds %+v", l)
	}
	d.press("ctrl+c")
	d.typed("/stash")
	d.press("esc", "enter", "ctrl+d")
	d.shows("press ctrl+d again to delete it", "second one")
	d.press("ctrl+d")
	d.hides("second one")
	if l := m.Stashed(); len(l) != 0 {
		t.Errorf("the stash still holds %+v", l)
	}
	d.shows("nothing is put aside")
}

// TestStashLater takes back in another run what was put aside, pasted text
// included, in the directory where that was done.
func TestStashLater(t *testing.T) {
	dir := t.TempDir()
	paste := strings.Repeat("a pasted 文 line\n", 20)
	d := drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.typed("look at ")
	d.send(tea.PasteMsg{Content: paste})
	d.press("ctrl+s")
	d.shows("put aside", "❯ ask anything")

	d = drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/elsewhere")}})
	d.press("ctrl+s")
	d.shows("nothing was put aside")

	d = drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.press("ctrl+s")
	d.shows("look at [pasted text 1, 20 lines]")
	if got, want := d.app.input.Value(), "look at "+strings.TrimRight(paste, "\n"); strings.TrimRight(got, "\n") != want {
		t.Errorf("it would send %q", got)
	}
}

// TestStashKeepsText holds that a text that cannot be put aside stays where it is.
func TestStashKeepsText(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stash"), nil, 0o600); err != nil { // in the way of the directory
		t.Fatal(err)
	}
	d := drive(t, Options{Desk: Desk{Memory: memory.Open(dir, "/p")}})
	d.typed("a long thought")
	_, cmd := d.app.Update(stroke("ctrl+s"))
	d.typed(", and more")
	d.do(cmd)
	d.shows("❯ a long thought, and more", "put a text aside")

	d.app.toast = toast{}
	d.app.input.Attach(edit.File{Name: "a.png", MIME: "image/png"}, "picture")
	d.press("ctrl+s")
	d.shows("pictures cannot be put aside", "a long thought, and more")
}
