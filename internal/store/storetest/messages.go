package storetest

import (
	"errors"
	"fmt"
	"lathe"
	"lathe/internal/store"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// page is more than stores are likely to read at once.
const page = 64

func testMessages(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	var want []lathe.Message
	for i := range 3*page + 5 {
		// Identifiers run backwards: order must not come from them.
		id := fmt.Sprintf("msg_%03d", 999-i)
		m := UserMessage(ses, id, Text(fmt.Sprintf("prt_%d_b", i), "one"), Text(fmt.Sprintf("prt_%d_a", i), "two"))
		must(t, s.AddMessage(ctx, m))
		if m.Seq != int64(i+1) || m.Parts[1].Seq != 2 || m.Parts[1].MessageID != m.ID {
			t.Fatalf("sequence numbers: %+v", m)
		}
		want = append(want, *m)
	}
	tail, err := s.Tail(ctx, ses)
	must(t, err)
	equal(t, want, tail)
	var back []lathe.Message
	for m, err := range s.Messages(ctx, ses, store.MessageFilter{}) {
		must(t, err)
		back = append([]lathe.Message{m}, back...)
	}
	equal(t, want, back)
	back = nil
	for m, err := range s.Messages(ctx, ses, store.MessageFilter{Before: 150, Limit: page + 1}) {
		must(t, err)
		back = append([]lathe.Message{m}, back...)
	}
	equal(t, want[149-page-1:149], back)

	got, err := s.Message(ctx, ses, want[4].ID)
	must(t, err)
	equal(t, want[4], got)
	if _, err := s.Message(ctx, ses, "msg_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown message: %v", err)
	}
	if err := s.AddMessage(ctx, UserMessage(ses, string(want[0].ID))); !errors.Is(err, store.ErrExists) {
		t.Errorf("taken message id: %v", err)
	}
	if err := s.AddMessage(ctx, UserMessage(ses, "msg_new", Text("prt_0_a", ""))); !errors.Is(err, store.ErrExists) {
		t.Errorf("taken part id: %v", err)
	}
	if err := s.AddMessage(ctx, UserMessage("ses_x", "msg_new")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	must(t, s.RemoveMessage(ctx, ses, want[1].ID))
	must(t, s.RemovePart(ctx, want[0].Parts[0].ID))
	want[0].Parts = want[0].Parts[1:]
	tail, err = s.Tail(ctx, ses)
	must(t, err)
	equal(t, append(want[:1:1], want[2:]...), tail)
	for _, err := range []error{
		s.RemoveMessage(ctx, ses, "msg_x"), s.RemovePart(ctx, "prt_x"), s.UpdateMessage(ctx, UserMessage(ses, "msg_x")),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("want not found, got %v", err)
		}
	}
	// A number is not given out again.
	m := UserMessage(ses, "msg_last")
	must(t, s.AddMessage(ctx, m))
	equal(t, int64(3*page+6), m.Seq)
}

func testBoundary(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	add := func(id string, summary bool) {
		t.Helper()
		must(t, s.AddMessage(ctx, Assistant(ses, id, lathe.Assistant{Summary: summary, Completed: epoch})))
	}
	tail := func() (ids []string) {
		t.Helper()
		msgs, err := s.Tail(ctx, ses)
		must(t, err)
		for _, m := range msgs {
			ids = append(ids, string(m.ID))
		}
		return ids
	}
	for i := range 4 {
		add(fmt.Sprint(i), false)
	}
	add("sum1", true)
	must(t, s.SetBoundary(ctx, ses, 4))
	equal(t, []string{"3", "sum1"}, tail())
	add("5", false)
	add("sum2", true)
	must(t, s.SetBoundary(ctx, ses, 6))
	add("7", false)
	equal(t, []string{"5", "sum2", "7"}, tail())
	// Undoing the second compaction brings the first boundary back.
	must(t, s.RemoveMessage(ctx, ses, "sum2"))
	equal(t, []string{"3", "sum1", "5", "7"}, tail())
	must(t, s.SetBoundary(ctx, ses, 0))
	equal(t, []string{"0", "1", "2", "3", "sum1", "5", "7"}, tail())
	if err := s.SetBoundary(ctx, "ses_x", 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}

func testPutPart(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, UserMessage(ses, "msg_1", Text("prt_1", "hello"))))
	must(t, s.AddMessage(ctx, Assistant(ses, "msg_2", lathe.Assistant{})))
	p := lathe.Part{ID: "prt_2", SessionID: ses, MessageID: "msg_2", Body: &lathe.ToolCall{
		CallID: "c", Tool: "bash", State: &lathe.ToolPending{Raw: "{"},
	}}
	must(t, s.PutPart(ctx, &p))
	q := lathe.Part{ID: "prt_3", SessionID: ses, MessageID: "msg_2", Body: &lathe.StepStart{}}
	must(t, s.PutPart(ctx, &q))
	p.Seq = 0
	p.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolDone{
		Input: []byte(`{ "b": 1,"a":"<x>" }`), Output: strings.Repeat("z", 3*large),
		Metadata: map[string]any{"exit": 1.0, "big": strings.Repeat("m", large)}, Time: lathe.Span{Start: epoch, End: epoch},
		Attachments: []lathe.File{{MIME: "image/png", URL: "data:" + strings.Repeat("A", 2*large)}},
	}}
	must(t, s.PutPart(ctx, &p))
	got, err := s.Message(ctx, ses, "msg_2")
	must(t, err)
	equal(t, []lathe.Part{p, q}, got.Parts)
	equal(t, []int64{1, 2}, []int64{p.Seq, q.Seq})

	stolen := p
	stolen.MessageID = "msg_1"
	if err := s.PutPart(ctx, &stolen); !errors.Is(err, store.ErrExists) {
		t.Errorf("part of another message: %v", err)
	}
	stray := lathe.Part{ID: "prt_9", SessionID: ses, MessageID: "msg_9", Body: &lathe.StepStart{}}
	if err := s.PutPart(ctx, &stray); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown message: %v", err)
	}
}

