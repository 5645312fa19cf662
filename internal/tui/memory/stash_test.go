package memory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/edit"
)

func TestStash(t *testing.T) {
	dir := t.TempDir()
	m, beside := Open(dir, "/p"), Open(dir, "/p")
	at := time.Unix(1_700_000_000, 0)
	first, second := edit.Draft{Text: "one\nmore", Caret: 3}, edit.Draft{Text: "see [pasted text 1, 9 lines]", Chips: map[string]string{"[pasted text 1, 9 lines]": "x"}}
	for _, d := range []edit.Draft{first, second} { // in the same moment
		if err := m.Stash(d, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := Open(dir, "/q").Stashed(); got != nil {
		t.Errorf("another project has %v", got)
	}
	want := []Stashed{{"01700000000000000001", at.Add(1), second}, {"01700000000000000000", at, first}}
	if diff := cmp.Diff(want, beside.Stashed()); diff != "" {
		t.Errorf("stash (-want +got):\n%s", diff)
	}
	for range 2 { // the second time it is gone already
		if err := beside.Unstash(want[0].ID); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(want[1:], m.Stashed()); diff != "" {
		t.Errorf("after one was taken (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(m.stashDir(), want[1].ID+".json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file: %v, %v", info, err)
	}
}

func TestStashRefuses(t *testing.T) {
	m := Open(t.TempDir(), "/p")
	for _, id := range []string{"", "../../x", "1", "0170000000000000000x"} {
		if err := m.Unstash(id); err == nil {
			t.Errorf("%q could be deleted", id)
		}
	}
	if err := m.Stash(edit.Draft{Text: strings.Repeat("x", maxDraft)}, time.Unix(0, 0)); err == nil {
		t.Error("a text of any size is kept")
	}
	for range maxStash {
		if err := m.Stash(edit.Draft{Text: "x"}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Stash(edit.Draft{Text: "x"}, time.Unix(0, 0)); err == nil || !strings.Contains(err.Error(), "/stash") {
		t.Errorf("the stash grows without end: %v", err)
	}
	if err := os.WriteFile(filepath.Join(m.stashDir(), "00000000000000000000.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Stashed()); n != maxStash-1 {
		t.Errorf("%d are read beside a broken one", n)
	}
}
