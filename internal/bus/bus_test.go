package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"lathe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func delta(part, text string) lathe.PartDelta {
	return lathe.PartDelta{SessionID: "ses_1", MessageID: "msg_1", PartID: lathe.PartID(part), Delta: text}
}

func update(part, output string) lathe.PartUpdated {
	return lathe.PartUpdated{Part: lathe.Part{
		ID: lathe.PartID(part), MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Text: output},
	}}
}

func opened(part string) lathe.PartUpdated {
	u := update(part, "")
	u.New = true
	return u
}

// drain takes what is queued without waiting.
func drain(s *Subscription) (events []lathe.Event, seqs []uint64, err error) {
	for {
		env, ok, err := s.pop()
		if !ok {
			return events, seqs, err
		}
		events, seqs = append(events, env.Event), append(seqs, env.Seq)
	}
}

func TestMerging(t *testing.T) {
	ask := lathe.PermissionAsked{Ask: lathe.Ask{SessionID: "ses_1"}}
	other := lathe.SessionCompacted{SessionID: "ses_2"}
	for _, tt := range []struct {
		name string
		in   []lathe.Event
		want []lathe.Event
		seqs []uint64
	}{
		{"deltas of one part join", []lathe.Event{delta("a", "x"), delta("a", "y"), delta("a", "z")},
			[]lathe.Event{delta("a", "xyz")}, []uint64{3}},
		{"never past another event", []lathe.Event{delta("a", "x"), delta("b", "1"), delta("a", "y")},
			[]lathe.Event{delta("a", "x"), delta("b", "1"), delta("a", "y")}, []uint64{1, 2, 3}},
		{"newer update wins", []lathe.Event{update("a", "1"), update("a", "2"), update("a", "3")},
			[]lathe.Event{update("a", "3")}, []uint64{3}},
		{"beside another part", []lathe.Event{update("a", "1"), update("b", "1"), delta("c", "x"), update("a", "2"), update("b", "2")},
			[]lathe.Event{delta("c", "x"), update("a", "2"), update("b", "2")}, []uint64{3, 4, 5}},
		{"the first of a part keeps its place", []lathe.Event{opened("a"), opened("b"), update("a", "1"), update("b", "1"), update("a", "2")},
			[]lathe.Event{opened("a"), opened("b"), update("b", "1"), update("a", "2")}, []uint64{1, 2, 4, 5}},
		{"an ask may name the call", []lathe.Event{update("a", "1"), ask, update("a", "2")},
			[]lathe.Event{update("a", "1"), ask, update("a", "2")}, []uint64{1, 2, 3}},
		{"another session does not care", []lathe.Event{update("a", "1"), other, update("a", "2")},
			[]lathe.Event{other, update("a", "2")}, []uint64{2, 3}},
		{"a delta builds on its part", []lathe.Event{update("a", ""), delta("a", "x"), update("a", "x")},
			[]lathe.Event{update("a", ""), delta("a", "x"), update("a", "x")}, []uint64{1, 2, 3}},
	} {
		b := New(Options{})
		s := b.Subscribe(t.Context(), Filter{}, Limits{})
		for _, ev := range tt.in {
			b.Publish("/d", ev)
		}
		got, seqs, err := drain(s)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.seqs, seqs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		s.Close()
	}
}

