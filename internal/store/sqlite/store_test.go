package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

var epoch = time.UnixMilli(1795182093288).UTC()

func open(t testing.TB, dir string) *testDB {
	t.Helper()
	s, err := openTest(t.Context(), Options{Dir: dir, Now: func() time.Time { return epoch }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whole fails the test unless everything is as it was stored.
func whole(t testing.TB, s *testDB) {
	t.Helper()
	found, err := s.Check(t.Context())
	must(t, err)
	for _, i := range found {
		t.Errorf("damaged: %s %s", i.Session, i.What)
	}
}

func equal(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func aSession(id string) lathe.Session {
	return lathe.Session{
		ID: lathe.SessionID(id), Slug: "calm-river", ProjectID: "p1", Directory: "/work", Title: "Title of " + id,
		Version: "1", Created: epoch, Updated: epoch, Model: lathe.ModelRef{Provider: "x", Model: "m"},
		Rules: []lathe.Rule{{Permission: "bash", Pattern: "*", Action: lathe.AskMe}}, Cost: 12,
	}
}

func userMessage(ses lathe.SessionID, id string, parts ...lathe.Part) *lathe.Message {
	return &lathe.Message{
		ID: lathe.MessageID(id), SessionID: ses, Created: epoch,
		Info: &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "x", Model: "m"}}, Parts: parts,
	}
}

func assistant(ses lathe.SessionID, id string, a lathe.Assistant) *lathe.Message {
	return &lathe.Message{ID: lathe.MessageID(id), SessionID: ses, Created: epoch, Info: &a}
}

func text(id, s string) lathe.Part {
	return lathe.Part{ID: lathe.PartID(id), Body: &lathe.Text{Text: s}}
}

func openText1(ses, msg, id string) *lathe.Part {
	return &lathe.Part{
		ID: lathe.PartID(id), SessionID: lathe.SessionID(ses), MessageID: lathe.MessageID(msg),
		Body: &lathe.Text{Time: lathe.Span{Start: epoch}},
	}
}

func seed(t testing.TB, s *testDB, id string) lathe.SessionID {
	t.Helper()
	must(t, s.CreateSession(t.Context(), aSession(id)))
	return lathe.SessionID(id)
}

func TestSessions(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	a, b, c := aSession("ses_a"), aSession("ses_b"), aSession("ses_c")
	b.ParentID, b.Created, b.Archived = "ses_a", epoch.Add(time.Second), epoch
	a.Updated = b.Updated.Add(time.Second)
	c.Created, c.Updated, c.Directory, c.Title = epoch.Add(2*time.Second), epoch.Add(time.Hour), "/else", "Größe"
	c.Revert = &lathe.Revert{MessageID: "msg_1", Diff: strings.Repeat("d", codec.Spill+1)}
	for _, ses := range []lathe.Session{a, b, c} {
		must(t, s.CreateSession(ctx, ses))
	}
	if err := s.CreateSession(ctx, a); !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: %v", err)
	}
	for _, tt := range []struct {
		name string
		f    store.SessionFilter
		want []lathe.Session
	}{
		{"all, newest first", store.SessionFilter{}, []lathe.Session{c, b, a}},
		{"limit", store.SessionFilter{Limit: 1}, []lathe.Session{c}},
		{"by use", store.SessionFilter{ByUse: true}, []lathe.Session{c, a, b}},
		{"roots", store.SessionFilter{Roots: true}, []lathe.Session{c, a}},
		{"children", store.SessionFilter{ParentID: "ses_a"}, []lathe.Session{b}},
		{"active", store.SessionFilter{Active: true}, []lathe.Session{c, a}},
		{"directory", store.SessionFilter{Directory: "/else", ProjectID: "p1"}, []lathe.Session{c}},
		{"search", store.SessionFilter{Search: "TITLE OF ses_A"}, []lathe.Session{a}},
		{"search takes no wildcards", store.SessionFilter{Search: "%"}, nil},
		{"since", store.SessionFilter{Since: epoch.Add(time.Minute)}, []lathe.Session{c}},
		{"other project", store.SessionFilter{ProjectID: "p2"}, nil},
	} {
		got, err := s.Sessions(ctx, tt.f)
		must(t, err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	stop := errors.New("stop")
	if _, err := s.UpdateSession(ctx, "ses_a", func(x *lathe.Session) error { x.Title = "no"; return stop }); !errors.Is(err, stop) {
		t.Errorf("update with error: %v", err)
	}
	a.Title = "yes"
	got, err := s.UpdateSession(ctx, "ses_a", func(x *lathe.Session) error { x.Title, x.ID = "yes", "other"; return nil })
	must(t, err)
	equal(t, a, got)
	got, err = s.Session(ctx, "ses_a")
	must(t, err)
	equal(t, a, got)
	if _, err := s.Session(ctx, "ses_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
}

func TestDeleteSession(t *testing.T) {
	dir := t.TempDir()
	s, ctx := open(t, dir), t.Context()
	big := strings.Repeat("x", codec.Spill+1)
	for i, parent := range []string{"", "ses_0", "ses_1", "", "ses_0"} {
		ses := aSession(fmt.Sprintf("ses_%d", i))
		ses.ParentID = lathe.SessionID(parent)
		must(t, s.CreateSession(ctx, ses))
		must(t, s.AddMessage(ctx, userMessage(ses.ID, "msg_1", text(fmt.Sprintf("prt_%d", i), big+parent))))
	}
	must(t, s.AddMessage(ctx, assistant("ses_2", "msg_2", lathe.Assistant{})))
	must(t, s.PutPart(ctx, openText1("ses_2", "msg_2", "prt_open")))
	must(t, s.AppendText(ctx, "prt_open", 0, "streamed"))
	gone, err := s.DeleteSession(ctx, "ses_0")
	must(t, err)
	var ids []lathe.SessionID
	for _, g := range gone {
		ids = append(ids, g.ID)
	}
	equal(t, []lathe.SessionID{"ses_2", "ses_1", "ses_4", "ses_0"}, ids)
	left, err := s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	equal(t, []lathe.Session{aSession("ses_3")}, left)
	// ses_3 shares its blob with ses_0.
	equal(t, []string{"blob"}, topFiles(t, dir, "blob", "open"))
	msgs, err := s.Tail(ctx, "ses_3")
	must(t, err)
	equal(t, big, msgs[0].Parts[0].Body.(*lathe.Text).Text)
	if _, err := s.DeleteSession(ctx, "ses_0"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}
}

// topFiles returns, for each file below the directories, the directory it is in.
func topFiles(t testing.TB, dir string, subs ...string) (found []string) {
	t.Helper()
	for _, sub := range subs {
		filepath.WalkDir(filepath.Join(dir, sub), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, sub)
			}
			return nil
		})
	}
	return found
}

func TestMessages(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	var want []lathe.Message
	for i := range 3*page + 5 {
		// Identifiers run backwards: order must not come from them.
		id := fmt.Sprintf("msg_%03d", 999-i)
		m := userMessage(ses, id, text(fmt.Sprintf("prt_%d_b", i), "one"), text(fmt.Sprintf("prt_%d_a", i), "two"))
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
	for m, err := range s.Messages(ctx, ses, store.MessageFilter{Before: 50, Limit: page + 1}) {
		must(t, err)
		back = append([]lathe.Message{m}, back...)
	}
	equal(t, want[49-page-1:49], back)

	got, err := s.Message(ctx, ses, want[4].ID)
	must(t, err)
	equal(t, want[4], got)
	if _, err := s.Message(ctx, ses, "msg_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown message: %v", err)
	}
	if err := s.AddMessage(ctx, userMessage(ses, string(want[0].ID))); !errors.Is(err, store.ErrExists) {
		t.Errorf("taken message id: %v", err)
	}
	if err := s.AddMessage(ctx, userMessage(ses, "msg_new", text("prt_0_a", ""))); !errors.Is(err, store.ErrExists) {
		t.Errorf("taken part id: %v", err)
	}
	if err := s.AddMessage(ctx, userMessage("ses_x", "msg_new")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	must(t, s.RemoveMessage(ctx, ses, want[1].ID))
	must(t, s.RemovePart(ctx, want[0].Parts[0].ID))
	want[0].Parts = want[0].Parts[1:]
	tail, err = s.Tail(ctx, ses)
	must(t, err)
	equal(t, append(want[:1:1], want[2:]...), tail)
	for _, err := range []error{
		s.RemoveMessage(ctx, ses, "msg_x"), s.RemovePart(ctx, "prt_x"), s.UpdateMessage(ctx, userMessage(ses, "msg_x")),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("want not found, got %v", err)
		}
	}
	// A number is not given out again.
	m := userMessage(ses, "msg_last")
	must(t, s.AddMessage(ctx, m))
	equal(t, int64(3*page+6), m.Seq)
}

func TestBoundary(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	add := func(id string, summary bool) {
		t.Helper()
		must(t, s.AddMessage(ctx, assistant(ses, id, lathe.Assistant{Summary: summary, Completed: epoch})))
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

func TestPutPart(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, userMessage(ses, "msg_1", text("prt_1", "hello"))))
	must(t, s.AddMessage(ctx, assistant(ses, "msg_2", lathe.Assistant{})))
	p := lathe.Part{ID: "prt_2", SessionID: ses, MessageID: "msg_2", Body: &lathe.ToolCall{
		CallID: "c", Tool: "bash", State: &lathe.ToolPending{Raw: "{"},
	}}
	must(t, s.PutPart(ctx, &p))
	q := lathe.Part{ID: "prt_3", SessionID: ses, MessageID: "msg_2", Body: &lathe.StepStart{}}
	must(t, s.PutPart(ctx, &q))
	p.Seq = 0
	p.Body = &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolDone{
		Input: []byte(`{ "b": 1,"a":"<x>" }`), Output: strings.Repeat("z", 3*codec.Spill),
		Metadata: map[string]any{"exit": 1.0, "big": strings.Repeat("m", codec.Spill)}, Time: lathe.Span{Start: epoch, End: epoch},
		Attachments: []lathe.File{{MIME: "image/png", URL: "data:" + strings.Repeat("A", 2*codec.Spill)}},
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

func TestAppendText(t *testing.T) {
	dir := t.TempDir()
	s, ctx := open(t, dir), t.Context()
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, assistant(ses, "msg_1", lathe.Assistant{})))
	p := openText1("ses_a", "msg_1", "prt_1")
	p.Body.(*lathe.Text).Text = "so: "
	must(t, s.PutPart(ctx, p))
	read := func(s *testDB) string {
		t.Helper()
		m, err := s.Message(ctx, ses, "msg_1")
		must(t, err)
		return m.Parts[0].Body.(*lathe.Text).Text
	}
	equal(t, "so: ", read(s))
	must(t, s.AppendText(ctx, "prt_1", 4, "grün"))
	must(t, s.AppendText(ctx, "prt_1", 4, "grün")) // repeated
	must(t, s.AppendText(ctx, "prt_1", 6, "ün und blau"))
	equal(t, "so: grün und blau", read(s))
	if err := s.AppendText(ctx, "prt_1", 99, "x"); err == nil {
		t.Error("a gap was accepted")
	}
	// Another process goes on where this one stopped.
	other := open(t, dir)
	must(t, other.AppendText(ctx, "prt_1", int64(len("so: grün und blau")), "!"))
	equal(t, "so: grün und blau!", read(other))

	p.Body = &lathe.Text{Text: "so: grün und blau!", Time: lathe.Span{Start: epoch, End: epoch}}
	must(t, s.PutPart(ctx, p))
	equal(t, "so: grün und blau!", read(s))
	if files := topFiles(t, dir, "open"); files != nil {
		t.Errorf("left behind: %v", files)
	}
	for _, id := range []lathe.PartID{"prt_1", "prt_9"} {
		if err := s.AppendText(ctx, id, 0, "x"); err == nil {
			t.Errorf("append to %s was accepted", id)
		}
	}
}

func TestBatch(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	stop := errors.New("stop")
	err := s.batch(ctx, func(tx *tx) error {
		must(t, tx.CreateSession(aSession("ses_a")))
		must(t, tx.AddMessage(userMessage("ses_a", "msg_1")))
		return stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	func() {
		defer func() { recover() }()
		s.batch(ctx, func(tx *tx) error {
			must(t, tx.CreateSession(aSession("ses_b")))
			panic("broken")
		})
	}()
	got, err := s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	equal(t, []lathe.Session(nil), got)
	must(t, s.batch(ctx, func(tx *tx) error { return tx.CreateSession(aSession("ses_a")) }))

	cause := errors.New("why")
	done, cancel := context.WithCancelCause(ctx)
	cancel(cause)
	if err := s.CreateSession(done, aSession("ses_c")); !errors.Is(err, cause) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRest(t *testing.T) {
	s, ctx := open(t, t.TempDir()), t.Context()
	ses := seed(t, s, "ses_a")
	todos := []lathe.Todo{{ID: "1", Content: "a < b", Status: "pending", Priority: "high"}}
	must(t, s.SetTodos(ctx, ses, todos))
	gotTodos, err := s.Todos(ctx, ses)
	must(t, err)
	equal(t, todos, gotTodos)

	diffs := []lathe.FileDiff{{File: "a", Before: strings.Repeat("b", codec.Spill+1), After: "c", Patch: "p", Additions: 1, Status: "modified"}}
	must(t, s.SetDiffs(ctx, ses, "", diffs))
	must(t, s.SetDiffs(ctx, ses, "msg_1", diffs[:0]))
	gotDiffs, err := s.Diffs(ctx, ses, "")
	must(t, err)
	equal(t, diffs, gotDiffs)
	if err := s.SetDiffs(ctx, "ses_x", "", diffs); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}

	p := lathe.Project{ID: "p1", Worktree: "/w", VCS: "git", Created: epoch, Updated: epoch}
	must(t, s.PutProject(ctx, p))
	p.Updated = epoch.Add(time.Second)
	must(t, s.PutProject(ctx, p))
	gotProject, err := s.Project(ctx, "p1")
	must(t, err)
	equal(t, p, gotProject)
	all, err := s.Projects(ctx)
	must(t, err)
	equal(t, []lathe.Project{p}, all)

	r1 := lathe.Rule{Permission: "bash", Pattern: "git *", Action: lathe.Allow}
	r2 := lathe.Rule{Permission: "edit", Pattern: "*", Action: lathe.Allow}
	for _, r := range []lathe.Rule{r1, r2, r1} {
		must(t, s.PutApproval(ctx, "p1", r))
	}
	rules, err := s.Approvals(ctx, "p1")
	must(t, err)
	equal(t, []lathe.Rule{r2, r1}, rules)
	must(t, s.Batch(ctx, func(tx store.Tx) error { return tx.DeleteApproval("p1", rules[0]) }))
	if left, err := s.Approvals(ctx, "p1"); err != nil || len(left) != len(rules)-1 {
		t.Errorf("after deleting one of %d approvals: %v, %v", len(rules), left, err)
	}
}
