package turn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lathe/internal/turn"
)

// What is recorded has as long as the store needs, and a few seconds once the turn is stopped.
func TestSaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		save, done := turn.Saving(ctx)
		defer done()
		time.Sleep(time.Hour)
		if save.Err() != nil {
			t.Errorf("after an hour: %v", context.Cause(save))
		}
		stop()
		time.Sleep(time.Second)
		synctest.Wait()
		if save.Err() != nil {
			t.Errorf("a second after the stop: %v", context.Cause(save))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := context.Cause(save); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a minute after the stop: %v", err)
		}
	})
}
