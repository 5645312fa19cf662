package disk

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe"
)

// sample makes the database of OpenCode 1.18.33 with its own schema and rows
// that it wrote; sessions carry the ids that the sampled messages name.
func sample(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	schema, err := os.ReadFile("testdata/1.18.33-schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(schema)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/1.18.33-rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string][]map[string]any
	if err := json.Unmarshal(raw, &tables); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"project", "session", "message", "part", "todo"} {
		for _, row := range tables[table] {
			var names []string
			var values []any
			for name, v := range row {
				names, values = append(names, "`"+name+"`"), append(values, v)
			}
			query := fmt.Sprintf("INSERT INTO `%s` (%s) VALUES (?%s)", table, strings.Join(names, ","), strings.Repeat(",?", len(names)-1))
			if _, err := db.Exec(query, values...); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
	}
	return dir
}

func TestReadSample(t *testing.T) {
	type told struct {
		Title, Version, Project string
		Messages, Parts, Todos  int
		Words                   []string
	}
	got := map[lathe.SessionID]told{}
	for _, r := range readAll(t, sample(t)) {
		if len(r.Problems) > 0 {
			t.Errorf("%s: %q", r.Session.ID, r.Problems)
		}
		s := told{Title: r.Session.Title, Version: r.Session.Version, Project: r.Project.Worktree, Messages: len(r.Messages), Parts: r.Parts(), Todos: len(r.Todos)}
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if b, ok := p.Body.(*lathe.Text); ok {
					s.Words = append(s.Words, b.Text)
				}
			}
		}
		slices.Sort(s.Words)
		got[r.Session.ID] = s
		if _, err := Hash(r.Messages); err != nil {
			t.Error(err)
		}
	}
	const version, project = "1.18.33", "/home/dev/project"
	want := map[lathe.SessionID]told{
		"ses_e06ce8ca0ffe5Ya3GLyxAeHjV7": {Title: "Fixture session", Version: version, Project: project, Todos: 2},
		"ses_e06cef097ffeKEoo41normdn4D": {
			Title: "New session - 2026-11-20T13:41:35.880Z", Version: version, Project: project, Messages: 1, Parts: 1,
			Words: []string{"Please help me name this session"},
		},
		"ses_e06cf093dffedUDTq1Yi1VpaKW": {
			Title: "Renamed", Version: version, Project: project, Messages: 5, Parts: 9,
			Words: []string{"And again", "Hello from the mock model.", "Hello from the mock model.", "Say hi please", "x"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
}
