package shell

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// waiter is a way that has waited for a person.
type waiter struct {
	waited atomic.Int64
	closed atomic.Int32
}

func (w *waiter) Waited() time.Duration { return time.Duration(w.waited.Load()) }
func (w *waiter) Close()                { w.closed.Add(1) }

// What a command waits for a person is not taken from its time.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiter{}
		c := Command{Timeout: time.Minute, Network: w}
		begin := time.Now()
		d := c.deadline()
		defer d.Stop()
		w.waited.Store(int64(20 * time.Second))
		<-d.passed
		if took := time.Since(begin); took != 80*time.Second {
			t.Errorf("it had %s", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := (&Command{Timeout: time.Minute}).deadline()
		begin := time.Now()
		<-d.passed
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("without a way it had %s", took)
		}
		never := (&Command{}).deadline()
		never.Stop()
		if never.passed != nil {
			t.Error("without a timeout it has one")
		}
	})
}

// A way is closed when all of its command is gone, and at once if it does not start.
func TestNetworkIsClosed(t *testing.T) {
	r := New(Options{})
	defer r.Close()
	w := &waiter{}
	if _, err := r.Run(t.Context(), Command{Script: "true", Dir: t.TempDir(), Network: w}); err != nil || w.closed.Load() != 1 {
		t.Errorf("after a command: %d times, %v", w.closed.Load(), err)
	}
	bad := &waiter{}
	if _, err := r.Run(t.Context(), Command{Script: "true", Dir: "/none", Network: bad}); err == nil || bad.closed.Load() != 1 {
		t.Errorf("one that does not start: %d times, %v", bad.closed.Load(), err)
	}
	if _, err := r.Start(Command{Script: "true", Dir: "/none", Network: bad}, StartOptions{}); err == nil || bad.closed.Load() != 2 {
		t.Errorf("one in the background that does not start: %d times, %v", bad.closed.Load(), err)
	}
	live := &waiter{}
	p, err := r.Start(Command{Script: "read x", Dir: t.TempDir(), Network: live}, StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if live.closed.Load() != 0 {
		t.Error("it was closed while the command runs")
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if live.closed.Load() != 1 {
		t.Errorf("in the background: %d times", live.closed.Load())
	}
}