func TestFilter(t *testing.T) {
	for name, tt := range map[string]struct {
		f    Filter
		want []uint64
	}{
		"all":       {Filter{}, []uint64{1, 2, 3, 4}},
		"directory": {Filter{Directory: "/a"}, []uint64{1, 3, 4}},
		"session":   {Filter{SessionID: "ses_2"}, []uint64{2}},
		"both":      {Filter{Directory: "/a", SessionID: "ses_2"}, nil},
		"match": {Filter{Match: func(ev lathe.Event) bool {
			_, ok := ev.(lathe.FileEdited)
			return ok
		}}, []uint64{3}},
	} {
		b := New(Options{})
		s := b.Subscribe(t.Context(), tt.f, Limits{})
		b.Publish("/a", lathe.SessionCompacted{SessionID: "ses_1"})
		b.Publish("/b", lathe.SessionCompacted{SessionID: "ses_2"})
		b.Publish("/a", lathe.FileEdited{File: "x"})
		b.Publish("", lathe.ProjectUpdated{})
		if _, got, _ := drain(s); !cmp.Equal(tt.want, got) {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestSlow(t *testing.T) {
	b := New(Options{})
	few := b.Subscribe(t.Context(), Filter{}, Limits{Events: 3})
	small := b.Subscribe(t.Context(), Filter{}, Limits{Bytes: 1000})
	fine := b.Subscribe(t.Context(), Filter{}, Limits{})
	for i := range 4 {
		b.Publish("", delta(fmt.Sprint(i), "x"))
	}
	if _, _, err := drain(few); !errors.Is(err, ErrSlow) {
		t.Errorf("too many events: %v", err)
	}
	drain(small)
	b.Publish("", update("big", strings.Repeat("x", 5000)))
	if got, _, err := drain(small); err != nil || len(got) != 1 {
		t.Errorf("one large event: %d events, %v", len(got), err)
	}
	for range 20 { // merged deltas count as well
		b.Publish("", delta("a", strings.Repeat("x", 100)))
	}
	if _, _, err := drain(small); !errors.Is(err, ErrSlow) {
		t.Errorf("too much text: %v", err)
	}
	if got, _, err := drain(fine); err != nil || len(got) != 6 {
		t.Errorf("the other subscriber: %d events, %v", len(got), err)
	}
	if _, err := few.Next(t.Context()); !errors.Is(err, ErrSlow) {
		t.Errorf("the reason does not last: %v", err)
	}
	few.Close()
	if _, err := few.Next(t.Context()); !errors.Is(err, ErrSlow) {
		t.Errorf("close changed the reason: %v", err)
	}
}

func TestEnd(t *testing.T) {
	cause := errors.New("leaving")
	synctest.Test(t, func(t *testing.T) {
		b := New(Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		s := b.Subscribe(ctx, Filter{}, Limits{})
		var wg sync.WaitGroup
		wg.Go(func() {
			n := 0
			for _, err := range s.All() {
				if n++; n == 2 && !errors.Is(err, cause) {
					t.Errorf("end: %v", err)
				}
			}
			if n != 2 {
				t.Errorf("%d rounds", n)
			}
		})
		b.Publish("", lathe.FileEdited{})
		synctest.Wait()
		cancel(cause)
		wg.Wait()
		if len(b.subs) != 0 {
			t.Error("subscription was not removed")
		}

		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		s = b.Subscribe(t.Context(), Filter{}, Limits{})
		if _, err := s.Next(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("next: %v", err)
		}
		b.Publish("", lathe.FileEdited{})
		b.Close()
		b.Close()
		if seq := b.Publish("", lathe.FileEdited{}); seq != 0 {
			t.Errorf("published %d after close", seq)
		}
		if got, _, err := drain(s); len(got) != 1 || !errors.Is(err, ErrClosed) {
			t.Errorf("after close: %d events, %v", len(got), err)
		}
		if _, err := b.Subscribe(t.Context(), Filter{}, Limits{}).Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("subscribe after close: %v", err)
		}
		for range s.All() { // a broken loop closes
			break
		}
	})
}

func TestTap(t *testing.T) {
	b := New(Options{})
	var got []uint64
	s := b.Subscribe(t.Context(), Filter{SessionID: "ses_1", Tap: func(e lathe.Envelope) { got = append(got, e.Seq) }}, Limits{Events: 1})
	for range 3 {
		b.Publish("", delta("a", "x"))
		b.Publish("", lathe.SessionCompacted{SessionID: "ses_2"})
	}
	if !cmp.Equal([]uint64{1, 3, 5}, got) {
		t.Errorf("tapped %v", got)
	}
	if events, _, err := drain(s); len(events) != 0 || err != nil {
		t.Errorf("queued %v, %v", events, err)
	}
	s.Close()
}

func TestSubscribeFrom(t *testing.T) {
	b := New(Options{Keep: 5})
	for i := range 10 {
		b.Publish("", delta(fmt.Sprint(i), "x"))
	}
	for _, tt := range []struct {
		after uint64
		want  []uint64
		err   error
	}{
		{5, []uint64{6, 7, 8, 9, 10}, nil},
		{9, []uint64{10}, nil},
		{10, nil, nil},
		{4, nil, ErrGone},
		{0, nil, ErrGone},
		{11, nil, ErrGone},
	} {
		s, err := b.SubscribeFrom(t.Context(), tt.after, Filter{}, Limits{})
		if !errors.Is(err, tt.err) {
			t.Errorf("from %d: %v", tt.after, err)
		}
		if err != nil {
			continue
		}
		if _, got, _ := drain(s); !cmp.Equal(tt.want, got) {
			t.Errorf("from %d: got %v, want %v", tt.after, got, tt.want)
		}
		s.Close()
	}
	if _, err := b.SubscribeFrom(t.Context(), 5, Filter{}, Limits{Events: 2}); !errors.Is(err, ErrGone) {
		t.Errorf("more than the limit: %v", err)
	}
	heavy := New(Options{KeepBytes: 1000})
	heavy.Publish("", update("a", strings.Repeat("x", 2000)))
	if _, err := heavy.SubscribeFrom(t.Context(), 0, Filter{}, Limits{}); !errors.Is(err, ErrGone) {
		t.Errorf("event over the size kept: %v", err)
	}
}

// A state is what a client knows from the events: the text of each part.
type state map[lathe.PartID]string

func (s state) apply(ev lathe.Event) {
	switch ev := ev.(type) {
	case lathe.PartDelta:
		s[ev.PartID] += ev.Delta
	case lathe.PartUpdated:
		s[ev.Part.ID] = ev.Part.Body.(*lathe.Text).Text
	}
}

// However publishing, reading, leaving and resuming interleave, a subscriber
// sees ascending numbers and ends with the state that was published.
func TestEverySubscriberSeesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := New(Options{})
		want := state{}
		type reader struct {
			s    *Subscription
			got  state
			last uint64
		}
		readers := make([]*reader, rapid.IntRange(1, 3).Draw(t, "readers"))
		for i := range readers {
			readers[i] = &reader{b.Subscribe(context.Background(), Filter{}, Limits{}), state{}, 0}
		}
		read := func(r *reader, n int) {
			for range n {
				env, ok, err := r.s.pop()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					return
				}
				if env.Seq <= r.last {
					t.Fatalf("event %d after %d", env.Seq, r.last)
				}
				r.last = env.Seq
				r.got.apply(env.Event)
			}
		}
		parts := rapid.SampledFrom([]string{"a", "b"})
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			r := readers[rapid.IntRange(0, len(readers)-1).Draw(t, "reader")]
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0:
				p := parts.Draw(t, "part")
				ev := update(p, want[lathe.PartID(p)])
				want.apply(ev)
				b.Publish("", ev)
			case 1:
				b.Publish("", lathe.SessionStatus{SessionID: "ses_1"})
			case 2:
				read(r, rapid.IntRange(1, 20).Draw(t, "n"))
			case 3:
				r.s.Close()
				s, err := b.SubscribeFrom(context.Background(), r.last, Filter{}, Limits{})
				if err != nil {
					t.Fatal(err)
				}
				r.s = s
			default:
				ev := delta(parts.Draw(t, "part"), rapid.StringN(1, 4, -1).Draw(t, "text"))
				want.apply(ev)
				b.Publish("", ev)
			}
		}
		for i, r := range readers {
			read(r, 1000)
			if diff := cmp.Diff(want, r.got); diff != "" {
				t.Fatalf("reader %d (-want +got):\n%s", i, diff)
			}
			r.s.Close()
		}
	})
}

