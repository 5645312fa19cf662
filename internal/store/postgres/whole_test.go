package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// holder commits to a session that it holds, and tells of each commit.
type holder struct {
	storetest.Store
	lease store.Lease
	told  []int64 // numbers of its events
	steps int
}

const held = lathe.SessionID("ses_1")

func holding(t *testing.T, o postgres.Options) *holder {
	t.Helper()
	db, s := open(t, o)
	if err := s.CreateSession(t.Context(), storetest.Session(string(held))); !errors.Is(err, store.ErrExists) {
		must(t, err)
	}
	l, err := s.Acquire(t.Context(), held, db.Self())
	must(t, err)
	return &holder{Store: s, lease: l}
}

// commit makes a change again of which nothing is stored, as package commit does.
func (h *holder) commit(ctx context.Context, change func(store.Tx) error) (err error) {
	for range 5 {
		n := &store.Noted{Facts: []store.Fact{{Directory: "/p", Event: lathe.SessionStatus{SessionID: held, Status: lathe.Busy{}}}}}
		err = h.Batch(ctx, func(tx store.Tx) error {
			if err := change(tx); err != nil {
				return err
			}
			return tx.(store.Noter).Note(n)
		})
		if err == nil {
			h.told = append(h.told, n.Facts[0].Number)
		}
		if !errors.Is(err, store.ErrUndone) {
			return err
		}
	}
	return err
}

// step makes five commits that add a message of three parts, and returns it as it is stored.
func (h *holder) step(ctx context.Context, i int) (*lathe.Message, error) {
	m := &lathe.Message{ID: lathe.MessageID(fmt.Sprint("msg_", i)), SessionID: held, Created: epoch, Info: &lathe.Assistant{}}
	part := func(name string, body lathe.PartBody) *lathe.Part {
		return &lathe.Part{ID: lathe.PartID(fmt.Sprint("prt_", i, name)), MessageID: m.ID, SessionID: held, Body: body}
	}
	first := part("a", &lathe.StepStart{})
	call := part("b", &lathe.ToolCall{Tool: "bash", CallID: "c", State: &lathe.ToolRunning{Input: []byte(`{}`), Start: epoch}})
	last := part("c", &lathe.StepFinish{})
	for _, change := range []func(tx store.Tx) error{
		func(tx store.Tx) error {
			m.Parts, first.Seq = []lathe.Part{*first}, 0
			return tx.AddMessage(m)
		},
		func(tx store.Tx) error { call.Seq = 0; return tx.PutPart(call) },
		func(tx store.Tx) error { return tx.PutPart(call) },
		func(tx store.Tx) error {
			call.Body = &lathe.ToolCall{Tool: "bash", CallID: "c", State: &lathe.ToolDone{Input: []byte(`{}`), Time: lathe.Span{Start: epoch, End: epoch}}}
			return tx.PutPart(call)
		},
		func(tx store.Tx) error {
			if _, err := tx.UpdateSession(held, func(s *lathe.Session) error { s.Cost++; return nil }); err != nil {
				return err
			}
			last.Seq, m.Info = 0, &lathe.Assistant{Completed: epoch, Finish: "stop"}
			if err := tx.PutPart(last); err != nil {
				return err
			}
			return tx.UpdateMessage(m)
		},
	} {
		if err := h.commit(ctx, change); err != nil {
			return nil, err
		}
	}
	h.steps++
	m.Parts = []lathe.Part{m.Parts[0], *call, *last}
	return m, nil
}

// check compares what is stored with what the holder was told.
func (h *holder) check(t *testing.T, url string, want []lathe.Message) {
	t.Helper()
	_, s := open(t, postgres.Options{URL: url})
	var got []lathe.Message
	for m, err := range s.Messages(t.Context(), held, store.MessageFilter{}) {
		must(t, err)
		got = append([]lathe.Message{m}, got...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-told +stored):\n%s", diff)
	}
	for i, m := range got {
		if m.Seq != int64(i+1) {
			t.Errorf("message %d has number %d", i+1, m.Seq)
		}
	}
	ses, err := s.Session(t.Context(), held)
	must(t, err)
	steps := ses.Cost - storetest.Session(string(held)).Cost
	if steps != lathe.Money(h.steps) {
		t.Errorf("%d steps were counted, of %d", steps, h.steps)
	}
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `SELECT n FROM event WHERE kind <> 'mark' ORDER BY n`)
	must(t, err)
	numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	must(t, err)
	if diff := cmp.Diff(h.told, numbers); diff != "" {
		t.Errorf("events (-told +stored):\n%s", diff)
	}
}

