package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

// write is one thing that is stored. It is there as a whole or not at all.
type write struct {
	name string
	do   func(ctx context.Context, s *Opened) error
}

const crashed = lathe.SessionID("ses_1")

// script are writes of every kind, in an order that works.
func script() []write {
	call := runningCall(crashed, "prt_call", "t", map[string]any{"output": ""})
	shows := func(output string) func(context.Context, *Opened) error {
		return func(ctx context.Context, s *Opened) error {
			call.Body = runningCall(crashed, "prt_call", "t", map[string]any{"output": output}).Body
			return s.SaveProgress(ctx, call)
		}
	}
	in := func(do func(tx store.Tx) error) func(context.Context, *Opened) error {
		return func(ctx context.Context, s *Opened) error { return s.Batch(ctx, do) }
	}
	part := func(p *lathe.Part) func(context.Context, *Opened) error {
		return in(func(tx store.Tx) error { return tx.PutPart(p) })
	}
	big := strings.Repeat("large ", large/6)
	ended := openText(crashed, "msg_1", "prt_text")
	ended.Body = &lathe.Text{Text: "one two " + big, Time: lathe.Span{Start: epoch, End: epoch}}
	done := *call
	done.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolDone{
		Input: []byte(`{}`), Output: big, Title: "t", Metadata: map[string]any{"output": big}, Time: lathe.Span{Start: epoch, End: epoch},
	}}
	return []write{
		{"a session", in(func(tx store.Tx) error { return tx.CreateSession(Session(string(crashed))) })},
		{"a project", in(func(tx store.Tx) error {
			return tx.PutProject(lathe.Project{ID: "p1", Worktree: "/w", Created: epoch, Updated: epoch})
		})},
		{"a prompt with a large file, and the session that takes note", in(func(tx store.Tx) error {
			_, err := tx.UpdateSession(crashed, func(s *lathe.Session) error { s.Agent = "build"; return nil })
			return errors.Join(tx.AddMessage(UserMessage(crashed, "msg_0", Text("prt_0", "go"), Text("prt_0b", big+"0"))), err)
		})},
		{"an answer", in(func(tx store.Tx) error {
			return tx.AddMessage(Assistant(crashed, "msg_1", lathe.Assistant{Agent: "build"}))
		})},
		{"an open text", part(openText(crashed, "msg_1", "prt_text"))},
		{"some of it", func(ctx context.Context, s *Opened) error { return s.AppendText(ctx, "prt_text", 0, "one ") }},
		{"more of it", func(ctx context.Context, s *Opened) error { return s.AppendText(ctx, "prt_text", 4, "two ") }},
		{"its end", part(ended)},
		{"a call that runs", part(call)},
		{"what it shows", shows("line 1\n")},
		{"more that it shows", shows("line 1\nline 2\n")},
		{"its result", part(&done)},
		{"a task list", in(func(tx store.Tx) error {
			return tx.SetTodos(crashed, []lathe.Todo{{ID: "1", Content: "c", Status: "pending"}})
		})},
		{"what was changed, and a document", in(func(tx store.Tx) error {
			return errors.Join(tx.SetDiffs(crashed, "", []lathe.FileDiff{{File: "f", Before: big + "b", After: "a"}}), tx.SetValue(crashed, "k", []byte("v")))
		})},
		{"a summary and its boundary", in(func(tx store.Tx) error {
			return errors.Join(tx.AddMessage(Assistant(crashed, "msg_2", lathe.Assistant{Summary: true, Completed: epoch})), tx.SetBoundary(crashed, 2))
		})},
		{"an approval", in(func(tx store.Tx) error {
			return tx.PutApproval("p1", lathe.Rule{Permission: "bash", Pattern: "go *", Action: lathe.Allow})
		})},
		{"no part any more", in(func(tx store.Tx) error { return tx.RemovePart("prt_0b") })},
		{"no message any more", in(func(tx store.Tx) error { return tx.RemoveMessage(crashed, "msg_0") })},
		{"no session any more", in(func(tx store.Tx) error { _, err := tx.DeleteSession(crashed); return err })},
	}
}

// Crashing stores one thing after another and reports each one stored.
// [Under.Crash] runs it.
func Crashing(ctx context.Context, s *Opened, tell func(string)) error {
	for _, w := range script() {
		if err := w.do(ctx, s); err != nil {
			return fmt.Errorf("store %s: %w", w.name, err)
		}
		tell(w.name)
	}
	return nil
}

// stored is all that the script touches.
type stored struct {
	Sessions  []lathe.Session
	Messages  []lathe.Message
	Tail      int
	Todos     []lathe.Todo
	Diffs     []lathe.FileDiff
	Value     string
	Projects  []lathe.Project
	Approvals []lathe.Rule
}

func read(t testing.TB, s *Opened) (all stored) {
	t.Helper()
	ctx := t.Context()
	var err error
	all.Sessions, err = s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	for m, err := range s.Messages(ctx, crashed, store.MessageFilter{}) {
		must(t, err)
		all.Messages = append(all.Messages, m)
	}
	tail, err := s.Tail(ctx, crashed)
	must(t, err)
	all.Tail = len(tail)
	all.Todos, err = s.Todos(ctx, crashed)
	must(t, err)
	all.Diffs, err = s.Diffs(ctx, crashed, "")
	must(t, err)
	value, err := s.Value(ctx, crashed, "k")
	must(t, err)
	all.Value = string(value)
	all.Projects, err = s.Projects(ctx)
	must(t, err)
	all.Approvals, err = s.Approvals(ctx, "p1")
	must(t, err)
	return all
}

