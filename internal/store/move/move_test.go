package move_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/move"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/sqlite"
	"lathe/internal/store/storetest"
)

var epoch = time.UnixMilli(1_700_000_000_000)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill stores something of every kind, in more rows than are carried at once, and leaves a
// call open as a lathe does that is killed.
func fill(t *testing.T, st *store.Store) {
	t.Helper()
	ctx, s := t.Context(), storetest.Store{Store: st}
	must(t, s.PutProject(ctx, lathe.Project{ID: "p1", Worktree: "/work", VCS: "git", Created: epoch, Updated: epoch}))
	for _, p := range []string{"git *", "ls", "日本語 *"} {
		must(t, s.PutApproval(ctx, "p1", lathe.Rule{Permission: "bash", Pattern: p, Action: lathe.Allow}))
	}
	for i := range 3 {
		ses := storetest.Session(fmt.Sprintf("ses_%d", i))
		ses.Title = "第 " + ses.Title
		must(t, s.CreateSession(ctx, ses))
		must(t, s.SetTodos(ctx, ses.ID, []lathe.Todo{{ID: "1", Content: "carry", Status: "pending", Priority: "high"}}))
		must(t, s.SetDiffs(ctx, ses.ID, "", []lathe.FileDiff{{File: "a", Before: "x", After: strings.Repeat("long 行 ", 30_000)}}))
		must(t, s.SetValue(ctx, ses.ID, "B", []byte("one")))
		must(t, s.SetValue(ctx, ses.ID, "a", []byte(strings.Repeat("packed ", 3000))))
		for j := range 120 {
			m := &lathe.Message{ID: lathe.MessageID(fmt.Sprintf("msg_%d_%d", i, j)), SessionID: ses.ID, Created: epoch.Add(time.Duration(j) * time.Second)}
			part := func(n int, b lathe.PartBody) lathe.Part {
				return lathe.Part{ID: lathe.PartID(fmt.Sprintf("prt_%d_%d_%d", i, j, n)), Body: b}
			}
			if j%2 == 0 {
				m.Info = &lathe.User{Agent: "build", Model: lathe.ModelRef{Provider: "x", Model: "m"}}
				m.Parts = []lathe.Part{part(0, &lathe.Text{Text: fmt.Sprintf("ask %d of 会话\x00", j)})}
			} else {
				m.Info = &lathe.Assistant{Agent: "build", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: epoch.Add(time.Duration(j) * time.Second),
					Cost: lathe.Money(j), Tokens: lathe.Tokens{Input: int64(j)}, Summary: j == 61}
				out := fmt.Sprintf("output %d %s", j, strings.Repeat("x", 10*j))
				if j == 33 || j == 35 {
					out = strings.Repeat("a body of its own ", 10_000+j)
				}
				m.Parts = []lathe.Part{part(0, &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolDone{Input: []byte(`{"command":"ls"}`), Output: out, Title: "ls",
					Metadata: map[string]any{"exit": 0.0}, Time: lathe.Span{Start: epoch, End: epoch}}}), part(1, &lathe.Text{Text: "said"})}
			}
			must(t, s.AddMessage(ctx, m))
		}
		must(t, s.SetBoundary(ctx, ses.ID, 62))
		must(t, s.RemoveMessage(ctx, ses.ID, lathe.MessageID(fmt.Sprintf("msg_%d_119", i)))) // its cost stays
	}
	must(t, s.AddMessage(ctx, &lathe.Message{ID: "msg_open", SessionID: "ses_1", Created: epoch, Info: &lathe.Assistant{}, Parts: []lathe.Part{
		{ID: "prt_open", Body: &lathe.ToolCall{CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`), Start: epoch}}},
		{ID: "prt_text", Body: &lathe.Text{Time: lathe.Span{Start: epoch}}},
	}}))
	must(t, s.AppendText(ctx, "prt_text", 0, "so far"))
}

// held is what a store holds, as its users see it.
type held struct {
	Sessions  []lathe.Session
	Messages  map[lathe.SessionID][]lathe.Message
	Tails     map[lathe.SessionID]int
	Todos     map[lathe.SessionID][]lathe.Todo
	Diffs     map[lathe.SessionID][]lathe.FileDiff
	Values    map[string]string
	Projects  []lathe.Project
	Approvals []lathe.Rule
	Costs     []lathe.Money
	Found     []lathe.PartID
	Beside    int
}

func see(t *testing.T, s *store.Store) (h held) {
	t.Helper()
	ctx := t.Context()
	h.Messages, h.Tails, h.Todos = map[lathe.SessionID][]lathe.Message{}, map[lathe.SessionID]int{}, map[lathe.SessionID][]lathe.Todo{}
	h.Diffs, h.Values = map[lathe.SessionID][]lathe.FileDiff{}, map[string]string{}
	var err error
	h.Sessions, err = s.Sessions(ctx, store.SessionFilter{})
	must(t, err)
	for _, ses := range h.Sessions {
		for m, err := range s.Messages(ctx, ses.ID, store.MessageFilter{}) {
			must(t, err)
			h.Messages[ses.ID] = append(h.Messages[ses.ID], m)
		}
		tail, err := s.Tail(ctx, ses.ID)
		must(t, err)
		h.Tails[ses.ID] = len(tail)
		h.Todos[ses.ID], err = s.Todos(ctx, ses.ID)
		must(t, err)
		h.Diffs[ses.ID], err = s.Diffs(ctx, ses.ID, "")
		must(t, err)
		for _, key := range []string{"a", "B"} {
			v, err := s.Value(ctx, ses.ID, key)
			must(t, err)
			h.Values[string(ses.ID)+key] = string(v)
		}
	}
	h.Projects, err = s.Projects(ctx)
	must(t, err)
	h.Approvals, err = s.Approvals(ctx, "p1")
	must(t, err)
	must(t, s.Answers(ctx, time.Time{}, func(a store.Answer) error {
		h.Costs = append(h.Costs, a.Cost)
		return nil
	}))
	slices.Sort(h.Costs)
	_, err = s.Index(ctx)
	must(t, err)
	hits, err := s.Search(ctx, "会话", store.SearchFilter{Limit: 500})
	must(t, err)
	for _, hit := range hits {
		h.Found = append(h.Found, hit.Part)
	}
	slices.Sort(h.Found)
	b, err := s.Beside(ctx, "ses_0")
	must(t, err)
	h.Beside = len(b.Others)
	return h
}

// struck is a target that fails at the nth transaction.
type struck struct {
	store.Target
	left *int
}

var errStruck = errors.New("the plug was pulled")

func (s struck) Put(ctx context.Context, t store.Table, rows []store.Row) error {
	if *s.left--; *s.left < 0 {
		return errStruck
	}
	return s.Target.Put(ctx, t, rows)
}

// through moves everything, and is cut again and again.
func through(t *testing.T, from store.Carrier, open func() store.Target) {
	t.Helper()
	for cuts := 0; ; cuts++ {
		to, left := open(), 3
		err := move.Run(t.Context(), from, struck{to, &left}, func(move.Progress) {})
		must(t, to.Close())
		if err == nil && cuts > 3 {
			return
		}
		if !errors.Is(err, errStruck) {
			t.Fatalf("after %d cuts: %v", cuts, err)
		}
	}
}

// Everything comes to PostgreSQL and back, though the move is cut after every few
// transactions, and both stores count on where they were.
func TestThereAndBack(t *testing.T) {
	url := pgtest.Schema(t)
	from, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	must(t, err)
	defer from.Close()
	fill(t, from.Store())
	must(t, move.Settle(t.Context(), from.Store(), sqlite.Self()))
	want := see(t, from.Store())
	if len(want.Found) == 0 || want.Beside == 0 || len(want.Costs) == 0 {
		t.Fatal("nothing to compare")
	}

	through(t, from.Carrier(), func() store.Target {
		to, err := postgres.OpenTarget(t.Context(), postgres.Options{URL: url}, "files")
		must(t, err)
		if _, err := postgres.Open(t.Context(), postgres.Options{URL: url}); err == nil || !strings.Contains(err.Error(), "files") {
			t.Fatalf("half of it is served: %v", err)
		}
		return to
	})
	shared, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	must(t, err)
	defer shared.Close()
	if diff := cmp.Diff(want, see(t, shared.Store())); diff != "" {
		t.Errorf("in PostgreSQL (-want +got):\n%s", diff)
	}

	dir := t.TempDir()
	through(t, shared.Carrier(), func() store.Target {
		to, err := sqlite.OpenTarget(t.Context(), sqlite.Options{Dir: dir}, "shared")
		must(t, err)
		return to
	})
	back, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
	must(t, err)
	defer back.Close()
	if diff := cmp.Diff(want, see(t, back.Store())); diff != "" {
		t.Errorf("back in files (-want +got):\n%s", diff)
	}
	for _, s := range []*store.Store{shared.Store(), back.Store()} {
		again := storetest.Store{Store: s}
		must(t, again.CreateSession(t.Context(), storetest.Session("ses_new")))
		must(t, again.AddMessage(t.Context(), &lathe.Message{ID: "msg_new", SessionID: "ses_new", Created: epoch, Info: &lathe.User{}, Parts: []lathe.Part{{ID: "prt_new", Body: &lathe.Text{Text: "on"}}}}))
		must(t, again.PutApproval(t.Context(), "p1", lathe.Rule{Permission: "x", Pattern: "y", Action: lathe.Allow}))
	}
}

// What changes in the source while it is carried is found, and the next run carries it.
func TestChangedMeanwhile(t *testing.T) {
	url := pgtest.Schema(t)
	from, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	must(t, err)
	defer from.Close()
	fill(t, from.Store())
	open := func() store.Target {
		to, err := postgres.OpenTarget(t.Context(), postgres.Options{URL: url}, "files")
		must(t, err)
		return to
	}
	to, changed := open(), false
	err = move.Run(t.Context(), from.Carrier(), to, func(p move.Progress) {
		if p.Comparing && !changed {
			changed = true
			_, err := storetest.Store{Store: from.Store()}.UpdateSession(t.Context(), "ses_1", func(s *lathe.Session) error { s.Title = "other"; return nil })
			must(t, err)
		}
	})
	must(t, to.Close())
	if !errors.Is(err, move.ErrDiffers) || lathe.CodeOf(err) != lathe.CodeBusy {
		t.Fatalf("moved something else: %v", err)
	}
	to = open()
	must(t, move.Run(t.Context(), from.Carrier(), to, func(move.Progress) {}))
	must(t, to.Close())
	shared, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	must(t, err)
	defer shared.Close()
	if s, err := shared.Store().Session(t.Context(), "ses_1"); err != nil || s.Title != "other" {
		t.Errorf("%q, %v", s.Title, err)
	}
}

// A store that holds something, or is half of another move, is left alone.
func TestRefusedTargets(t *testing.T) {
	url := pgtest.Schema(t)
	db, err := postgres.Open(t.Context(), postgres.Options{URL: url})
	must(t, err)
	must(t, storetest.Store{Store: db.Store()}.CreateSession(t.Context(), storetest.Session("ses_1")))
	must(t, db.Close())
	if _, err := postgres.OpenTarget(t.Context(), postgres.Options{URL: url}, "files"); lathe.CodeOf(err) != lathe.CodeInvalid || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a database that holds something: %v", err)
	}
	other := pgtest.Schema(t)
	to, err := postgres.OpenTarget(t.Context(), postgres.Options{URL: other}, "files of one")
	must(t, err)
	must(t, to.Close())
	if _, err := postgres.OpenTarget(t.Context(), postgres.Options{URL: other}, "files of another"); err == nil || !strings.Contains(err.Error(), "files of one") {
		t.Errorf("half of another move: %v", err)
	}

	dir := t.TempDir()
	files, err := sqlite.Open(t.Context(), sqlite.Options{Dir: dir})
	must(t, err)
	must(t, storetest.Store{Store: files.Store()}.CreateSession(t.Context(), storetest.Session("ses_1")))
	must(t, files.Close())
	if _, err := sqlite.OpenTarget(t.Context(), sqlite.Options{Dir: dir}, "x"); lathe.CodeOf(err) != lathe.CodeInvalid || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("files that hold something: %v", err)
	}
	empty := t.TempDir()
	half, err := sqlite.OpenTarget(t.Context(), sqlite.Options{Dir: empty}, "one")
	must(t, err)
	must(t, half.Close())
	if _, err := sqlite.OpenTarget(t.Context(), sqlite.Options{Dir: empty}, "another"); err == nil || !strings.Contains(err.Error(), "one") {
		t.Errorf("half of another move: %v", err)
	}
}
