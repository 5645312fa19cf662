package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// What servers ask each other is done once and answered, also when many ask at once.
func TestMail(t *testing.T) {
	url := pgtest.Schema(t)
	db, asked := open(t, postgres.Options{URL: url})
	_, asks := open(t, postgres.Options{URL: url})
	hold(t, db, asked, "ses_held")
	var done atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	var receivers sync.WaitGroup
	receivers.Go(func() {
		asked.Mail.Receive(ctx, func(_ context.Context, body []byte) []byte {
			done.Add(1)
			return append([]byte("did "), body...)
		})
	})
	var senders sync.WaitGroup
	const many = 20
	for i := range many {
		senders.Go(func() {
			answer, err := asks.Mail.Send(t.Context(), db.Self(), fmt.Append(nil, i))
			if err != nil || string(answer) != fmt.Sprint("did ", i) {
				t.Errorf("%d: %q, %v", i, answer, err)
			}
		})
	}
	senders.Wait()
	cancel()
	receivers.Wait()
	if done.Load() != many {
		t.Errorf("%d done of %d", done.Load(), many)
	}
}

// What is asked is done once and answered, wherever connections of the server that does it are
// lost: with what is written, or with the answer to that, and while it begins to listen, after
// which it waits for seconds, or later on. All of that at once.
func TestMailOverLostConnections(t *testing.T) {
	for name, l := range map[string]losses{
		"written, from the start":  {most: 2},
		"answered, from the start": {deaf: true, most: 2},
		"written":                  {listening: true, most: 4},
		"answered":                 {deaf: true, listening: true, most: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.met(t)
		})
	}
}

// losses say which connections are lost.
type losses struct {
	deaf      bool // with the answer to what was written
	listening bool // once the server listens; else from its first connection on
	most      int64
}

func (l losses) met(t *testing.T) {
	url := pgtest.Schema(t)
	_, asks := open(t, postgres.Options{URL: url})
	hear(t, asks)
	var sent, lost atomic.Int64
	var begun atomic.Bool
	strike := func() bool {
		const often = 7 // messages, so that each place of a letter is met
		return begun.Load() && lost.Load() < l.most && sent.Add(1)%often == 0 && lost.Add(1) > 0
	}
	db, asked := open(t, postgres.Options{URL: url, Dial: pgtest.Dialer(strike, l.deaf)})
	hold(t, db, asked, "ses_held")
	var mu sync.Mutex
	done := map[string]int{}
	ctx, cancel := context.WithCancel(t.Context())
	var receivers sync.WaitGroup
	receivers.Go(func() {
		asked.Mail.Receive(ctx, func(_ context.Context, body []byte) []byte {
			mu.Lock()
			defer mu.Unlock()
			done[string(body)]++
			return append([]byte("did "), body...)
		})
	})
	begun.Store(!l.listening)
	for i := 0; i < 20 || lost.Load() < l.most && i < 200; i++ {
		body := fmt.Append(nil, i)
		answer, err := asks.Mail.Send(t.Context(), db.Self(), body)
		if err != nil || string(answer) != "did "+string(body) {
			t.Errorf("%d: %q, %v", i, answer, err)
		}
		if mu.Lock(); done[string(body)] != 1 {
			t.Errorf("%d was done %d times", i, done[string(body)])
		}
		mu.Unlock()
		begun.Store(true)
	}
	if lost.Load() < l.most {
		t.Errorf("only %d connections were lost", lost.Load())
	}
	cancel()
	receivers.Wait()
}

// A server that ends before it has answered is not waited for.
func TestMailToOneThatIsGone(t *testing.T) {
	url := pgtest.Schema(t)
	db, asked := open(t, postgres.Options{URL: url, Life: 500 * time.Millisecond})
	_, asks := open(t, postgres.Options{URL: url})
	hold(t, db, asked, "ses_held")
	db.Silence()
	if _, err := asks.Mail.Send(t.Context(), db.Self(), []byte("x")); !errors.Is(err, store.ErrAway) {
		t.Errorf("got %v", err)
	}
}

// hear has a server told of answers at once until the test ends. Nothing is asked of it.
func hear(t *testing.T, s storetest.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(cancel)
	all.Go(func() { s.Mail.Receive(ctx, func(context.Context, []byte) []byte { return nil }) })
}

// hold makes a server known, which it is while it holds a lease.
func hold(t *testing.T, db *postgres.DB, s storetest.Store, id string) {
	t.Helper()
	must(t, s.CreateSession(t.Context(), storetest.Session(id)))
	_, err := s.Acquire(t.Context(), lathe.SessionID(id), db.Self())
	must(t, err)
}
