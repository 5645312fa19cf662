package commit_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/commit"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

// node is one of several servers on one store.
type node struct {
	*commit.Writer
	bus  *bus.Bus
	kept *store.Store
	self store.Owner
	sub  *bus.Subscription
}

func newNode(t *testing.T, url string) *node {
	t.Helper()
	return openNode(t, postgres.Options{URL: url})
}

func openNode(t *testing.T, o postgres.Options) *node {
	t.Helper()
	db, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	b := bus.New(bus.Options{})
	n := &node{Writer: commit.New(db.Store(), b), bus: b, kept: db.Store(), self: db.Self(), sub: b.Subscribe(t.Context(), bus.Filter{}, bus.Limits{Events: 100_000})}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { n.Relay(ctx) })
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		b.Close()
		db.Close()
	})
	return n
}

// numbered returns the next event as text, with its number.
func (n *node) numbered(t *testing.T) (text string, number int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env, err := n.sub.Next(ctx)
	if err != nil {
		t.Fatalf("nothing more comes: %v", err)
	}
	return describe(env), env.Number
}

// next returns the next event as text, such as "updated ses_1 title".
func (n *node) next(t *testing.T) string {
	t.Helper()
	text, _ := n.numbered(t)
	return text
}

func describe(env lathe.Envelope) string {
	switch ev := env.Event.(type) {
	case lathe.SessionCreated:
		return fmt.Sprintf("created %s in %s", ev.Session.ID, env.Directory)
	case lathe.SessionUpdated:
		return fmt.Sprintf("updated %s %s", ev.Session.ID, ev.Session.Title)
	case lathe.SessionStatus:
		return fmt.Sprintf("status %s %T", ev.SessionID, ev.Status)
	case lathe.PartUpdated:
		text, _ := ev.Part.Body.(*lathe.Text)
		return fmt.Sprintf("part %s new=%v %s", ev.Part.ID, ev.New, text.Text)
	case lathe.PartDelta:
		return fmt.Sprintf("delta %s %s", ev.PartID, ev.Delta)
	}
	return fmt.Sprintf("%T", env.Event)
}

// until reads up to an event, and returns all before it.
func (n *node) until(t *testing.T, last string) (seen []string) {
	t.Helper()
	for {
		got := n.next(t)
		if got == last {
			return seen
		}
		seen = append(seen, got)
	}
}

func rename(ctx context.Context, n *node, id lathe.SessionID, title string) error {
	return n.Commit(ctx, func(tx *commit.Tx) error {
		s, err := tx.UpdateSession(id, func(s *lathe.Session) error { s.Title = title; return nil })
		tx.Tell("/work", lathe.SessionUpdated{Session: s})
		return err
	})
}

func create(t *testing.T, n *node, id string) {
	t.Helper()
	ses := storetest.Session(id)
	err := n.Commit(t.Context(), func(tx *commit.Tx) error {
		tx.Tell("/work", lathe.SessionCreated{Session: ses})
		return tx.CreateSession(ses)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ready waits until a server hears of others.
func ready(t *testing.T, from *node, to ...*node) {
	t.Helper()
	heard := map[*node]bool{}
	for len(heard) < len(to) {
		create(t, from, "ses_"+rand.Text())
		for _, n := range to {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if _, err := n.sub.Next(ctx); err == nil {
				heard[n] = true
			}
			cancel()
		}
	}
}

// What servers do at the same time is published by all of them, each thing once and
// in one order.
func TestRelayHasOneOrder(t *testing.T) {
	url := pgtest.Schema(t)
	nodes := []*node{newNode(t, url), newNode(t, url), newNode(t, url)}
	ready(t, nodes[0], nodes[1], nodes[2])
	ready(t, nodes[1], nodes[0])
	create(t, nodes[0], "ses_1")
	const each = 30
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			for j := range each {
				if err := rename(t.Context(), n, "ses_1", fmt.Sprintf("%d-%d", i, j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := rename(t.Context(), nodes[0], "ses_1", "the end"); err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for _, n := range nodes {
		n.until(t, "created ses_1 in /work")
		all = append(all, n.until(t, "updated ses_1 the end"))
	}
	if len(all[0]) != len(nodes)*each {
		t.Errorf("%d events of %d", len(all[0]), len(nodes)*each)
	}
	for i := range all[1:] {
		if diff := cmp.Diff(all[0], all[i+1]); diff != "" {
			t.Errorf("server %d has another order (-first +it):\n%s", i+1, diff)
		}
	}
}

// What is told without being stored comes in its place among what is.
func TestRelayTells(t *testing.T) {
	url := pgtest.Schema(t)
	a, b := newNode(t, url), newNode(t, url)
	ready(t, a, b)
	create(t, a, "ses_1")
	a.Tell("/work", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Busy{}})
	a.Tell("/work", lathe.FileEdited{File: "of this machine alone"})
	if err := rename(t.Context(), a, "ses_1", "one"); err != nil {
		t.Fatal(err)
	}
	a.Tell("/work", lathe.SessionStatus{SessionID: "ses_1", Status: lathe.Idle{}})
	want := []string{"status ses_1 lathe.Busy", "updated ses_1 one"}
	b.until(t, "created ses_1 in /work")
	if diff := cmp.Diff(want, b.until(t, "status ses_1 lathe.Idle")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Text that streams on one server is heard on another as deltas, of which nothing is
// missing when the part closes, and it is no event of its own in the store.
func TestRelayStreams(t *testing.T) {
	url := pgtest.Schema(t)
	a, b := newNode(t, url), newNode(t, url)
	ready(t, a, b)
	create(t, a, "ses_1")
	b.until(t, "created ses_1 in /work")
	lease, err := a.kept.Acquire(t.Context(), "ses_1", a.self)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	part := lathe.Part{ID: "prt_1", MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Time: lathe.Span{Start: now}}}
	put := func() {
		t.Helper()
		err := a.Commit(t.Context(), func(tx *commit.Tx) error {
			if part.Seq == 0 {
				if err := tx.AddMessage(&lathe.Message{ID: "msg_1", SessionID: "ses_1", Created: now, Info: &lathe.Assistant{}}); err != nil {
					return err
				}
			}
			fresh := part.Seq == 0
			err := tx.PutPart(&part)
			tx.Tell("/work", lathe.PartUpdated{Part: part, New: fresh})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put()
	b.until(t, "part prt_1 new=true ")
	whole, heard := "", ""
	for i := range 20 {
		piece := fmt.Sprintf("文 %d;", i)
		if err := a.AppendText(t.Context(), "prt_1", int64(len(whole)), piece); err != nil {
			t.Fatal(err)
		}
		whole += piece
		if i == 9 { // it is heard while it streams
			for heard != whole {
				heard += strings.TrimPrefix(b.next(t), "delta prt_1 ")
			}
		}
	}
	part.Body = &lathe.Text{Text: whole, Time: lathe.Span{Start: now, End: now}}
	put()
	for _, piece := range b.until(t, "part prt_1 new=false "+whole) {
		heard += strings.TrimPrefix(piece, "delta prt_1 ")
	}
	if !strings.HasPrefix(whole, heard) || len(heard) == 0 {
		t.Errorf("heard %q of %q", heard, whole)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
