package diff

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// built are pairs of texts, as numbered lines, that cost a comparison the most.
var built = map[string]func(n int) (a, b []uint32){
	"random bits": func(n int) ([]uint32, []uint32) {
		r := rand.New(rand.NewPCG(1, 2))
		return times(n, func(int) uint32 { return r.Uint32N(2) }), times(n, func(int) uint32 { return r.Uint32N(2) })
	},
	"every second one more": func(n int) ([]uint32, []uint32) {
		return times(n, func(int) uint32 { return 0 }), times(n, func(i int) uint32 { return uint32(i % 2) })
	},
	"periods": func(n int) ([]uint32, []uint32) {
		return times(n, func(i int) uint32 { return uint32(i % 7) }), times(n, func(i int) uint32 { return uint32(i % 11) })
	},
	"backwards": func(n int) ([]uint32, []uint32) {
		return times(n, func(i int) uint32 { return uint32(i) }), times(n, func(i int) uint32 { return uint32(n - i) })
	},
	"shuffled": func(n int) ([]uint32, []uint32) {
		b := times(n, func(i int) uint32 { return uint32(i) })
		rand.New(rand.NewPCG(3, 4)).Shuffle(n, func(i, j int) { b[i], b[j] = b[j], b[i] })
		return times(n, func(i int) uint32 { return uint32(i) }), b
	},
	"one and many": func(n int) ([]uint32, []uint32) {
		return times(n, func(i int) uint32 { return uint32(i % 2) }), times(n/100, func(int) uint32 { return 1 })
	},
}

func times(n int, f func(int) uint32) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// TestWorkIsBounded counts what comparisons cost beyond their limit: in proportion
// to the texts, however they are built, and the result is a diff all the same.
func TestWorkIsBounded(t *testing.T) {
	const limit, perLine = 10_000, 200
	for name, build := range built {
		for _, n := range []int{5_000, 40_000} {
			a, b := build(n)
			m := newMatcher(a, b, limit)
			m.run(0, len(m.a), 0, len(m.b))
			if over := -m.steps; over > perLine*(len(a)+len(b)) {
				t.Errorf("%s: %d lines cost %d steps, %d for each", name, len(a)+len(b), over, over/(len(a)+len(b)))
			}
			if !slices.Equal(unchanged(a, m.gone), unchanged(b, m.added)) {
				t.Errorf("%s: what is kept of the two texts differs", name)
			}
		}
	}
}

func unchanged(lines []uint32, changed []bool) (out []uint32) {
	for i, l := range lines {
		if !changed[i] {
			out = append(out, l)
		}
	}
	return out
}

// TestManyShortLines compares and reads texts of a million lines, and one hunk header
// that tells of more lines than there are.
func TestManyShortLines(t *testing.T) {
	old, fresh := strings.Repeat("\n", 500_000), strings.Repeat("a\n\n", 250_000)
	text := Unified("a", "b", old, fresh, Context)
	gone, added := 0, 0
	for _, row := range Read(text) {
		switch row.Mark {
		case MarkGone:
			gone++
		case MarkNew:
			added++
		}
	}
	if wantAdded, wantGone := Count(old, fresh); added != wantAdded || gone != wantGone || added-gone != 0 {
		t.Errorf("%d added and %d removed, want %d and %d", added, gone, wantAdded, wantGone)
	}
	if rows := Read("@@ -1,999999999 +1,999999999 @@\n+x"); len(rows) != 2 {
		t.Errorf("%d rows of a hunk that is cut short", len(rows))
	}
}
