package forward

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/store"
)

// slow is a queue of the directory /d, whose worker takes what is added when it is told to.
type slow struct {
	store.Queue
	worker store.Worker
	mu     sync.Mutex
	open   []store.Work
	looks  int
}

func (q *slow) Add(_ context.Context, w store.Work) (int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.N = int64(len(q.open)) + 7
	q.open = append(q.open, w)
	return w.N, nil
}

func (q *slow) Offers(context.Context, string) (string, []store.Worker, error) {
	return "/d", []store.Worker{q.worker}, nil
}

func (q *slow) State(context.Context) (store.QueueState, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looks++
	return store.QueueState{Workers: []store.Worker{q.worker}, Open: slices.Clone(q.open)}, nil
}

func (q *slow) change(how func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	how()
}

// forwarder returns one of a server without files. What it tells the directory /d goes to told.
func (q *slow) forwarder(told chan lathe.Notice) *Forwarder {
	return New(Options{
		Bare: true, Bus: bus.New(bus.Options{}), Log: slog.New(slog.DiscardHandler),
		Store: &store.Store{Mail: others{}, Leases: free{}, SessionReader: free{}, Queue: q},
		Tell: func(dir string, ev lathe.Event) {
			if n, ok := ev.(lathe.Notice); ok && dir == "/d" {
				told <- n
			}
		},
	})
}

// prompt sends a prompt, which is queued.
func prompt(t *testing.T, f *Forwarder) {
	t.Helper()
	w := httptest.NewRecorder()
	done, err := f.Serve(w, httptest.NewRequest("POST", "/session/ses_1/prompt_async", strings.NewReader(`{"parts":[]}`)), func(string) error { return nil }, untold)
	if !done || err != nil || w.Code != 204 {
		t.Fatalf("%v, %v, %d", done, err, w.Code)
	}
}

// Whoever asked something that no worker takes is told that it waits, and why; what was taken at
// once, or when the server stops, is not spoken of.
func TestTellsThatAPromptWaits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		worker store.Worker
		then   func(f *Forwarder, q *slow)
		want   string
	}{
		{"nobody is there", store.Worker{Turns: 4}, nil, "it waits for a worker: none that has /d is there now"},
		{"it stops", store.Worker{Living: true}, nil, "it waits for a worker: none that has /d is there now"},
		{"it is busy", store.Worker{Living: true, Turns: 1}, nil, "it waits until a worker has time: those that have /d are busy"},
		{"it was taken", store.Worker{Living: true, Turns: 1}, func(_ *Forwarder, q *slow) { q.change(func() { q.open[0].By.ID = "w" }) }, ""},
		{"it was answered", store.Worker{Living: true, Turns: 1}, func(_ *Forwarder, q *slow) { q.change(func() { q.open = nil }) }, ""},
		{"the server stops", store.Worker{Turns: 4}, func(f *Forwarder, _ *slow) { f.Close() }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := make(chan lathe.Notice, 2)
				q := &slow{worker: tt.worker}
				f := q.forwarder(told)
				defer f.Close()
				prompt(t, f)
				time.Sleep(noticeTime - time.Millisecond)
				synctest.Wait()
				if len(told) > 0 {
					t.Errorf("too early: %+v", <-told)
				}
				if tt.then != nil {
					tt.then(f, q)
				}
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
				switch n := len(told); {
				case tt.want == "" && n > 0, tt.want != "" && n != 1:
					t.Errorf("%d told", n)
				case n == 1:
					if got := <-told; got.SessionID != "ses_1" || !strings.HasPrefix(got.Text, tt.want) {
						t.Errorf("told %+v, want %q", got, tt.want)
					}
				}
			})
		})
	}
}

// However many prompts wait, the queue is looked at once a second at most, and not at all once
// nothing was added for a while.
func TestLooksSeldomWhetherPromptsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const prompts, gap = 400, 25 * time.Millisecond // ten seconds of them
		told := make(chan lathe.Notice, prompts)
		q := &slow{worker: store.Worker{Turns: 4}}
		f := q.forwarder(told)
		defer f.Close()
		for range prompts {
			prompt(t, f)
			time.Sleep(gap)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if most := int(prompts*gap/noticeEvery) + 2; len(told) != prompts || q.looks > most {
			t.Errorf("%d of %d prompts were told of, with %d looks, at most %d are needed", len(told), prompts, q.looks, most)
		}
	})
}
