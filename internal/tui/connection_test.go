package tui

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe"
	"lathe/internal/tui/engine"
)

// story is what happened in a session, and what a reader of it is told at any
// point.
type story struct {
	user, answer lathe.Message
	events       []lathe.Event
	states       [][]lathe.Part // of the answer, after so many events
}

func (s *story) add(e lathe.Event, parts []lathe.Part) {
	s.events, s.states = append(s.events, e), append(s.states, slices.Clone(parts))
}

func (s *story) history(n int) []lathe.Message {
	list := []lathe.Message{s.user}
	if n > 0 {
		m := s.answer
		m.Parts = s.states[n-1]
		list = append(list, m)
	}
	return list
}

// tell makes up a turn: texts that stream, and calls of tools.
func tell(t *rapid.T) *story {
	s := &story{user: question(1, "go")}
	s.answer = reply(2)
	s.answer.Info.(*lathe.Assistant).Completed = time.Time{}
	var parts []lathe.Part
	s.add(lathe.MessageUpdated{Message: s.answer}, nil)
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
		p := part(s.answer, i+1, nil)
		parts = append(parts, p)
		set := func(b lathe.PartBody, told bool) {
			parts = slices.Clone(parts)
			parts[i].Body = b
			if told {
				s.add(lathe.PartUpdated{Part: parts[i]}, parts)
			}
		}
		if rapid.Bool().Draw(t, "tool") {
			call := lathe.ToolCall{CallID: "c", Tool: "bash"}
			call.State = &lathe.ToolRunning{Start: at(1)}
			running := call
			set(&running, true)
			call.State = &lathe.ToolDone{Output: "out", Time: lathe.Span{Start: at(1), End: at(2)}}
			set(&call, true)
			continue
		}
		text := ""
		set(&lathe.Text{Time: lathe.Span{Start: at(1)}}, true)
		for range rapid.IntRange(0, 6).Draw(t, "deltas") {
			d := rapid.StringMatching(`[ab]{1,3}`).Draw(t, "delta")
			text += d
			set(&lathe.Text{Text: text, Time: lathe.Span{Start: at(1)}}, false)
			s.add(lathe.PartDelta{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.ID, Delta: d, End: len(text)}, parts)
		}
		set(&lathe.Text{Text: text, Time: lathe.Span{Start: at(1), End: at(2)}}, true)
	}
	return s
}

// TestCatchingUp holds that a screen shows what there is however the reading of a
// session falls between its events, and never a text twice.
func TestCatchingUp(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := tell(rt)
		n := len(s.events)
		cut := rapid.IntRange(0, n).Draw(rt, "delivered until the connection broke")
		back := rapid.IntRange(cut, n).Draw(rt, "it is back")
		read := rapid.IntRange(back, n).Draw(rt, "read")
		mean := rapid.IntRange(back, n).Draw(rt, "delivered while it is read")

		f := newFake()
		f.sessions["ses_1"] = lathe.Session{ID: "ses_1", Agent: "build"}
		f.history["ses_1"] = s.history(0)
		d := drive(t, Options{Engine: f, Start: Start{Session: "ses_1"}})
		pump := func(from, to int) {
			d.send(merged(rt, s.events[from:to]))
			for _, p := range shown(d.app) {
				if !slices.ContainsFunc(s.states[n-1], func(q lathe.Part) bool { return q.ID == p.ID && strings.HasPrefix(textOf(q), textOf(p)) }) {
					rt.Fatalf("the screen has %q", textOf(p))
				}
			}
		}
		pump(0, cut)
		d.app.link = engine.Link{Up: true}
		_, cmd := d.app.Update(Events{Lost: true, Link: &engine.Link{Up: true, Lost: true}})
		var late []tea.Msg
		f.history["ses_1"] = s.history(read)
		collect(cmd, &late)
		pump(back, mean)
		for _, m := range late {
			d.send(m)
		}
		pump(mean, n)
		if diff := cmp.Diff(s.states[n-1], shown(d.app)); diff != "" {
			rt.Errorf("parts (-want +got):\n%s", diff)
		}
	})
}

// merged returns events as the pump hands them on.
func merged(t *rapid.T, events []lathe.Event) Events {
	p := &pump{send: func(tea.Msg) {}, queued: true}
	var batch Events
	for _, e := range events {
		p.add(lathe.Envelope{Event: e})
		if rapid.Bool().Draw(t, "flush") {
			batch.List, p.list = append(batch.List, p.list...), nil
		}
	}
	batch.List = append(batch.List, p.list...)
	return batch
}

// collect runs commands and keeps what they bring.
func collect(cmd tea.Cmd, out *[]tea.Msg) {
	if cmd == nil {
		return
	}
	switch m := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			collect(c, out)
		}
	default:
		*out = append(*out, m)
	}
}

