package worktree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDirty(t *testing.T) {
	p := newPlace(t)
	if files, all, err := p.open(p.top).Dirty(t.Context(), 5); err != nil || all != 0 || len(files) != 0 {
		t.Fatalf("a clean checkout has %q (%d), %v", files, all, err)
	}
	p.write("repo/a.txt", "two\n")
	p.write("repo/ignored/x", "x")
	p.write("repo/b 詩.txt", "x")
	p.write("repo/new/d.txt", "x")
	files, all, err := p.open(p.top).Dirty(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.txt", "b 詩.txt"}, files); diff != "" || all != 3 {
		t.Errorf("%d files (-want +got):\n%s", all, diff)
	}
}
