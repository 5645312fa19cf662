package rope

import (
	"strings"
	"testing"
)

// A rope says what a string would.
func FuzzText(f *testing.F) {
	f.Add("a,bc,,def", 1, 4)
	f.Add(strings.Repeat("日本語,", 40)+strings.Repeat("x", 300_000)+",end", 100, 200_000)
	f.Fuzz(func(t *testing.T, in string, from, to int) {
		var text Text
		var want string
		for _, s := range strings.Split(in, ",") {
			text.Append(s)
			want += s
		}
		if got := text.String(); got != want || text.Len() != len(want) {
			t.Fatalf("%d bytes %q, want %d %q", text.Len(), got, len(want), want)
		}
		lo, hi := min(max(from, 0), len(want)), min(max(to, 0), len(want))
		if got, want := text.Slice(from, to), want[lo:max(lo, hi)]; got != want {
			t.Fatalf("from %d to %d: %q, want %q", from, to, got, want)
		}
		for at := lo; at < hi; {
			piece := text.Piece(at, hi)
			if piece == "" || !strings.HasPrefix(want[at:hi], piece) {
				t.Fatalf("from %d to %d: a piece %q", at, hi, piece)
			}
			at += len(piece)
		}
		if !text.HasPrefix(want[:lo]) || text.HasPrefix(want+"x") || lo > 0 && text.HasPrefix(want[:lo-1]+string(want[lo-1]+1)) {
			t.Fatalf("it begins otherwise than %q", want[:lo])
		}
	})
}

// Room for a long text is never twice what it holds.
func TestRoom(t *testing.T) {
	var text Text
	for range 100_000 {
		text.Append("0123456789")
	}
	room := 0
	for _, p := range text.pieces {
		room += p.Cap()
	}
	if room > text.Len()+maxPiece {
		t.Errorf("room for %d bytes where %d are held", room, text.Len())
	}
}