// A commit that is one message is stored once, wherever the connection is lost, and once more
// at one of the messages that follow.
func TestCutWholeCommits(t *testing.T) {
	apart := int64(3)
	if testing.Short() {
		apart = 1
	}
	for _, deaf := range []bool{false, true} {
		for cut := int64(1); cut <= 5; cut++ {
			for second := cut + 1; second <= cut+apart; second++ {
				t.Run(fmt.Sprintf("%d and %d, deaf %v", cut, second, deaf), func(t *testing.T) {
					var sent atomic.Int64
					sent.Store(1000)
					testCutWhole(t, &sent, pgtest.Dialer(func() bool {
						n := sent.Add(1)
						return n == cut || n == second
					}, deaf))
				})
			}
		}
	}
}

func testCutWhole(t *testing.T, sent *atomic.Int64, dial func(context.Context, string, string) (net.Conn, error)) {
	url := pgtest.Schema(t)
	h := holding(t, postgres.Options{URL: url, Now: func() time.Time { return epoch }, Dial: dial})
	var want []lathe.Message
	for i := range 3 {
		if i == 2 { // all statements are prepared
			sent.Store(0)
		}
		m, err := h.step(t.Context(), i)
		must(t, err)
		want = append(want, *m)
	}
	if valid, err := h.lease.Valid(t.Context()); !valid || err != nil {
		t.Errorf("the lease: %v, %v", valid, err)
	}
	h.check(t, url, want)
	must(t, h.lease.Release(t.Context()))
	if _, held, err := h.Holder(t.Context(), held); held || err != nil {
		t.Errorf("it is still held: %v", err)
	}
}

// late is a connection that is given up at a write, which arrives later.
type late struct {
	net.Conn
	t      *testing.T
	strike func() bool
	struck atomic.Bool
	now    chan struct{} // closed when it is to arrive
	wg     *sync.WaitGroup
}

func (l *late) Write(b []byte) (int, error) {
	if l.struck.Load() {
		return 0, net.ErrClosed
	}
	if !l.strike() {
		return l.Conn.Write(b)
	}
	b = append([]byte(nil), b...)
	l.struck.Store(true)
	l.wg.Go(func() {
		defer func() { _ = l.Conn.Close() }()
		<-l.now
		_ = l.SetDeadline(time.Now().Add(time.Minute))
		_, err := l.Conn.Write(b)
		if err == nil {
			_, err = l.Conn.Read(make([]byte, 1)) // it was done, or refused
		}
		if err != nil {
			l.t.Errorf("it did not arrive: %v", err)
		}
	})
	return 0, net.ErrClosed
}

func (l *late) Read(b []byte) (int, error) {
	if l.struck.Load() {
		return 0, net.ErrClosed
	}
	return l.Conn.Read(b)
}

func (l *late) Close() error {
	if l.struck.Load() {
		return nil
	}
	return l.Conn.Close()
}

// What arrives after its server has found out that nothing of it is stored is refused.
func TestLateWholeCommits(t *testing.T) {
	for cut := int64(1); cut <= 5; cut++ { // a step is as many messages
		url := pgtest.Schema(t)
		var sent atomic.Int64
		sent.Store(1000)
		var wg sync.WaitGroup
		now := make(chan struct{})
		h := holding(t, postgres.Options{URL: url, Now: func() time.Time { return epoch }, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &late{Conn: conn, t: t, strike: func() bool { return sent.Add(1) == cut }, now: now, wg: &wg}, err
		}})
		var want []lathe.Message
		for i := range 4 {
			if i == 2 {
				sent.Store(0)
			}
			m, err := h.step(t.Context(), i)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			want = append(want, *m)
			if i == 2 {
				close(now)
				wg.Wait()
			}
		}
		h.check(t, url, want)
	}
}

