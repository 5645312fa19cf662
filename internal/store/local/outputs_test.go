package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	put := func(name string, size int, age time.Duration) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put("tool_new", 40, time.Hour)
	put("tool_mid", 40, 2*time.Hour)
	put("tool_over", 40, 3*time.Hour)
	put("tool_small_but_older", 1, 4*time.Hour)
	put("tool_old", 1, 8*24*time.Hour)
	put("notes.txt", 999, 30*24*time.Hour)
	for _, session := range []string{"ses_over", "ses_kept"} {
		if err := os.Mkdir(filepath.Join(dir, session), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put("ses_over/tool_x", 1, 9*24*time.Hour)
	put("ses_kept/tool_y", 1, time.Minute)
	l := Outputs{Dir: dir, MaxTotal: 100, Now: func() time.Time { return now }}
	got, err := l.Clean(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := Cleaned{Removed: 4, Left: 3, RemovedBytes: 43, LeftBytes: 81}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cleaned (-want +got):\n%s", diff)
	}
	entries, _ := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"notes.txt", "ses_kept", "tool_mid", "tool_new"}, names); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	if _, err := (Outputs{Dir: filepath.Join(dir, "none")}).Clean(t.Context()); err != nil {
		t.Errorf("no directory: %v", err)
	}
}
