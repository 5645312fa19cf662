package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tui/edit"
)

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	m := Open(dir, "/a")
	for _, s := range []string{"one", "two\nlines 漢字", "with \x1b[2J escape", strings.Repeat("x", maxText+1)} {
		if err := m.Sent(s); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"one", "two\nlines 漢字", "with  escape"}
	if diff := cmp.Diff(want, Open(dir, "/a").History()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got := Open(dir, "/b").History(); got != nil {
		t.Errorf("another project has %q", got)
	}
	info, err := os.Stat(m.history)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history can be read by others: %v, %v", info, err)
	}
}

func TestHistoryStaysSmall(t *testing.T) {
	m := Open(t.TempDir(), "/a")
	text := strings.Repeat("y", maxText-10)
	for i := range 40 {
		if err := m.Sent(fmt.Sprintf("%s%d", text, i)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(m.history)
	if err != nil || info.Size() > maxFile {
		t.Fatalf("%v, %v", info, err)
	}
	list := m.History()
	if len(list) == 0 || !strings.HasSuffix(list[len(list)-1], "y39") {
		t.Errorf("%d items are left", len(list))
	}
}

func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	m := Open(dir, "/a")
	if err := m.Sent("good"); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(m.history, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("{half\n\"also good\"\n\"cut")
	f.Close()
	if diff := cmp.Diff([]string{"good", "also good"}, m.History()); diff != "" {
		t.Error(diff)
	}
	if err := os.MkdirAll(filepath.Join(dir, "drafts"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.draftFile("ses_1"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d := m.Draft("ses_1"); d.Text != "" {
		t.Errorf("draft %+v", d)
	}
}

func TestDrafts(t *testing.T) {
	m := Open(t.TempDir(), "/a")
	want := edit.Draft{Text: "see [pasted text 1, 9 lines] 漢", Caret: 4, Chips: map[string]string{"[pasted text 1, 9 lines]": "a\nb"}}
	for _, id := range []string{"", "ses_1", "../../ses_2"} {
		if err := m.Keep(id, want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, m.Draft(id)); diff != "" {
			t.Errorf("draft of %q (-want +got):\n%s", id, diff)
		}
		for range 2 {
			if err := m.Keep(id, edit.Draft{}); err != nil {
				t.Fatal(err)
			}
		}
		if d := m.Draft(id); d.Text != "" {
			t.Errorf("%q is still there", d.Text)
		}
	}
}
