package events

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// Packed marks tell what a plain list would.
func TestMarks(t *testing.T) {
	type mark struct {
		seq uint64
		end int
	}
	r := rand.New(rand.NewPCG(1, 2))
	var m marks
	var all []mark
	if end, ok := m.at(7); ok {
		t.Errorf("%d where there is none", end)
	}
	now := mark{seq: 100, end: 3}
	for range 5000 {
		m.add(now.seq, now.end)
		all = append(all, now)
		now.seq += 1 + r.Uint64N(400)
		now.end += r.IntN(100_000)
	}
	for seq := uint64(90); seq < now.seq+10; seq += 1 + r.Uint64N(50) {
		i := sort.Search(len(all), func(i int) bool { return all[i].seq > seq })
		end, ok := m.at(seq)
		if ok != (i > 0) || ok && end != all[i-1].end {
			t.Fatalf("%d at %d, %v", end, seq, ok)
		}
	}
	if n := len(m.packed); n > 6*len(all) {
		t.Errorf("%d bytes for %d marks", n, len(all))
	}
}
