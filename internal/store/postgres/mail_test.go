package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
	hold(t, db, asked)
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

// A server that ends before it has answered is not waited for.
func TestMailToOneThatIsGone(t *testing.T) {
	url := pgtest.Schema(t)
	db, asked := open(t, postgres.Options{URL: url, Life: 500 * time.Millisecond})
	_, asks := open(t, postgres.Options{URL: url})
	hold(t, db, asked)
	db.Silence()
	if _, err := asks.Mail.Send(t.Context(), db.Self(), []byte("x")); !errors.Is(err, store.ErrAway) {
		t.Errorf("got %v", err)
	}
}

// hold makes a server known, which it is while it holds a lease.
func hold(t *testing.T, db *postgres.DB, s storetest.Store) {
	t.Helper()
	must(t, s.CreateSession(t.Context(), storetest.Session("ses_held")))
	_, err := s.Acquire(t.Context(), "ses_held", db.Self())
	must(t, err)
}
