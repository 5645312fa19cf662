package sqlite

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

func TestSearch(t *testing.T) {
	ctx := t.Context()
	s, err := openTest(ctx, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
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

func FuzzMatchExpr(f *testing.F) {
	for _, q := range []string{"a b", `"x y" z`, "搜索", "\x00", `a" OR b`, "NEAR(a b)", "-x:*^"} {
		f.Add(q)
	}
	s, err := openTest(f.Context(), Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Close()
	f.Fuzz(func(t *testing.T, q string) {
		if !utf8.ValidString(q) || matchExpr(q) == "" {
			return
		}
		if _, err := s.Search(t.Context(), q, store.SearchFilter{}); err != nil {
			t.Errorf("%q becomes %q: %v", q, matchExpr(q), err)
		}
		snippet(q, q)
	})
}
