package events

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/opencode/wire"
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
	f.admitLocked("")
	piece := func(i int) wire.Output { return wire.Raw(fmt.Appendf(nil, "%-65536d", i)) }
	read := func(m *member) string {
		got, _, _, err := m.take()
		if err != nil {
			return err.Error()
		}
		return string(bytes.TrimSpace(got.Bytes()[:8]))
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

// A long text that goes to all costs nobody the place, and is let go of when everybody
// has it.
func TestFanoutLongText(t *testing.T) {
	f := &fanout{wake: make(chan struct{}), members: map[*member]struct{}{}}
	quick, slow := &member{f: f, ready: make(chan struct{})}, &member{f: f, ready: make(chan struct{})}
	for _, m := range []*member{quick, slow} {
		if !f.enroll(m) {
			t.Fatal("not let in")
		}
	}
	f.admitLocked("")
	large := wire.EncodePartDelta(lathe.PartDelta{}, wire.TextOf(strings.Repeat("x", fanoutKeep)), "evt_1")
	for range 3 {
		_ = f.publish(large)
	}
	for _, m := range []*member{quick, slow} {
		for range 3 {
			if piece, _, _, err := m.take(); piece == nil || err != nil {
				t.Fatalf("the text is not there: %v", err)
			}
		}
		if _, _, wake, err := m.take(); wake == nil || err != nil {
			t.Fatalf("at the end: %v", err)
		}
	}
	if f.size != 0 || len(f.log) != 0 {
		t.Errorf("%d bytes are kept, %d pieces", f.size, len(f.log))
	}
}
