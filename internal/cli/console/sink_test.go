package console

import (
	"bytes"
	"testing"
)

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestSink holds that a failed write ends the work once and fails all later ones.
func TestSink(t *testing.T) {
	stops := 0
	s := &Sink{To: brokenWriter{bytes.ErrTooLarge}, Stop: func(error) { stops++ }}
	for range 3 {
		if n, err := s.Write([]byte("x")); n != 0 || err == nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if stops != 1 || s.Failed() == nil {
		t.Errorf("stopped %d times, %v", stops, s.Failed())
	}
}
