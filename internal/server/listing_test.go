package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A tree that takes long to read is answered from what is known, and read again
// beside that.
func TestListing(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	at := time.Unix(1000, 0)
	step := time.Second // what one look at the clock takes
	now := func() time.Time { at = at.Add(step); return at }
	var later []func(context.Context)
	background := func(work func(context.Context)) { later = append(later, work) }
	var l listing
	t.Cleanup(l.close)
	expect := func(what string, want ...string) {
		t.Helper()
		paths, err := l.of(t.Context(), dir, now, background)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, paths.Names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	expect("first", "a")
	put("b")
	expect("a moment later", "a")
	at = at.Add(filesFresh)
	expect("no longer fresh", "a")
	expect("while it is read again", "a")
	if len(later) != 1 {
		t.Fatalf("read again %d times, want 1", len(later))
	}
	later[0](t.Context())
	expect("read again", "a", "b")
	put("c")
	at = at.Add(2 * filesKept)
	expect("after long", "a", "b", "c")
	step = 0
	at = at.Add(2 * filesKept)
	expect("read in no time", "a", "b", "c")
	put("d")
	expect("a small tree is read each time", "a", "b", "c", "d")
	if _, err := l.of(t.Context(), filepath.Join(dir, "none"), now, background); err == nil {
		t.Error("a directory that is not there has a listing")
	}
}
