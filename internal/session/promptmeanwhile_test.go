package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/bus"
	"lathe/internal/llm"
	"lathe/internal/session"
	"lathe/internal/store"
)

// send starts a prompt and returns its message and run.
func (p *play) send(id lathe.SessionID, text string) (lathe.MessageID, *session.Run) {
	p.t.Helper()
	m, run, err := p.svc.Prompt(p.t.Context(), id, session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: text}}})
	if err != nil {
		p.t.Fatal(err)
	}
	return m.ID, run
}

// stop aborts a session without waiting for the end.
func (p *play) stop(id lathe.SessionID) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	cancel()
	if err := p.svc.Abort(ctx, id); !errors.Is(err, context.Canceled) {
		p.t.Errorf("Abort of a session that works = %v", err)
	}
}

// story says who said what, in order: a prompt as its words, an answer as the words
// of the prompt it answers, and what it says or why it failed.
func (p *play) story(id lathe.SessionID) []string {
	p.t.Helper()
	words := map[lathe.MessageID]string{}
	var out []string
	for _, m := range p.messages(id) {
		text := ""
		for _, part := range m.Parts {
			if b, ok := part.Body.(*lathe.Text); ok && !b.Synthetic {
				text += b.Text
			}
			if _, ok := part.Body.(*lathe.CompactionMark); ok {
				text = "compact"
			}
		}
		switch info := m.Info.(type) {
		case *lathe.User:
			words[m.ID] = text
			out = append(out, text)
		case *lathe.Assistant:
			switch {
			case info.Error != nil:
				text = "failed: " + info.Error.Error()
			case info.Summary:
				text = "summary"
			case info.Completed.IsZero():
				text = "open"
			}
			out = append(out, words[info.ParentID]+" -> "+text)
		}
	}
	return out
}

// held is a model that waits for a word before it answers the requests it is told to.
type held struct {
	here, goOn chan struct{}
}

func newHeld() *held { return &held{make(chan struct{}), make(chan struct{})} }

func (h *held) wait() { h.here <- struct{}{}; <-h.goOn }

// A prompt that comes while a compaction runs is answered after it, by itself.
func TestPromptWhileCompacting(t *testing.T) {
	h := newHeld()
	p := newPlay(t, nil, func(req *llm.Request) say {
		if asksSummary(req) {
			h.wait()
			return say{text: goodSummary}
		}
		return say{text: "done"}
	}).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "first")
	for _, tt := range []struct {
		name string
		stop bool
		want []string
	}{
		{"aborted", true, []string{"first", "first -> done", "second", "second -> failed: It was stopped before it was answered."}},
		{"done", false, []string{"first", "first -> done", "second", "second -> failed: It was stopped before it was answered.",
			"second", "compact", "compact -> summary", "second -> done"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := p.svc.Subscribe(t.Context(), bus.Filter{SessionID: id, Match: func(ev lathe.Event) bool { _, ok := ev.(lathe.SessionStatus); return ok }})
			defer events.Close()
			run, err := p.svc.StartSummarize(t.Context(), id, lathe.ModelRef{}, false)
			if err != nil {
				t.Fatal(err)
			}
			if env, err := events.Next(t.Context()); err != nil || env.Event.(lathe.SessionStatus).Status != (lathe.Busy{}) || p.svc.Status(id) != (lathe.Busy{}) {
				t.Errorf("a session that is compacted is %v and tells %v, %v", p.svc.Status(id), env.Event, err)
			}
			<-h.here
			_, second := p.send(id, "second")
			if tt.stop {
				p.stop(id)
			}
			h.goOn <- struct{}{}
			if out := p.wait(run); (out.Failure != nil) != tt.stop {
				t.Errorf("the compaction ended with %v", out.Failure)
			}
			out := p.wait(second)
			if _, aborted := out.Failure.(*lathe.AbortedFailure); aborted != tt.stop {
				t.Errorf("the prompt ended with %v", out.Failure)
			}
			if diff := cmp.Diff(tt.want, p.story(id)); diff != "" {
				t.Errorf("the session (-want +got):\n%s", diff)
			}
		})
	}
	if got := last(&p.asked()[len(p.asked())-1]); !strings.Contains(got, "second") {
		t.Errorf("the last request asks %q", got)
	}
}

// heldAt opens a service whose model holds the answer to a prompt that contains word.
func heldAt(t *testing.T, word string) (*held, *play) {
	h := newHeld()
	p := newPlay(t, nil, func(req *llm.Request) say {
		if strings.Contains(last(req), word) {
			h.wait()
		}
		return say{text: "done"}
	})
	return h, p.open()
}

