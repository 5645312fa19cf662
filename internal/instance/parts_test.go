package instance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakePart is a part whose every step a test decides.
type fakePart struct {
	name    string
	start   func(ctx context.Context, changed func()) error
	status  string
	close   func() error
	started atomic.Int32
	closed  atomic.Int32
}

func (f *fakePart) Name() string { return f.name }
func (f *fakePart) Start(ctx context.Context, changed func()) error {
	f.started.Add(1)
	if f.start == nil {
		return nil
	}
	return f.start(ctx, changed)
}
func (f *fakePart) Status() string { return f.status }
func (f *fakePart) Close() error {
	f.closed.Add(1)
	if f.close == nil {
		return nil
	}
	return f.close()
}

func held(t *testing.T, parts ...*fakePart) *Parts {
	t.Helper()
	p := &Parts{}
	for _, f := range parts {
		if err := p.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestAPartThatFailsHarmsNoOther starts parts of which one fails and one panics: the
// others are ready, each says how it is, and only what was started is closed.
func TestAPartThatFailsHarmsNoOther(t *testing.T) {
	good, idle := &fakePart{name: "good", status: "3 tools"}, &fakePart{name: "idle"}
	bad := &fakePart{name: "bad", start: func(context.Context, func()) error { return errors.New("no such program") }}
	wild := &fakePart{name: "wild", start: func(context.Context, func()) error { panic("nil map") }, close: func() error { panic("again") }}
	p := held(t, good, bad, wild, idle)
	for name, want := range map[string]bool{"good": true, "bad": false, "wild": false, "none": false} {
		if err := p.Start(t.Context(), name); (err == nil) != want {
			t.Errorf("start %s: %v", name, err)
		}
	}
	want := []PartStatus{
		{"good", Ready, "3 tools"}, {"bad", Failed, "no such program"}, {"wild", Failed, `part "wild" panicked: nil map`}, {"idle", Waiting, ""},
	}
	if diff := cmp.Diff(want, p.Status()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if err := p.Close(); err == nil || err.Error() != `close wild: part "wild" panicked: again` {
		t.Errorf("close: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	got := []int32{good.closed.Load(), bad.closed.Load(), wild.closed.Load(), idle.closed.Load()}
	if diff := cmp.Diff([]int32{1, 1, 1, 0}, got); diff != "" {
		t.Errorf("times closed (-want +got):\n%s", diff)
	}
	if err := p.Start(t.Context(), "idle"); !errors.Is(err, ErrClosed) {
		t.Errorf("start after the end: %v", err)
	}
}

// TestAPartStartsOnce lets many callers need a part at once: it starts once, a failure
// is told to all of them, and the next one who needs it tries again.
func TestAPartStartsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &fakePart{name: "slow"}
		slow.start = func(context.Context, func()) error {
			time.Sleep(time.Second)
			if slow.started.Load() == 1 {
				return errors.New("not yet")
			}
			return nil
		}
		p := held(t, slow)
		var wg sync.WaitGroup
		var failed atomic.Int32
		for range 5 {
			wg.Go(func() {
				if p.Start(t.Context(), "slow") != nil {
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		if n := slow.started.Load(); n != 1 || failed.Load() != 5 {
			t.Errorf("started %d times, %d callers were told", n, failed.Load())
		}
		for range 2 {
			if err := p.Start(t.Context(), "slow"); err != nil {
				t.Error(err)
			}
		}
		if n := slow.started.Load(); n != 2 {
			t.Errorf("started %d times", n)
		}
	})
}

// TestPartsEndWhileOneStarts closes an instance while a part is on its way: the start
// is cancelled and waited for, whoever waits for it is told, and what it has by then
// is closed.
func TestPartsEndWhileOneStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &fakePart{name: "slow", start: func(ctx context.Context, _ func()) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}}
		p := held(t, slow)
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- p.Start(t.Context(), "slow") }()
		}
		synctest.Wait()
		if diff := cmp.Diff([]PartStatus{{"slow", Starting, ""}}, p.Status()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				t.Errorf("start: %v", err)
			}
		}
		if slow.closed.Load() != 1 {
			t.Error("it was not closed")
		}
	})
}

// TestAPartTellsOfAChange hands on which part's offer has changed.
func TestAPartTellsOfAChange(t *testing.T) {
	var tell func()
	p := held(t, &fakePart{name: "tools", start: func(_ context.Context, changed func()) error { tell = changed; return nil }})
	if err := p.Add(&fakePart{name: "tools"}); err == nil {
		t.Error("two parts of one name were taken")
	}
	var got []string
	p.OnChange(func(name string) { got = append(got, name) })
	if err := p.Start(t.Context(), "tools"); err != nil {
		t.Fatal(err)
	}
	tell()
	if diff := cmp.Diff([]string{"tools"}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
