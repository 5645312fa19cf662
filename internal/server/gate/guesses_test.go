package gate

import (
	"fmt"
	"testing"
	"time"
)

// Clients are told apart, and their number is bounded.
func TestGuessers(t *testing.T) {
	now := time.Unix(1e9, 0)
	g := guesses{now: func() time.Time { return now }}
	wrong := func() bool { return false }
	for range guessBurst {
		g.try("[2001:db8::1]:1", wrong)
	}
	for remote, waits := range map[string]bool{"[2001:db8::2]:9": true, "[2001:db8:0:1::1]:1": false, "192.0.2.1:1": false, "@": false} {
		if _, wait := g.try(remote, wrong); wait != waits {
			t.Errorf("%s waits: %v", remote, wait)
		}
	}
	for i := range 2 * mostGuessers {
		g.try(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256), wrong)
	}
	if len(g.by) > mostGuessers {
		t.Errorf("%d clients are known", len(g.by))
	}
}
