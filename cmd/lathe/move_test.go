package main

import (
	"bufio"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"lathe/internal/llm/llmtest"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
)

// A move to PostgreSQL that is killed in the middle goes on with the same command. Half of
// it is not served; the whole is, and it comes back as files.
func TestMoveIsKilled(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	w := newWorld(t)
	model := w.model("anthropic", llmtest.Script{{Blocks: []llmtest.Block{llmtest.Text("before the move")}}, {Blocks: []llmtest.Block{llmtest.Text("after it")}}})
	w.must(w.run("run", "--title", "moved", "ask"))
	list := func(env ...string) string {
		t.Helper()
		cmd := w.command("session", "list", "--format", "json")
		cmd.Env = append(cmd.Env, env...)
		return w.must(w.finish(cmd))
	}
	before := list()
	_, rest, _ := strings.Cut(before, `"ses_`)
	id, _, _ := strings.Cut(rest, `"`)
	id = "ses_" + id
	const files = "" // the store of this machine
	export := func(address string) string {
		t.Helper()
		return w.must(w.onStore(address, "export", id))
	}
	said := export(files)
	if !strings.Contains(said, "before the move") {
		t.Fatalf("%s of %s", said, before)
	}

	// Parts are held up until the move is killed.
	db, err := postgres.Open(t.Context(), postgres.Options{URL: store})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE part IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	cmd := w.command("db", "move", "--to", store)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), ": message") {
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	if code := w.wait(cmd); code != -int(syscall.SIGKILL) {
		t.Fatalf("it ended with %d", code)
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}

	if r := w.onStore(store, "session", "list"); r.code == 0 || !strings.Contains(r.stderr, "lathe db move") {
		t.Errorf("half of it is served: %+v", r)
	}
	r := w.run("db", "move", "--to", store)
	if got := w.must(r); !strings.Contains(got, "moved to the database") || !strings.Contains(r.stderr, "compared") {
		t.Errorf("it says %q, %q", got, r.stderr)
	}
	if diff := cmp.Diff(said, export(store)); diff != "" {
		t.Errorf("in PostgreSQL (-before +after):\n%s", diff)
	}
	w.must(w.onStore(store, "run", "--session", id, "go on"))
	said = export(store)

	if r := w.run("db", "move", "--from", store, "--to", "files"); r.code == 0 || !strings.Contains(r.stderr, "not empty") {
		t.Errorf("it overwrites what is there: %+v", r)
	}
	w.person(store, "ann")
	const team = "1 person, 1 token, 0 web pages that are logged in, 0 sessions of somebody's own, 0 keys for providers, 1 entry of the audit, 0 approvals of theirs"
	second := pgtest.Schema(t)
	if r := w.run("db", "move", "--from", store, "--to", second); r.code != 0 || !strings.Contains(r.stderr, "carried "+team) {
		t.Errorf("to another PostgreSQL: %+v", r)
	}
	if got := w.must(w.onStore(second, "user", "list")); !strings.Contains(got, "ann") || !strings.Contains(got, "tok_") {
		t.Errorf("there are then the people %s", got)
	}
	back := filepath.Join(t.TempDir(), "data")
	if r := w.run("db", "move", "--from", store, "--to", back); r.code != 0 || !strings.Contains(r.stderr, team+" stay behind") {
		t.Errorf("to files: %+v", r)
	}
	w.must(w.run("db", "move", "--from", back, "--to", filepath.Join(filepath.Dir(back), "twice")))
	w.env = append(w.env, "LATHE_HOME="+filepath.Dir(back))
	if diff := cmp.Diff(said, export(files)); diff != "" {
		t.Errorf("in files again (-before +after):\n%s", diff)
	}
	w.must(w.run("db", "check"))
	accepted(t, model)
}
