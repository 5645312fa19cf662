package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
	"lathe/internal/undo"
)

// A service that hands its turns over leaves a turn when its step is over, and says which
// prompt another has to go on with; a turn with limits of its own ends here.
func TestHandOver(t *testing.T) {
	for name, tt := range map[string]struct {
		limits bool
		want   error
	}{
		"between two steps": {want: session.ErrLeft},
		"with limits":       {limits: true},
	} {
		t.Run(name, func(t *testing.T) {
			var p *play
			var passed []lathe.MessageID
			var steps atomic.Int32
			began := make(chan struct{})
			p = newPlay(t, map[string]string{"repo/a.txt": "x"}, func(*llm.Request) say {
				if steps.Add(1) > 1 {
					return say{text: "done"}
				}
				<-began
				p.svc.Turns.HandOver(session.HandOver{Pass: func(_ context.Context, _ lathe.Session, prompt lathe.MessageID) error {
					passed = append(passed, prompt)
					return nil
				}})
				return say{calls: []use{{"read", args{"filePath": "a.txt"}}}}
			}).open()
			id := p.session()
			in := session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "go"}}}
			if tt.limits {
				in.Limits.Steps = 10
			}
			m, run, err := p.svc.Prompt(t.Context(), id, in)
			if err != nil {
				t.Fatal(err)
			}
			close(began)
			_, err = run.Wait(t.Context())
			if !errors.Is(err, tt.want) {
				t.Errorf("ended with %v", err)
			}
			want := []lathe.MessageID{m.ID}
			if tt.want == nil {
				want = nil
			}
			if diff := cmp.Diff(want, passed); diff != "" {
				t.Errorf("handed over (-want +got):\n%s", diff)
			}
			if got := p.svc.Turns.Left(id); got != (tt.want != nil) {
				t.Errorf("left: %v", got)
			}
			if p.svc.Status(id) != (lathe.Idle{}) {
				t.Error("it is busy here")
			}
		})
	}
}

// mail is that of a store which several servers share.
type mail struct{ store.Mail }

// A turn that was left for another server is taken back with its prompts: it does not go on, and
// once the prompts are there again each of them says that it was stopped.
func TestRevertOfAHandedOverTurn(t *testing.T) {
	const stopped = "failed: It was stopped before it was answered."
	for name, tt := range map[string]struct {
		steps int    // before it is left
		steer string // what is asked during the last of them
		early bool   // another server begins to go on with it before it is brought back
		want  []string
	}{
		"before its first step":           {0, "", false, []string{"go", "go -> " + stopped}},
		"between two steps":               {1, "", false, []string{"go", "go -> " + stopped}},
		"between two steps, and asked of": {1, "", true, []string{"go", "go -> " + stopped}},
		"with a second prompt":            {1, "also", false, []string{"go", "go -> ", "also", "also -> " + stopped}},
	} {
		t.Run(name, func(t *testing.T) {
			var p *play
			passed := make(chan lathe.MessageID, 9)
			handOver := func() {
				p.svc.Turns.HandOver(session.HandOver{Pass: func(_ context.Context, _ lathe.Session, prompt lathe.MessageID) error {
					passed <- prompt
					return nil
				}})
			}
			var id lathe.SessionID
			steered := make(chan *session.Run, 1)
			p = newPlay(t, map[string]string{"repo/a.txt": "x"}, func(req *llm.Request) say {
				if tt.steer != "" {
					_, run := p.send(id, tt.steer)
					steered <- run
				}
				handOver()
				return say{calls: []use{{"read", args{"filePath": "a.txt"}}}}
			}).open()
			if p.store.Mail == nil {
				p.store.Mail = mail{}
			}
			id = p.session()
			if tt.steps == 0 {
				handOver()
			}
			m, run := p.send(id, "go")
			if _, err := run.Wait(t.Context()); !errors.Is(err, session.ErrLeft) {
				t.Fatalf("ended with %v", err)
			}
			if tt.steer != "" {
				if _, err := (<-steered).Wait(t.Context()); !errors.Is(err, session.ErrLeft) {
					t.Fatalf("the second prompt ended with %v", err)
				}
			}
			prompt := <-passed
			if _, err := p.svc.Undo.Revert(t.Context(), id, undo.Input{MessageID: m}); err != nil {
				t.Fatal(err)
			}
			goOn := func(when string) {
				t.Helper()
				if err := p.svc.Turns.Continue(t.Context(), id, prompt); err != nil || len(passed) > 0 || p.svc.Status(id) != (lathe.Idle{}) {
					t.Errorf("%s it goes on: %v, %d handed over, %v", when, err, len(passed), p.svc.Status(id))
				}
			}
			if tt.early {
				goOn("reverted,")
			}
			if _, err := p.svc.Undo.Unrevert(t.Context(), id, false); err != nil {
				t.Fatal(err)
			}
			goOn("brought back,")
			if diff := cmp.Diff(tt.want, p.story(id)); diff != "" {
				t.Errorf("the session (-want +got):\n%s", diff)
			}
		})
	}
}

// What reverted a handed-over turn may end before it has said how that turn ends; the server that
// is to go on with it says it then.
func TestContinueOfARevertedTurn(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} }).open()
	if p.store.Mail == nil {
		p.store.Mail = mail{}
	}
	id := p.session()
	passed := 0
	p.svc.Turns.HandOver(session.HandOver{Pass: func(context.Context, lathe.Session, lathe.MessageID) error { passed++; return nil }})
	m, run := p.send(id, "go")
	if _, err := run.Wait(t.Context()); !errors.Is(err, session.ErrLeft) {
		t.Fatalf("ended with %v", err)
	}
	mark := func(r *lathe.Revert) {
		t.Helper()
		if _, err := p.store.UpdateSession(t.Context(), id, func(s *lathe.Session) error { s.Revert = r; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	mark(&lathe.Revert{MessageID: m})
	if err := p.svc.Turns.Continue(t.Context(), id, m); err != nil || passed != 1 {
		t.Errorf("it goes on: %v, handed over %d times", err, passed)
	}
	mark(nil)
	if diff := cmp.Diff([]string{"go", "go -> failed: It was stopped before it was answered."}, p.story(id)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
}

// pending is a queue in which something is still to begin for the first times that it is asked.
type pending struct {
	store.Queue
	times atomic.Int32
}

func (q *pending) Pending(context.Context, lathe.SessionID) (bool, error) {
	return q.times.Add(-1) >= 0, nil
}

// What was asked and waits for a worker may not begin after it was taken back: a revert waits for
// it, and is refused if that takes long.
func TestRevertWaitsForWhatIsQueued(t *testing.T) {
	for name, tt := range map[string]struct {
		times int32
		want  lathe.Code
	}{
		"nothing waits":       {0, ""},
		"it begins meanwhile": {3, ""},
		"it waits on":         {1 << 30, lathe.CodeBusy},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} }).open()
			id := p.session()
			m, run := p.send(id, "go")
			p.wait(run)
			q := &pending{Queue: p.store.Queue}
			q.times.Store(tt.times)
			p.store.Queue = q
			_, err := p.svc.Undo.Revert(t.Context(), id, undo.Input{MessageID: m})
			var code lathe.Code
			if e, ok := errors.AsType[*lathe.Error](err); ok {
				code = e.Code
			}
			sess, err2 := p.svc.Get(t.Context(), id)
			if code != tt.want || (sess.Revert != nil) != (tt.want == "") || err2 != nil {
				t.Errorf("%v, reverted %v, %v", err, sess.Revert, err2)
			}
		})
	}
}