func TestConcurrent(t *testing.T) {
	b := New(Options{})
	const writers, each = 4, 500
	var wg sync.WaitGroup
	for range 8 {
		s := b.Subscribe(context.Background(), Filter{}, Limits{Events: 1 << 20})
		wg.Go(func() {
			got, last := state{}, uint64(0)
			for env, err := range s.All() {
				if err != nil {
					t.Error(err)
					return
				}
				if env.Seq <= last {
					t.Errorf("event %d after %d", env.Seq, last)
				}
				last = env.Seq
				got.apply(env.Event)
				if last == writers*each {
					break
				}
			}
			for p, text := range got {
				if text != strings.Repeat(string(p), each) {
					t.Errorf("part %s has %d bytes", p, len(text))
				}
			}
		})
	}
	for w := range writers {
		wg.Go(func() {
			for range each {
				b.Publish("", delta(fmt.Sprint(w), fmt.Sprint(w)))
			}
		})
	}
	wg.Wait()
}

// BenchmarkFanOut is one answer of 2,000 deltas to 20 readers.
func BenchmarkFanOut(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bus := New(Options{})
		var wg sync.WaitGroup
		for range 20 {
			s := bus.Subscribe(context.Background(), Filter{Directory: "/d"}, Limits{})
			wg.Go(func() {
				n := 0
				for env, err := range s.All() {
					if err != nil {
						b.Error(err)
						return
					}
					if n += len(env.Event.(lathe.PartDelta).Delta); n == 2000*5 {
						return
					}
				}
			})
		}
		for range 2000 {
			bus.Publish("/d", delta("a", "word "))
		}
		wg.Wait()
	}
}

// BenchmarkStalled is publishing to a reader that does not read.
func BenchmarkStalled(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bus := New(Options{})
		s := bus.Subscribe(context.Background(), Filter{}, Limits{})
		for range 20000 {
			bus.Publish("/d", delta("a", "word "))
		}
		s.Close()
	}
}

// A part of any size costs no reader the events around it; what streamed of it does
// not become one event of that size.
func TestLargePart(t *testing.T) {
	b := New(Options{})
	s := b.Subscribe(t.Context(), Filter{}, Limits{})
	for range 20 {
		b.Publish("", delta("a", strings.Repeat("x", 100<<10)))
	}
	b.Publish("", update("a", strings.Repeat("x", 20<<20)))
	b.Publish("", update("b", "y"))
	events, text := 0, 0
	for range 1000 {
		env, ok, err := s.pop()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		events++
		if d, ok := env.Event.(lathe.PartDelta); ok {
			if text += len(d.Delta); len(d.Delta) > maxMerge {
				t.Errorf("a delta of %d bytes", len(d.Delta))
			}
		}
	}
	if text != 20*100<<10 || events < 4 {
		t.Errorf("%d events, %d bytes streamed", events, text)
	}
}
