package server

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"lathe/internal/bus"
)

// A log keeps what somebody needs, up to a limit; who is behind that is closed.
func TestFanoutLog(t *testing.T) {
	f := &fanout{wake: make(chan struct{}), members: map[*member]struct{}{}}
	quick, slow := &member{f: f, ready: make(chan struct{})}, &member{f: f, ready: make(chan struct{})}
	for _, m := range []*member{quick, slow} {
		if !f.enroll(m) {
			t.Fatal("not let in")
		}
	}
	f.admitLocked()
	piece := func(i int) []byte { return fmt.Appendf(nil, "%-65536d", i) }
	read := func(m *member) string {
		got, _, _, err := m.take()
		if err != nil {
			return err.Error()
		}
		return string(bytes.TrimSpace(got[:8]))
	}
	for i := range 100 {
		if err := f.publish(piece(i)); err != nil {
			t.Fatal(err)
		}
		if got := read(quick); got != fmt.Sprint(i) {
			t.Fatalf("piece %d is %q", i, got)
		}
	}
	if f.size != 100<<16 {
		t.Errorf("%d bytes are kept for the slow one", f.size)
	}
	if got := read(slow); got != "0" {
		t.Errorf("the slow one has %q", got)
	}
	for i := range 1000 {
		_ = f.publish(piece(i))
		read(quick)
	}
	if f.size > fanoutKeep+1<<16 {
		t.Errorf("%d bytes are kept", f.size)
	}
	if _, _, _, err := slow.take(); !errors.Is(err, bus.ErrSlow) {
		t.Errorf("the slow one goes on: %v", err)
	}
	delete(f.members, slow)
	_ = f.publish(piece(0))
	if f.size > fanoutIdle {
		t.Errorf("%d bytes are kept for nobody", f.size)
	}
	if got := read(quick); got != "0" {
		t.Errorf("after a trim: %q", got)
	}
	if _, _, wake, err := quick.take(); wake == nil || err != nil {
		t.Errorf("at the end: %v", err)
	}
}
