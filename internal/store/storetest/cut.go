package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// RunCut tests a store whose connection is lost at each of its messages. open opens a
// store at a place, and fails its connection at the nth message: before it is sent, or
// after, so that nobody hears what became of it. The function it
// returns ends that, and reports whether it came to it. A write that failed is not stored and can be made again; one that did not is stored.
func RunCut(t *testing.T, u Under, step int, open func(t testing.TB, at Place, n int, after bool) (s *Opened, calm func() (struck bool))) {
	want := states(t, u)
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for n := 1; ; n += step {
				at := u.New(t)
				s, calm := open(t, at, n, after)
				again, struck := playCut(t, s, calm, n, want)
				failed += again
				must(t, s.Close())
				if t.Failed() {
					return
				}
				if !struck {
					break
				}
			}
			t.Logf("%d writes failed, and were made again", failed)
		})
	}
}

// playCut makes the writes of the script, those that fail once more.
func playCut(t testing.TB, s *Opened, calm func() bool, n int, want []stored) (failed int, struck bool) {
	t.Helper()
	for i, w := range script() {
		err := w.do(t.Context(), s)
		if err == nil {
			continue
		}
		failed++
		if diff := cmp.Diff(want[i], read(t, s)); diff != "" {
			t.Errorf("cut at %d: %s failed (%v) and changed something (-want +got):\n%s", n, w.name, err, diff)
			return failed, true
		}
		must(t, w.do(t.Context(), s))
		if diff := cmp.Diff(want[i+1], read(t, s)); diff != "" {
			t.Errorf("cut at %d: %s (-want +got):\n%s", n, w.name, diff)
			return failed, true
		}
	}
	struck = calm()
	if diff := cmp.Diff(want[len(want)-1], read(t, s)); diff != "" {
		t.Errorf("cut at %d: in the end (-want +got):\n%s", n, diff)
	}
	return failed, struck
}