// shown returns the parts of the newest answer on screen.
func shown(a *App) (parts []lathe.Part) {
	for _, m := range a.conv.Messages() {
		if m.ID == "msg_2" {
			parts = m.Parts
		}
	}
	return parts
}

func textOf(p lathe.Part) string {
	if b, ok := p.Body.(*lathe.Text); ok {
		return b.Text
	}
	return ""
}

// A delta whose text before it is missing has the session read again.
func TestMissingText(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"))
	open := reply(2)
	p := part(open, 1, &lathe.Text{Text: "one", Time: lathe.Span{Start: time.Unix(1, 0)}})
	d.event(lathe.MessageUpdated{Message: open}, lathe.PartUpdated{Part: p})
	whole := open
	whole.Parts = []lathe.Part{part(open, 1, &lathe.Text{Text: "one two three", Time: lathe.Span{Start: time.Unix(1, 0)}})}
	d.engine.history["ses_1"] = append(d.engine.history["ses_1"], whole)
	d.event(lathe.PartDelta{SessionID: "ses_1", MessageID: open.ID, PartID: p.ID, Delta: "three", End: 13})
	d.shows("one two three")
	d.hides("onethree")
}

func TestLinkIsShown(t *testing.T) {
	d := withHistory(t, Options{Server: "127.0.0.1:4096"}, question(1, "go"))
	d.app.link = engine.Link{Up: true}
	d.send(Events{Link: &engine.Link{Err: errors.New("broken"), Retry: d.now.Add(3 * time.Second)}})
	d.shows("not connected: trying again in 3 s")
	d.now = d.now.Add(time.Second)
	d.shows("trying again in 2 s")
	d.now = d.now.Add(3 * time.Second)
	d.shows("connecting")
	d.engine.history["ses_1"] = append(d.engine.history["ses_1"], reply(2, &lathe.Text{Text: "said meanwhile"}))
	d.send(Events{Lost: true, Link: &engine.Link{Up: true, Lost: true}})
	d.hides("connect", "trying")
	d.shows("said meanwhile", "127.0.0.1:4096")
}

// What was answered elsewhere while the screen was not connected is gone.
func TestWaitingSettles(t *testing.T) {
	d := withHistory(t, Options{}, question(1, "go"))
	d.event(lathe.PermissionAsked{Ask: lathe.Ask{ID: "per_1", SessionID: "ses_1", Permission: "bash", Patterns: []string{"make"}}})
	d.shows("permission: bash")
	d.send(Events{Lost: true, Link: &engine.Link{Up: true, Lost: true}})
	d.hides("permission: bash")
}

// farEngine is an engine whose connection a test controls.
type farEngine struct {
	*fakeEngine
	streams chan chan engine.Update // one for each call of Follow
}

func (f *farEngine) Follow(ctx context.Context) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		updates := <-f.streams
		for {
			select {
			case u, ok := <-updates:
				if !ok {
					yield(engine.Update{}, errors.New("refused"))
					return
				}
				if !yield(u, nil) {
					return
				}
			case <-ctx.Done():
				yield(engine.Update{}, context.Cause(ctx))
				return
			}
		}
	}
}

func TestPumpTellsOfTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan engine.Update), make(chan engine.Update)
		f := &farEngine{newFake(), make(chan chan engine.Update, 2)}
		f.streams <- first
		f.streams <- second
		var got []Events
		p := &pump{send: func(m tea.Msg) { got = append(got, m.(Events)) }}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); p.run(ctx, f) }()
		take := func() Events {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			all := Events{}
			for _, e := range got {
				all.List, all.Lost = append(all.List, e.List...), all.Lost || e.Lost
				if e.Link != nil {
					all.Link = e.Link
				}
			}
			got = nil
			return all
		}
		first <- engine.Update{Link: &engine.Link{Up: true}}
		if e := take(); e.Lost || !e.Link.Up {
			t.Errorf("up: %+v", e)
		}
		first <- engine.Update{Link: &engine.Link{Err: errors.New("cut")}}
		if e := take(); e.Link == nil || e.Link.Up {
			t.Errorf("down: %+v", e)
		}
		first <- engine.Update{Link: &engine.Link{Up: true}}
		if e := take(); e.Lost || !e.Link.Up {
			t.Errorf("up again, nothing lost: %+v", e)
		}
		close(first) // it ends: what a new stream begins with was not heard
		take()
		second <- engine.Update{Link: &engine.Link{Up: true}}
		if e := take(); !e.Lost || !e.Link.Up {
			t.Errorf("a new stream: %+v", e)
		}
		cancel()
		<-done
	})
}