// What is said while a turn is being stopped is answered when it has stopped; what
// was waiting before is refused, and says so.
func TestPromptWhileStopping(t *testing.T) {
	h, p := heldAt(t, "first")
	id := p.session()
	_, first := p.send(id, "first")
	<-h.here
	_, queued := p.send(id, "queued")
	_, also := p.send(id, "also queued")
	p.stop(id)
	_, late := p.send(id, "late")
	_, later := p.send(id, "later")
	h.goOn <- struct{}{}
	for name, run := range map[string]*session.Run{"first": first, "queued": queued, "also queued": also} {
		if _, ok := p.wait(run).Failure.(*lathe.AbortedFailure); !ok {
			t.Errorf("%s is not said to be aborted", name)
		}
	}
	for name, run := range map[string]*session.Run{"late": late, "later": later} {
		if out := p.wait(run); out.Failure != nil || lastText(out.Last) != "done" {
			t.Errorf("%s: %v, %q", name, out.Failure, lastText(out.Last))
		}
	}
	want := []string{
		"first", "first -> failed: The operation was aborted.", "queued", "also queued", "late", "later",
		"queued -> failed: It was stopped before it was answered.", "also queued -> failed: It was stopped before it was answered.", "later -> done",
	}
	if diff := cmp.Diff(want, p.story(id)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
}

func lastText(m *lathe.Message) string {
	for _, p := range m.Parts {
		if b, ok := p.Body.(*lathe.Text); ok {
			return b.Text
		}
	}
	return ""
}

// A prompt that waits while a turn fails is answered by a turn of its own.
func TestPromptWhileFailing(t *testing.T) {
	h := newHeld()
	p := newPlay(t, nil, func(req *llm.Request) say {
		if strings.Contains(last(req), "first") {
			h.wait()
			return say{err: &llm.Error{Kind: llm.KindInvalid, Message: "no", Status: 400, RetryAfter: -1}}
		}
		return say{text: "done"}
	}).open()
	id := p.session()
	_, first := p.send(id, "first")
	<-h.here
	_, second := p.send(id, "second")
	h.goOn <- struct{}{}
	if out := p.wait(first); out.Failure == nil || out.Last == nil {
		t.Errorf("the first ended with %+v", out)
	}
	if out := p.wait(second); out.Failure != nil {
		t.Errorf("the second ended with %v", out.Failure)
	}
	if diff := cmp.Diff([]string{"first", "first -> failed: no", "second", "second -> done"}, p.story(id)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
}

// A compaction that a turn needs and cannot have is the answer's error, each time.
func TestFailedCompactionIsTold(t *testing.T) {
	p, r := readerPlay(t, 12, func() say {
		return say{err: &llm.Error{Kind: llm.KindInvalid, Message: "no summaries here", Status: 400, RetryAfter: -1}}
	})
	id := p.session()
	for _, text := range []string{"Read all files.", "And now?"} {
		out := p.prompt(id, session.Prompt{}, text)
		a, _ := out.Last.Info.(*lathe.Assistant)
		list := p.messages(id)
		stored := list[len(list)-1]
		if out.Failure == nil || a == nil || a.Error == nil || stored.ID != out.Last.ID || stored.Info.(*lathe.Assistant).Error == nil {
			t.Errorf("%s: %v, answer %+v", text, out.Failure, a)
		}
	}
	if r.asked.Load() != 2 {
		t.Errorf("%d summaries were asked for", r.asked.Load())
	}
}

// A refusal for size that nothing mends is the error of the refused answer.
func TestRefusedForGood(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say {
		return say{err: &llm.Error{Kind: llm.KindOverflow, Message: "too long", Status: 413, RetryAfter: -1}}
	}).open()
	out := p.prompt(p.session(), session.Prompt{}, "hello")
	if a := out.Last.Info.(*lathe.Assistant); out.Failure == nil || a.Error == nil {
		t.Errorf("failure %v, answer %+v", out.Failure, a)
	}
}

// A session that cannot be read answers with an error of its own message.
func TestUnreadableSession(t *testing.T) {
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: strings.Repeat("long ", 20_000)} }).open()
	id := p.session()
	p.prompt(id, session.Prompt{}, "first")
	gone := errors.New("a page is damaged")
	p.fault.Store(&gone)
	_, run, err := p.svc.Prompt(t.Context(), id, session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "second"}}})
	if run != nil || !errors.Is(err, gone) {
		t.Errorf("a prompt that cannot be stored: %v", err)
	}
	p.fault.Store(nil)
	if out := p.prompt(id, session.Prompt{}, "third"); out.Failure != nil {
		t.Error(out.Failure)
	}
}

