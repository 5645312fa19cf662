// Package rope holds text that grows: appending copies only what is new, and no
// second copy is made to make room.
package rope

import (
	"math"
	"strings"
	"sync"
)

// A piece is as large as the text before it, within these bounds: a short text
// takes little, and a long one wastes at most the largest.
const minPiece, maxPiece = 64, 128 << 10

// Text is text that grows. The zero value is empty. It is safe for concurrent use.
type Text struct {
	mu     sync.Mutex
	pieces []*strings.Builder // each grown once, so that it never moves; all but the last are full
	size   int
}

// Append adds s.
func (t *Text) Append(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for s != "" {
		n := t.room(len(s))
		t.pieces[len(t.pieces)-1].WriteString(s[:n])
		t.size += n
		s = s[n:]
	}
}

// room returns how many of n bytes fit into the last piece, at least one. The
// caller holds mu.
func (t *Text) room(n int) int {
	if i := len(t.pieces) - 1; i >= 0 && t.pieces[i].Len() < t.pieces[i].Cap() {
		return min(n, t.pieces[i].Cap()-t.pieces[i].Len())
	}
	p := &strings.Builder{}
	p.Grow(min(max(t.size, n, minPiece), maxPiece))
	t.pieces = append(t.pieces, p)
	return min(n, p.Cap())
}

// Len returns the length in bytes.
func (t *Text) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// String returns the text.
func (t *Text) String() string { return t.Slice(0, math.MaxInt) }

// Slice returns the bytes from the first offset up to the second. Offsets beyond
// the text are taken for its end. What lies within one piece is not copied.
func (t *Text) Slice(from, to int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	from, to = max(0, from), min(to, t.size)
	if from >= to {
		return ""
	}
	var b strings.Builder
	at := 0
	for _, p := range t.pieces {
		lo, hi := max(from-at, 0), min(to-at, p.Len())
		if hi-lo == to-from {
			return p.String()[lo:hi]
		}
		if lo < hi {
			b.Grow(to - from - b.Len())
			b.WriteString(p.String()[lo:hi])
		}
		at += p.Len()
		if at >= to {
			break
		}
	}
	return b.String()
}

// Piece returns what can be had without a copy of the bytes from the first offset up
// to the second: it begins there and is empty only if there are none.
func (t *Text) Piece(from, to int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	from = max(0, from)
	at := 0
	for _, p := range t.pieces {
		if lo, hi := from-at, min(to-at, p.Len()); lo < hi {
			return p.String()[lo:hi]
		}
		at += p.Len()
		if at > from {
			break
		}
	}
	return ""
}

// HasPrefix reports whether the text begins with s.
func (t *Text) HasPrefix(s string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(s) > t.size {
		return false
	}
	for _, p := range t.pieces {
		n := min(p.Len(), len(s))
		if p.String()[:n] != s[:n] {
			return false
		}
		s = s[n:]
	}
	return true
}
