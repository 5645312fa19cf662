package search

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A slow expression makes the pieces small, also within a long line, and a fast one
// makes them as large as they come.
func TestPace(t *testing.T) {
	e, err := compile(GrepOptions{Pattern: "x"})
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("a"), 1<<20)
	slow := pace{}
	var sizes []int
	for range 4 {
		n := slow.next(bytes.Repeat([]byte("ab\n"), 100_000), e)
		sizes = append(sizes, n)
		slow.took(n, time.Second)
	}
	if diff := cmp.Diff([]int{16386, 4098, 1026, 1026}, sizes); diff != "" {
		t.Errorf("slow (-want +got):\n%s", diff)
	}
	if n := slow.next(line, e); n > 64<<10 {
		t.Errorf("a slow expression gets %d bytes of a line", n)
	}
	fast := pace{}
	for range 8 {
		fast.took(fast.next(line, e), time.Microsecond)
	}
	if n := fast.next(line, e); n != len(line) {
		t.Errorf("a fast expression gets %d bytes of %d", n, len(line))
	}
}

// What is found does not depend on the pieces.
func TestPiecesFindTheSame(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 60_000 {
		text.WriteString(strings.Repeat("y", i%40))
		if i%997 == 0 {
			text.WriteString("needle")
		}
		text.WriteString("\n")
	}
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Grep(t.Context(), file, GrepOptions{Pattern: "n[e]+dle", Limit: 1000})
	if err != nil || len(got.Matches) != 61 {
		t.Fatalf("%d matches, %v", len(got.Matches), err)
	}
	for i, m := range got.Matches {
		if m.Line != i*997+1 || !strings.HasPrefix(text.String()[m.Offset:], m.Text) {
			t.Errorf("match %d: line %d, offset %d", i, m.Line, m.Offset)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Grep(ctx, file, GrepOptions{Pattern: "x"}); err == nil {
		t.Error("an ended context is not told")
	}
}
