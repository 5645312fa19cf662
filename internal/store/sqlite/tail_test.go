package sqlite

import (
	"testing"

	"lathe/internal/store/storetest"
)

// BenchmarkTailOfSteps reads the uncompacted tail of a turn of 400 tool steps.
func BenchmarkTailOfSteps(b *testing.B) {
	s := open(b, b.TempDir())
	ses := storetest.Steps(b, s.Store, 400)
	b.ReportAllocs()
	for b.Loop() {
		msgs, err := s.TurnTail(b.Context(), ses)
		must(b, err)
		if len(msgs) != 402 {
			b.Fatal(len(msgs))
		}
	}
}