// states are what is stored before the script, and after each of its writes.
func states(t testing.TB, u Under) []stored {
	t.Helper()
	s := u.open(t)
	all := []stored{read(t, s)}
	for _, w := range script() {
		must(t, w.do(t.Context(), s))
		all = append(all, read(t, s))
	}
	return all
}

// testFault fails each transaction of the script once: nothing of it is stored,
// the store reports itself full, and the same write works afterwards.
func testFault(t *testing.T, u Under) {
	want := states(t, u)
	var fault error
	s := u.at(t).openWith(t, Options{Fault: func() error { return fault }})
	struck := 0
	for i, w := range script() {
		fault = errors.New("struck")
		if err := w.do(t.Context(), s); err != nil {
			struck++
			if diff := cmp.Diff(want[i], read(t, s)); diff != "" {
				t.Fatalf("%s failed and changed something (-want +got):\n%s", w.name, diff)
			}
		}
		fault = nil
		must(t, w.do(t.Context(), s))
		if diff := cmp.Diff(want[i+1], read(t, s)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", w.name, diff)
		}
	}
	if most := len(script()) - 4; struck < most { // streamed text is not a transaction
		t.Errorf("%d writes could be failed, of at least %d", struck, most)
	}
	fault = fmt.Errorf("commit: %w", store.ErrFull)
	if err := s.CreateSession(t.Context(), Session("ses_2")); !errors.Is(err, store.ErrFull) {
		t.Errorf("a full place: %v", err)
	}
	fault = nil
	must(t, s.Probe(t.Context()))
	if err := s.Trouble(); err != nil {
		t.Errorf("trouble after it works again: %v", err)
	}
	_, err := s.Sweep(t.Context()) // of bodies that nothing came to name
	must(t, err)
	nothingLeft(t, s)
}

// testCrash ends a process at each of its writes. What it reported is stored, what it
// was about to do is stored completely or not at all, and work can go on from there.
func testCrash(t *testing.T, u Under) {
	if u.Crash == nil {
		t.Skip("this store has no crash to test here")
	}
	want := states(t, u)
	step := 4 // each write in some runs, all of them if there is time
	switch {
	case os.Getenv("LATHE_KILL_ROUNDS") != "":
		step = 1
	case testing.Short():
		step = 9
	}
	crashes := 0
	for n := 1 + rand.IntN(step); ; n += step {
		at := u.at(t)
		told, struck := u.Crash(t, at.Place, n)
		if !struck {
			equal(t, len(script()), len(told))
			break
		}
		crashes++
		checkCrash(t, fmt.Sprintf("crash %d, after %q", n, told), at, want, len(told))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d crashes", crashes)
	if crashes < 3 {
		t.Error("nothing was stored in the process that is to crash")
	}
}

func checkCrash(t *testing.T, what string, at place, want []stored, told int) {
	t.Helper()
	s := at.open(t)
	got := read(t, s)
	if diff := cmp.Diff(want[told], got); diff != "" && (told+1 == len(want) || !cmp.Equal(want[told+1], got)) {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
	if s.Whole != nil {
		s.Whole(t)
	}
	if len(got.Sessions) > 0 {
		if _, err := s.Recover(t.Context(), crashed, s.Self); err != nil {
			t.Errorf("%s: recover: %v", what, err)
		}
		if _, err := s.Acquire(t.Context(), crashed, s.Self); err != nil {
			t.Errorf("%s: lease: %v", what, err)
		}
	}
	if ids, err := s.Unclosed(t.Context()); len(ids) > 0 || err != nil {
		t.Errorf("%s: still open: %v, %v", what, ids, err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Errorf("%s: sweep: %v", what, err)
	}
	nothingLeft(t, s)
	must(t, s.CreateSession(t.Context(), Session("ses_next")))
	must(t, s.Close())
}

// testOld opens what earlier versions left: everything is there, can be found and
// written, and opening it again finds the same.
func testOld(t *testing.T, u Under) {
	if u.Old == nil {
		t.Skip("this store has no earlier versions")
	}
	for name, old := range u.Old(t) {
		t.Run(name, func(t *testing.T) {
			at := place{old.Place}
			for range 2 {
				s := at.open(t)
				msgs, err := s.Tail(t.Context(), old.Session)
				must(t, err)
				if len(msgs) != old.Messages {
					t.Fatalf("%d messages of %d", len(msgs), old.Messages)
				}
				for i, m := range msgs {
					if b, ok := m.Parts[0].Body.(*lathe.Text); !ok || b.Text != old.Text(i) {
						t.Errorf("message %d says %+v", i, m.Parts[0].Body)
					}
				}
				_, err = s.Index(t.Context())
				must(t, err)
				hits, err := s.Search(t.Context(), `"`+old.Text(old.Messages-1)+`"`, store.SearchFilter{})
				must(t, err)
				equal(t, 1, len(hits))
				if s.Whole != nil {
					s.Whole(t)
				}
				must(t, s.SetValue(t.Context(), old.Session, "k", []byte("written")))
				must(t, s.Close())
			}
		})
	}
}