// A turn gets everything but the marks of steps that are over.
func testTurnTail(t *testing.T, u Under) {
	s := u.open(t)
	ses := Steps(t, s.Store, 150)
	want, err := s.Tail(t.Context(), ses)
	must(t, err)
	marks := 0
	for i := range want[:150] { // the newest answer stands at 150
		var kept []lathe.Part
		for j, p := range want[i].Parts {
			switch p.Body.(type) {
			case *lathe.StepFinish:
				marks++
				continue
			case *lathe.StepStart:
				if j == 0 {
					marks++
					continue
				}
			}
			kept = append(kept, p)
		}
		want[i].Parts = kept
	}
	got, err := s.TurnTail(t.Context(), ses)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || marks != 2*149 || len(got) != 152 {
		t.Errorf("%d marks, %d messages (-want +got):\n%s", marks, len(got), diff)
	}
}

// What other sessions did beside an answer is what they began after it, what is
// still open, and what ended after it began; not what is older, copied,
// elsewhere, or from the session's own family.
func testBeside(t *testing.T, u Under) {
	ctx := t.Context()
	s := u.open(t)
	add := func(ses lathe.SessionID, id string, began, ended int) {
		t.Helper()
		at := func(second int) time.Time { return epoch.Add(time.Duration(second) * time.Second) }
		m := Assistant(ses, id, lathe.Assistant{})
		m.Created = at(began)
		if ended > 0 {
			m.Info = &lathe.Assistant{Completed: at(ended), Error: &lathe.UnknownFailure{Message: strings.Repeat("why ", len(id)%2*10_000)}}
		}
		patch := lathe.Part{ID: lathe.PartID("prt_" + id), Body: &lathe.Patch{Hash: "h", Files: []string{"/work/" + id}}}
		m.Parts = []lathe.Part{Text("prt_t"+id, "words"), patch}
		must(t, s.AddMessage(ctx, m))
	}
	create := func(id, parent, project, dir string) lathe.SessionID {
		ses := Session(id)
		ses.ParentID, ses.ProjectID, ses.Directory = lathe.SessionID(parent), project, dir
		must(t, s.CreateSession(ctx, ses))
		return ses.ID
	}
	root := create("ses_root", "", "p1", "/work")
	own := create("ses_own", "ses_root", "p1", "/work")
	child := create("ses_child", "ses_own", "p1", "/work")
	sibling := create("ses_sibling", "ses_root", "p1", "/work")
	b := create("ses_b", "", "p1", "/work/sub")
	c := create("ses_c", "", "p1", "/work")
	d := create("ses_d", "", "p1", "/work")
	other := create("ses_other", "", "p2", "/work")

	if _, err := s.Beside(ctx, own); err == nil {
		t.Error("a session without an answer has one")
	}
	add(own, "old", 1, 2)
	add(b, "before", 1, 9)
	add(b, "across", 5, 15)
	add(c, "over", 2, 10)
	add(c, "longago", 2, 10)
	add(d, "open", 3, 0)
	must(t, s.AddMessage(ctx, UserMessage(own, "msg_u", Text("prt_u", "go"))))
	add(own, "mine", 10, 0)
	add(root, "root", 11, 0)
	add(child, "child", 12, 13)
	add(sibling, "sibling", 12, 13)
	add(other, "elsewhere", 12, 13)
	add(c, "after", 12, 13)
	add(c, "copied", 2, 9)
	must(t, s.AddMessage(ctx, UserMessage(own, "msg_s", Text("prt_s", "steer"))))

	got, err := s.Beside(ctx, own)
	must(t, err)
	var seen []string
	for _, o := range got.Others {
		if len(o.Parts) != 1 || o.Parts[0].Body.(*lathe.Patch).Hash != "h" {
			t.Errorf("%s has the parts %v", o.ID, o.Parts)
		}
		seen = append(seen, fmt.Sprintf("%s %s %s", o.SessionID, o.ID, o.Directory))
	}
	want := []string{"ses_c after /work", "ses_d open /work", "ses_b across /work/sub"}
	if diff := cmp.Diff(want, seen); diff != "" || got.Answer.ID != "mine" || got.More {
		t.Errorf("beside %s, more %v (-want +got):\n%s", got.Answer.ID, got.More, diff)
	}

	const many = 2000 // as nobody wants to look through
	must(t, s.Batch(ctx, func(tx store.Tx) (err error) {
		for i := range many {
			m := Assistant(b, fmt.Sprint("many", i), lathe.Assistant{})
			m.Created = epoch.Add(20 * time.Second)
			err = errors.Join(err, tx.AddMessage(m))
		}
		return err
	}))
	got, err = s.Beside(ctx, own)
	must(t, err)
	if len(got.Others) == 0 || len(got.Others) >= many || !got.More {
		t.Errorf("%d others of more than %d, more %v", len(got.Others), many, got.More)
	}
}
