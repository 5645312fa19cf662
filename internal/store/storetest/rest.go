package storetest

import (
	"errors"
	"lathe"
	"lathe/internal/store"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testRest(t *testing.T, u Under) {
	s, ctx := u.open(t), t.Context()
	ses := seed(t, s, "ses_a")
	todos := []lathe.Todo{{ID: "1", Content: "a < b", Status: "pending", Priority: "high"}}
	must(t, s.SetTodos(ctx, ses, todos))
	gotTodos, err := s.Todos(ctx, ses)
	must(t, err)
	equal(t, todos, gotTodos)

	diffs := []lathe.FileDiff{{File: "a", Before: strings.Repeat("b", large+1), After: "c", Patch: "p", Additions: 1, Status: "modified"}}
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

func testValue(t *testing.T, u Under) {
	s := u.open(t)
	if err := s.SetValue(t.Context(), "ses_none", "k", []byte("x")); err == nil {
		t.Error("a value of no session was stored")
	}
	if err := s.CreateSession(t.Context(), lathe.Session{ID: "ses_1", Created: time.Now(), Updated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "one", "two"} {
		if want != "" {
			if err := s.SetValue(t.Context(), "ses_1", "k", []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Value(t.Context(), "ses_1", "k"); err != nil || string(got) != want {
			t.Errorf("value is %q, %v, want %q", got, err, want)
		}
	}
}

// What a person set about a project outlives its being seen again, and fields
// that were never set come with an import.
func testProjectSettings(t *testing.T, u Under) {
	ctx := t.Context()
	at := u.at(t)
	s := at.open(t)
	seen := lathe.Project{ID: "p1", Worktree: "/w", VCS: "git", Created: epoch, Updated: epoch}
	must(t, s.PutProject(ctx, seen))
	want := seen
	want.Name, want.Icon = "名前", lathe.Icon{URL: "https://a", Override: strings.Repeat("x", 300<<10), Color: "blue"}
	want.Start, want.StartIn = "make deps", "/w"
	want.Updated = epoch.Add(time.Second)
	got, err := s.UpdateProject(ctx, "p1", func(p *lathe.Project) error { *p = want; p.ID = "other"; return nil })
	must(t, err)
	equal(t, want, got)
	seen.Created, seen.Updated, seen.Worktree = epoch.Add(time.Hour), epoch.Add(time.Hour), "/moved"
	want.Updated, want.Worktree = seen.Updated, seen.Worktree
	must(t, s.PutProject(ctx, seen))
	must(t, s.Close())
	s = at.open(t)
	got, err = s.Project(ctx, "p1")
	must(t, err)
	equal(t, want, got)

	no := errors.New("no")
	if _, err := s.UpdateProject(ctx, "p1", func(p *lathe.Project) error { p.Name = "lost"; return no }); !errors.Is(err, no) {
		t.Errorf("a refused change: %v", err)
	}
	if _, err := s.UpdateProject(ctx, "p2", func(*lathe.Project) error { return nil }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown project: %v", err)
	}
	got, err = s.Project(ctx, "p1")
	must(t, err)
	equal(t, want, got)

	must(t, s.PutProject(ctx, lathe.Project{ID: "p3", Worktree: "/x", Created: epoch, Updated: epoch}))
	must(t, s.PutProject(ctx, lathe.Project{ID: "p3", Worktree: "/x", Created: epoch, Updated: epoch, Name: "imported"}))
	got, err = s.Project(ctx, "p3")
	must(t, err)
	if got.Name != "imported" {
		t.Errorf("the name that came with an import is %q", got.Name)
	}
}

// What was spent stays counted when the answer is removed: alone or with its
// session, for a copy only where it was made, and once if it comes back.
func testSpentStaysCounted(t *testing.T, u Under) {
	ctx := t.Context()
	at := u.at(t)
	s := at.open(t)
	expect := func(what string, want ...lathe.Money) {
		t.Helper()
		if diff := cmp.Diff(want, Answers(t, s.Store, time.Time{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	a := seed(t, s, "ses_a")
	must(t, s.AddMessage(ctx, UserMessage(a, "msg_0", Text("prt_0", "go"))))
	must(t, s.AddMessage(ctx, Paid(a, "msg_1", 1)))
	must(t, s.AddMessage(ctx, Paid(a, "msg_2", 2)))
	must(t, s.AddMessage(ctx, Paid(a, "msg_3", 0)))
	must(t, s.RemoveMessage(ctx, a, "msg_0"))
	must(t, s.RemoveMessage(ctx, a, "msg_3"))
	must(t, s.RemoveMessage(ctx, a, "msg_2"))
	expect("after one answer was removed", 1, -2)
	if got := Answers(t, s.Store, epoch.Add(time.Second)); got != nil {
		t.Errorf("later than all: %v", got)
	}

	b := seed(t, s, "ses_b") // begins with a copy
	copied := Paid(b, "msg_1b", 1)
	must(t, s.AddMessage(ctx, copied))
	must(t, s.Batch(ctx, func(tx store.Tx) error { return tx.SetCopied(b, copied.Seq) }))
	must(t, s.AddMessage(ctx, Paid(b, "msg_4", 4)))
	must(t, s.RemoveMessage(ctx, b, "msg_1b"))
	expect("after a copy was removed", 1, 4, -2)

	for _, id := range []lathe.SessionID{a, b} {
		if _, err := s.DeleteSession(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	expect("after the sessions were removed", -1, -2, -4)

	a = seed(t, s, "ses_a") // imported again
	must(t, s.AddMessage(ctx, Paid(a, "msg_1", 1)))
	expect("after one came back", 1, -2, -4)
	must(t, s.RemoveMessage(ctx, a, "msg_1"))
	expect("after it went again", -1, -2, -4)

	must(t, s.Close())
	s = at.open(t)
	expect("in the next process", -1, -2, -4)
}

// A tool call is counted however much it said of itself, with how long it waited and without
// the texts that are stored apart.
func testToolUses(t *testing.T, u Under) {
	s := u.at(t).open(t)
	id := seed(t, s, "ses_a")
	much := map[string]any{"diff": strings.Repeat("x", large), lathe.MetaWaited: 2000}
	body := func(meta map[string]any) *lathe.ToolCall {
		return &lathe.ToolCall{Tool: "edit", State: &lathe.ToolDone{Input: []byte(`{}`), Output: strings.Repeat("y", large), Metadata: meta, Time: lathe.Span{Start: epoch, End: epoch.Add(3 * time.Second)}}}
	}
	m := Paid(id, "msg_1", 1)
	for i, meta := range []map[string]any{much, {lathe.MetaWaited: 1000}} {
		m.Parts = append(m.Parts, lathe.Part{ID: []lathe.PartID{"prt_0", "prt_1"}[i], SessionID: id, MessageID: m.ID, Body: body(meta)})
	}
	must(t, s.AddMessage(t.Context(), m))
	var took []time.Duration
	must(t, s.ToolUses(t.Context(), time.Time{}, func(u store.ToolUse) error {
		done := u.State.(*lathe.ToolDone)
		if len(done.Output)+len(done.Metadata) > 1 {
			t.Errorf("it reads %d bytes of output and %d keys", len(done.Output), len(done.Metadata))
		}
		worked, _ := done.Time.Worked(done.Metadata)
		took = append(took, worked)
		return nil
	}))
	if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, took); diff != "" {
		t.Errorf("calls took (-want +got):\n%s", diff)
	}
	for m, err := range s.Messages(t.Context(), id, store.MessageFilter{}) {
		must(t, err)
		if got := m.Parts[0].Body.(*lathe.ToolCall).State.(*lathe.ToolDone).Metadata; len(got) != 2 || len(got["diff"].(string)) != large {
			t.Errorf("what is stored apart is read as %d keys", len(got))
		}
	}
}

func testSearch(t *testing.T, u Under) {
	ctx := t.Context()
	s := u.open(t)
	if err := s.CreateSession(ctx, lathe.Session{ID: "ses_1", ProjectID: "p", Directory: "/d"}); err != nil {
		t.Fatal(err)
	}
	add := func(id lathe.MessageID, bodies ...lathe.PartBody) {
		m := &lathe.Message{ID: id, SessionID: "ses_1", Info: &lathe.User{}}
		for i, b := range bodies {
			m.Parts = append(m.Parts, lathe.Part{ID: lathe.PartID("prt_" + string(id) + string(rune('a'+i))), Body: b})
		}
		if err := s.AddMessage(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	add("msg_1", &lathe.Text{Text: "Please fix the tokenizer in parse_unit.go"})
	add("msg_2", &lathe.Text{Text: "全文検索のテスト：我们需要搜索中文内容"}, &lathe.ToolCall{Tool: "bash", State: &lathe.ToolDone{
		Input: []byte(`{"command":"go vet"}`), Output: strings.Repeat("noise ", 60_000) + "late", Title: "check"}})
	add("msg_3", &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: []byte(`{}`), Error: "segmentation Fault"}})
	if n, err := s.Index(ctx); err != nil || n != 3 {
		t.Fatalf("indexed %d, %v", n, err)
	}
	find := func(query string) (ids []lathe.MessageID) {
		hits, err := s.Search(ctx, query, store.SearchFilter{ProjectID: "p"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			ids = append(ids, h.Message)
		}
		return ids
	}
	for query, want := range map[string][]lathe.MessageID{
		"token":              {"msg_1"},
		"parse_unit.go":      {"msg_1"},
		`"the tokenizer in"`: {"msg_1"},
		`"in tokenizer"`:     nil,
		"搜索":                 {"msg_2"},
		"搜":                  {"msg_2"},
		"中文 搜索":              {"msg_2"},
		"索搜":                 nil,
		"検索":                 {"msg_2"},
		"FAULT segment":      {"msg_3"},
		"go vet":             {"msg_2"},
		"late":               nil, // past what is indexed of a part
	} {
		if diff := cmp.Diff(want, find(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if _, err := s.Search(ctx, `" ( * )`, store.SearchFilter{}); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a query without words: %v", err)
	}
	if err := s.PutPart(ctx, &lathe.Part{ID: "prt_msg_1a", MessageID: "msg_1", SessionID: "ses_1", Body: &lathe.Text{Text: "something else"}}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Index(ctx); err != nil || n != 1 {
		t.Fatalf("indexed %d, %v", n, err)
	}
	if err := s.RemoveMessage(ctx, "ses_1", "msg_3"); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string][]lathe.MessageID{"token": nil, "something": {"msg_1"}, "fault": nil} {
		if diff := cmp.Diff(want, find(query)); diff != "" {
			t.Errorf("later, %s (-want +got):\n%s", query, diff)
		}
	}
}

// What was asked beside the messages is counted, with and without a session, and after it is gone.
func testSpentBeside(t *testing.T, u Under) {
	at := u.at(t)
	s := at.open(t)
	ses := seed(t, s, "ses_a")
	must(t, s.AddMessage(t.Context(), Paid(ses, "msg_1", 1)))
	info := lathe.Assistant{Agent: "title", Model: lathe.ModelRef{Provider: "p", Model: "m"}, Completed: epoch, Cost: 2, Tokens: lathe.Tokens{Input: 2}}
	must(t, s.Batch(t.Context(), func(tx store.Tx) error {
		return errors.Join(
			tx.AddSpent("msg_a", store.Answer{Session: ses, Project: "p1", Directory: "/a", Created: epoch, Assistant: &info}),
			tx.AddSpent("msg_b", store.Answer{Project: "p2", Directory: "/b", Created: epoch, Assistant: &info}),
		)
	}))
	if _, err := s.DeleteSession(t.Context(), ses); err != nil {
		t.Fatal(err)
	}
	must(t, s.Close())
	type told struct {
		Session            lathe.SessionID
		Project, Directory string
		Agent              string
		Cost               lathe.Money
		Beside             bool
	}
	got := map[told]int{}
	must(t, at.open(t).Answers(t.Context(), epoch, func(a store.Answer) error {
		if !a.Beside() {
			return nil
		}
		got[told{a.Session, a.Project, a.Directory, a.Agent, a.Cost, a.Beside()}]++
		return nil
	}))
	equal(t, map[told]int{{ses, "p1", "/a", "title", 2, true}: 1, {"", "p2", "/b", "title", 2, true}: 1}, got)
	equal(t, []lathe.Money{-1, -2, -2}, Answers(t, at.open(t).Store, time.Time{}))
}
