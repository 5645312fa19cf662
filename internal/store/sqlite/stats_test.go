package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

func TestStatisticsBackupAndQuery(t *testing.T) {
	ctx := t.Context()
	s, err := openTest(ctx, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(ctx, lathe.Session{ID: "ses_1", ProjectID: "p", Directory: "/d", Title: "T"}); err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(5000)
	call := &lathe.ToolCall{Tool: "bash", State: &lathe.ToolFailed{Input: []byte(`{}`), Error: "no"}}
	for i, m := range []lathe.Message{
		{ID: "msg_1", Created: at, Info: &lathe.User{}},
		{ID: "msg_2", Created: at, Info: &lathe.Assistant{Cost: 5, Tokens: lathe.Tokens{Input: 3}, Completed: at}, Parts: []lathe.Part{{ID: "prt_1", Body: call}}},
		{ID: "msg_3", Created: at.Add(-time.Second), Info: &lathe.Assistant{Completed: at}},
	} {
		m.SessionID = "ses_1"
		if err := s.AddMessage(ctx, &m); err != nil {
			t.Fatal(i, err)
		}
	}
	var answers []store.Answer
	if err := s.Answers(ctx, at, func(a store.Answer) error { answers = append(answers, a); return nil }); err != nil {
		t.Fatal(err)
	}
	want := []store.Answer{{Session: "ses_1", Project: "p", Directory: "/d", Created: at, Assistant: &lathe.Assistant{Cost: 5, Tokens: lathe.Tokens{Input: 3}, Completed: at}}}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	var names []string
	if err := s.ToolUses(ctx, time.Time{}, func(u store.ToolUse) error { names = append(names, u.Tool); return nil }); err != nil || len(names) != 1 || names[0] != "bash" {
		t.Errorf("tools are %q, %v", names, err)
	}
	c, err := s.Counts(ctx)
	if err != nil || c.Sessions != 1 || c.Messages != 3 || c.Parts != 1 || c.Schema != schema {
		t.Errorf("counts are %+v, %v", c, err)
	}
	query := func(q string) (out []string, err error) {
		err = s.Query(ctx, q, func(row []any) error { out = append(out, fmt.Sprint(row...)); return nil })
		return out, err
	}
	if got, err := query("SELECT title FROM session"); err != nil || !cmp.Equal(got, []string{"title", "T"}) {
		t.Errorf("query: %q, %v", got, err)
	}
	for _, q := range []string{"DELETE FROM session", "PRAGMA query_only=0; DELETE FROM session", "DROP TABLE part"} {
		if _, err := query(q); err == nil {
			t.Errorf("%s was allowed", q)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "lathe.db")
	if err := s.BackupTo(ctx, path); err != nil {
		t.Fatal(err)
	}
	if err := s.BackupTo(ctx, path); lathe.CodeOf(err) != lathe.CodeInvalid {
		t.Errorf("a file was overwritten: %v", err)
	}
	copied, err := openTest(ctx, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if ses, err := copied.Session(ctx, "ses_1"); err != nil || ses.Title != "T" {
		t.Errorf("the copy has %+v, %v", ses, err)
	}
	if err := s.Vacuum(ctx); err != nil {
		t.Error(err)
	}
}
