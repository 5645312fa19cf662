package disk

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// put writes files below a directory.
func put(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	user      = `{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1000},"agent":"build","model":{"providerID":"p","modelID":"m"}}`
	assistant = `{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":2000,"completed":3000},"parentID":"msg_1","modelID":"m","providerID":"p","mode":"build","agent":"build","path":{"cwd":"/w","root":"/w"},"cost":0.5,"tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":0,"write":0}},"finish":"stop"}`
)

func storage() map[string]string {
	return map[string]string{
		"storage/project/pr.json":       `{"id":"pr","worktree":"/w","vcs":"git","time":{"created":1,"updated":2}}`,
		"storage/session/pr/ses_1.json": `{"id":"ses_1","slug":"s","version":"1.1.34","projectID":"pr","directory":"/w","title":"T","time":{"created":1000,"updated":4000}}`,
		"storage/session/pr/ses_x.json": `{"id":`,
		"storage/message/ses_1/a.json":  assistant, "storage/message/ses_1/b.json": user,
		"storage/part/msg_1/prt_1.json":    `{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"hi"}`,
		"storage/part/msg_2/prt_3.json":    `{"id":"prt_3","sessionID":"ses_1","messageID":"msg_2","type":"text","text":"two"}`,
		"storage/part/msg_2/prt_2.json":    `{"id":"prt_2","sessionID":"ses_1","messageID":"msg_2","type":"step-start","snapshot":"h"}`,
		"storage/part/msg_2/prt_4.json":    `not json`,
		"storage/todo/ses_1.json":          `[{"id":"1","content":"c","status":"pending","priority":"low"}]`,
		"storage/session_diff/ses_1.json":  `[{"file":"f","before":"","after":"x","additions":1,"deletions":0}]`,
		"storage/session/global/note.text": `x`,
	}
}

func readAll(t testing.TB, dir string) (out []*Record) {
	t.Helper()
	for r, err := range Read(t.Context(), dir) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func want() *Record {
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	model := lathe.ModelRef{Provider: "p", Model: "m"}
	tokens := lathe.Tokens{Input: 10, Output: 2}
	return &Record{
		Session: lathe.Session{ID: "ses_1", Slug: "s", Version: "1.1.34", ProjectID: "pr", Directory: "/w", Title: "T",
			Created: at(1000), Updated: at(4000), Agent: "build", Model: model, Cost: 5e11, Tokens: tokens},
		Project: lathe.Project{ID: "pr", Worktree: "/w", VCS: "git", Created: at(1), Updated: at(2)},
		Messages: []lathe.Message{
			{ID: "msg_1", SessionID: "ses_1", Created: at(1000), Info: &lathe.User{Agent: "build", Model: model}, Parts: []lathe.Part{
				{ID: "prt_1", SessionID: "ses_1", MessageID: "msg_1", Body: &lathe.Text{Text: "hi"}},
			}},
			{ID: "msg_2", SessionID: "ses_1", Created: at(2000), Info: &lathe.Assistant{ParentID: "msg_1", Agent: "build", Model: model, Cwd: "/w", Root: "/w",
				Completed: at(3000), Finish: "stop", Cost: 5e11, Tokens: tokens}, Parts: []lathe.Part{
				{ID: "prt_2", SessionID: "ses_1", MessageID: "msg_2", Body: &lathe.StepStart{Snapshot: "h"}},
				{ID: "prt_3", SessionID: "ses_1", MessageID: "msg_2", Body: &lathe.Text{Text: "two"}},
			}},
		},
		Todos: []lathe.Todo{{ID: "1", Content: "c", Status: "pending", Priority: "low"}},
		Diffs: []lathe.FileDiff{{File: "f", After: "x", Additions: 1}},
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, storage())
	got := readAll(t, dir)
	if len(got) != 2 || len(got[0].Problems) != 1 || len(got[1].Problems) != 1 {
		t.Fatalf("records are %+v", got)
	}
	got[1].Problems = nil
	if diff := cmp.Diff(want(), got[1]); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

const schema = `CREATE TABLE project (id text PRIMARY KEY, worktree text, vcs text, time_created integer, time_updated integer);
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text, version text, summary_additions integer,
	summary_deletions integer, summary_files integer, revert text, permission text, time_created integer, time_updated integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
CREATE TABLE todo (session_id text, content text, status text, priority text, position integer);
INSERT INTO project VALUES ('pr', '/w', 'git', 1, 2);
INSERT INTO session VALUES ('ses_1', 'pr', NULL, 's', '/w', 'T', '1.18.33', NULL, NULL, NULL, NULL, NULL, 1000, 4000, NULL);
INSERT INTO todo VALUES ('ses_1', 'c', 'pending', 'low', 0);`

func TestReadDatabaseBeforeFiles(t *testing.T) {
	dir := t.TempDir()
	files := storage()
	files["storage/session/pr/ses_2.json"] = strings.ReplaceAll(files["storage/session/pr/ses_1.json"], "ses_1", "ses_2")
	delete(files, "storage/session/pr/ses_x.json")
	put(t, dir, files)
	db, err := sql.Open("sqlite", filepath.Join(dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(schema); err != nil {
		t.Fatal(err)
	}
	bare := func(doc string) string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(doc), &m); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"id", "sessionID", "messageID"} {
			delete(m, k)
		}
		raw, _ := json.Marshal(m)
		return string(raw)
	}
	for id, doc := range map[string]string{"msg_1": user, "msg_2": assistant} {
		if _, err := db.Exec(`INSERT INTO message VALUES (?, 'ses_1', 0, ?)`, id, bare(doc)); err != nil {
			t.Fatal(err)
		}
	}
	for name, doc := range files {
		if _, rest, ok := strings.Cut(name, "storage/part/"); ok {
			message, part := filepath.Split(rest)
			text := "broken"
			if strings.HasPrefix(doc, "{") {
				text = bare(doc)
			}
			if _, err := db.Exec(`INSERT INTO part VALUES (?, ?, 'ses_1', ?)`, strings.TrimSuffix(part, ".json"), strings.Trim(message, "/"), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := readAll(t, dir)
	if len(got) != 2 || got[1].Session.ID != "ses_2" {
		t.Fatalf("records are %+v", got)
	}
	if len(got[0].Problems) != 1 {
		t.Errorf("problems are %q", got[0].Problems)
	}
	expect := want()
	expect.Session.Version = "1.18.33"
	got[0].Problems = nil
	if diff := cmp.Diff(expect, got[0]); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	a, err := Hash(got[0].Messages)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := Hash(want().Messages); a != b {
		t.Error("the same messages have two hashes")
	}
}

// TestIDs lists the sessions of the database and of files, each once, and not more than asked for.
func TestIDs(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"storage/session/pr/ses_1.json": "{}", "storage/session/pr/ses_2.json": "broken", "storage/session/pr/notes.txt": ""})
	db, err := sql.Open("sqlite", filepath.Join(dir, Database))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(schema); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int][]lathe.SessionID{10: {"ses_1", "ses_2"}, 1: {"ses_1"}} {
		got, err := IDs(t.Context(), dir, most)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("at most %d (-want +got):\n%s%v", most, diff, err)
		}
	}
	if got, err := IDs(t.Context(), filepath.Join(dir, "gone"), 10); len(got) > 0 || err != nil {
		t.Errorf("where nothing is there are %v, %v", got, err)
	}
}

func TestNothingThere(t *testing.T) {
	for _, err := range Read(t.Context(), t.TempDir()) {
		if lathe.CodeOf(err) != lathe.CodeNotFound {
			t.Errorf("error is %v", err)
		}
	}
}
