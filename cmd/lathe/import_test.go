package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/llm/llmtest"
)

// openCodeDatabase makes a database of OpenCode 1.18 with its own schema and rows
// that it wrote.
func openCodeDatabase(t *testing.T) (dir string) {
	t.Helper()
	const data = "../../internal/opencode/disk/testdata"
	dir = t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "opencode.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	schema, err := os.ReadFile(filepath.Join(data, "1.18.33-schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(schema)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(data, "1.18.33-rows.json"))
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

// TestImportAndResume takes in sessions of both of OpenCode's stores, twice, and
// goes on with one of each.
func TestImportAndResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		dir, session, said string
	}{
		"1.1 files":     {openCodeStore(t, 3, 2), "ses_0001", "said said"},
		"1.18 database": {openCodeDatabase(t), "ses_e06cf093dffedUDTq1Yi1VpaKW", "Hello from the mock model."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			report := filepath.Join(w.dir, "report")
			if out := w.must(w.run("import", tt.dir, "--report", report)); !strings.Contains(out, "stored: 3 added") || !strings.Contains(out, "by count and by hash") {
				t.Errorf("import:\n%s", out)
			}
			lines, err := os.ReadFile(report)
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for line := range strings.Lines(string(lines)) {
				f := strings.Fields(line)
				if len(f) == 6 && f[1] == "added" && len(f[4]) == 64 && f[4] == f[5] {
					compared++
				}
			}
			if compared != 3 {
				t.Errorf("%d sessions were compared:\n%s", compared, lines)
			}
			if out := w.must(w.run("import", tt.dir)); !strings.Contains(out, "stored: 0 added, 0 updated, 3 the same") {
				t.Errorf("again:\n%s", out)
			}
			sound(t, name, w)

			s := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("resumed")}}})
			if r := w.run("run", "-s", tt.session, "go on"); r.code == 0 || !strings.Contains(r.stderr, "session move "+tt.session) {
				t.Errorf("a directory that is not there: exit code %d\n%s", r.code, r.stderr)
			}
			w.must(w.run("session", "move", tt.session, "."))
			if out := w.must(w.run("run", "-m", "test/m", "-s", tt.session, "go on")); out != "resumed\n" {
				t.Errorf("answer %q", out)
			}
			requests := asked(t, s)
			if len(requests) != 1 || !strings.Contains(string(requests[0].Body), tt.said) {
				t.Errorf("the model was not told what was said before: %d requests", len(requests))
			}
			// What went on here is not overwritten by another import.
			if out := w.must(w.run("import", tt.dir)); !strings.Contains(out, "0 updated") {
				t.Errorf("after that:\n%s", out)
			}
			if out := w.must(w.run("session", "show", tt.session)); !strings.Contains(out, "resumed") {
				t.Errorf("what went on here is lost:\n%s", out)
			}
		})
	}
}
