package instance

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestUncommitted begins looks early, late and twice.
func TestUncommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		u := newUncommitted(func(ctx context.Context) string {
			looks++
			n := looks
			time.Sleep(10 * time.Millisecond)
			return fmt.Sprint("look ", n)
		})
		defer u.close()
		check := func(want string) {
			t.Helper()
			if got := u.take().wait(t.Context()); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		u.expect()
		u.expect() // one is enough
		synctest.Wait()
		check("look 1")
		check("look 2") // each is given once
		u.expect()
		time.Sleep(dirtyFresh + time.Millisecond)
		check("look 4") // what was seen early is too old by now
	})
}

// TestUncommittedSlowly looks where git does not come back.
func TestUncommittedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUncommitted(func(ctx context.Context) string {
			<-ctx.Done()
			return "too late"
		})
		if got := u.take().wait(t.Context()); got != "" {
			t.Errorf("told %q", got)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if got := u.take().wait(gone); got != "" {
			t.Errorf("told %q after it was cancelled", got)
		}
		u.close() // or the test waits for ever
		if got := u.take().wait(t.Context()); got != "" {
			t.Errorf("told %q after it was closed", got)
		}
	})
}