// A moment without disk space ends the turn that falls into it and nothing else:
// when there is space again its answer is stored, and the session is free.
func TestDiskFull(t *testing.T) {
	h, p := heldAt(t, "first")
	id, other := p.session(), p.session()
	_, first := p.send(id, "first")
	<-h.here
	_, queued := p.send(id, "queued")
	full := error(syscall.ENOSPC)
	p.fault.Store(&full)
	h.goOn <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for name, run := range map[string]*session.Run{"first": first, "queued": queued} {
		out, err := run.Wait(ctx)
		if lathe.CodeOf(err) != lathe.CodeFull || out.Failure == nil || out.Last == nil || !strings.Contains(out.Failure.Error(), "free some space") {
			t.Errorf("%s: %v, %+v", name, err, out)
		}
	}
	for _, id := range []lathe.SessionID{id, other} {
		_, _, err := p.svc.Prompt(ctx, id, session.Prompt{Model: scripted, Parts: []lathe.PartBody{&lathe.Text{Text: "refused"}}})
		if lathe.CodeOf(err) != lathe.CodeFull {
			t.Errorf("a prompt to a full disk: %v", err)
		}
	}
	if err := p.store.Trouble(); !errors.Is(err, store.ErrFull) {
		t.Errorf("the store says %v", err)
	}
	if p.svc.Status(id) != (lathe.Idle{}) || p.svc.Abort(ctx, id) != nil {
		t.Error("the session is not idle")
	}
	updates := p.svc.Subscribe(ctx, bus.Filter{SessionID: id, Match: func(ev lathe.Event) bool {
		u, ok := ev.(lathe.MessageUpdated)
		a, _ := u.Message.Info.(*lathe.Assistant)
		return ok && a != nil && a.Error != nil
	}})
	defer updates.Close()
	p.fault.Store(nil)
	for range 2 { // by itself
		if _, err := updates.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []lathe.SessionID{id, other} {
		if out := p.prompt(id, session.Prompt{}, "again"); out.Failure != nil {
			t.Error(out.Failure)
		}
		if o, held, err := p.store.Holder(ctx, id); held || err != nil {
			t.Errorf("the session is still held by %v, %v", o, err)
		}
	}
	var answers []string
	for _, line := range p.story(id) {
		who, said, _ := strings.Cut(line, " -> ")
		said, _, _ = strings.Cut(said, " in ") // the disk, or the database
		answers = append(answers, who+": "+said)
	}
	want := []string{"first: ", "first: failed: no space left", "queued: ", "queued: failed: no space left", "again: ", "again: done"}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	if p.store.Trouble() != nil {
		t.Error("the store is still said to be full")
	}
}

// A fork of a session that works has what is done, whatever waits in it; nothing in
// it seems to run.
func TestForkWhileBusy(t *testing.T) {
	h, p := heldAt(t, "second")
	id := p.session()
	p.prompt(id, session.Prompt{}, "first")
	_, second := p.send(id, "second")
	<-h.here
	third, run := p.send(id, "third")
	for _, before := range []lathe.MessageID{"", third} {
		fork, err := p.svc.Fork(t.Context(), id, session.ForkInput{MessageID: before})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "first -> done", "second"}, p.story(fork.Session.ID)); diff != "" {
			t.Errorf("the fork before %q (-want +got):\n%s", before, diff)
		}
	}
	h.goOn <- struct{}{}
	p.wait(second)
	p.wait(run)
}

// Clients show messages by their identifiers: where those of a session are of the
// future, by an import or a client whose clock is ahead, new ones sort after them.
func TestIdentifiersGoOn(t *testing.T) {
	ahead := lathe.NewIDs(func() time.Time { return time.Now().Add(90 * 24 * time.Hour) }, nil)
	p := newPlay(t, nil, func(*llm.Request) say { return say{text: "done"} }).open()
	id := p.session()
	m := lathe.Message{ID: ahead.Message(), SessionID: id, Created: time.Now(), Info: &lathe.User{Agent: "build", Model: scripted},
		Parts: []lathe.Part{{ID: ahead.Part(), Body: &lathe.Text{Text: "from the future"}}}}
	if err := p.store.AddMessage(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	other := p.session()
	p.prompt(id, session.Prompt{}, "now")
	p.prompt(other, session.Prompt{MessageID: ahead.Message()}, "a clock that is ahead")
	p.prompt(other, session.Prompt{}, "and one that is not")
	for _, id := range []lathe.SessionID{id, other} {
		var got []string
		for _, m := range p.messages(id) {
			got = append(got, string(m.ID))
		}
		if len(got) < 3 || !slices.IsSorted(got) {
			t.Errorf("messages %v", got)
		}
	}
	plain := p.session()
	p.prompt(plain, session.Prompt{}, "hello")
	if got := p.messages(plain)[0].ID; got > lathe.NewIDs(func() time.Time { return time.Now().Add(time.Hour) }, nil).Message() {
		t.Errorf("another session has %s", got)
	}
}