// What others did to a session that this server holds is seen, though it remembers something else.
func TestMemoryIsNotBelieved(t *testing.T) {
	url := pgtest.Schema(t)
	h := holding(t, postgres.Options{URL: url, Now: func() time.Time { return epoch }})
	_, other := open(t, postgres.Options{URL: url}) // it does not ask who holds what
	ctx := t.Context()
	var want []lathe.Message
	for i := range 2 {
		m, err := h.step(ctx, i)
		must(t, err)
		want = append(want, *m)
	}
	add := &lathe.Message{ID: "msg_other", SessionID: held, Created: epoch, Info: &lathe.Assistant{}}
	must(t, other.AddMessage(ctx, add))
	want = append(want, *add)
	m, err := h.step(ctx, 3)
	must(t, err)
	want = append(want, *m)

	begun := &lathe.Message{ID: "msg_begun", SessionID: held, Created: epoch, Info: &lathe.Assistant{}}
	must(t, h.commit(ctx, func(tx store.Tx) error { return tx.AddMessage(begun) }))
	theirs := lathe.Part{ID: "prt_theirs", MessageID: begun.ID, SessionID: held, Body: &lathe.StepStart{}}
	must(t, other.PutPart(ctx, &theirs))
	mine := lathe.Part{ID: "prt_mine", MessageID: begun.ID, SessionID: held, Body: &lathe.StepStart{}}
	must(t, h.commit(ctx, func(tx store.Tx) error { return tx.PutPart(&mine) }))
	must(t, other.RemovePart(ctx, theirs.ID))
	again := lathe.Part{ID: "prt_again", MessageID: begun.ID, SessionID: held, Body: &lathe.StepStart{}}
	must(t, h.commit(ctx, func(tx store.Tx) error { return tx.PutPart(&again) }))
	begun.Parts = []lathe.Part{mine, again}
	if mine.Seq != 2 || again.Seq != 3 {
		t.Errorf("parts have numbers %d and %d", mine.Seq, again.Seq)
	}
	want = append(want, *begun)
	// What they called the session stays, and decides.
	title := func(tx store.Tx, text string) error {
		_, err := tx.UpdateSession(held, func(s *lathe.Session) error { s.Title = text; return nil })
		return err
	}
	must(t, h.commit(ctx, func(tx store.Tx) error { return title(tx, "ours") }))
	must(t, h.commit(ctx, func(tx store.Tx) error { return title(tx, "ours, remembered") }))
	_, err = other.UpdateSession(ctx, held, func(s *lathe.Session) error { s.Title, s.Cost = "theirs", s.Cost+1; h.steps++; return nil })
	must(t, err)
	runs := 0
	must(t, h.commit(ctx, func(tx store.Tx) error {
		_, err := tx.UpdateSession(held, func(s *lathe.Session) error {
			if runs++; s.Title != "theirs" {
				return errors.New("not yet")
			}
			return nil
		})
		return err
	}))
	if runs != 2 {
		t.Errorf("it was made %d times", runs)
	}
	h.check(t, url, want)

	// A part that is gone is told so, and one that is there is not stored twice.
	gone := theirs
	gone.Seq = 1
	taken := lathe.Part{ID: mine.ID, MessageID: "msg_0", SessionID: held, Body: &lathe.StepStart{}}
	for what, err := range map[string]error{
		"a message twice": h.commit(ctx, func(tx store.Tx) error {
			return tx.AddMessage(&lathe.Message{ID: "msg_0", SessionID: held, Info: &lathe.Assistant{}})
		}),
		"a part of another": h.commit(ctx, func(tx store.Tx) error { return tx.PutPart(&taken) }),
	} {
		if !errors.Is(err, store.ErrExists) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, h.commit(ctx, func(tx store.Tx) error { return tx.PutPart(&gone) })) // it is new
	if gone.Seq != 4 {
		t.Errorf("it has number %d", gone.Seq)
	}
}
