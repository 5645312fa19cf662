package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Host returns the directory of the socket, which is how addresses name the server.
func (s *Server) Host() string { return s.dir }

// Follow returns when this replica has all that a primary has stored until now.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	ask := func(of *Server, query string, args ...any) (answer string) {
		conn, err := pgx.Connect(t.Context(), of.URL())
		if err == nil {
			err = conn.QueryRow(t.Context(), query, args...).Scan(&answer)
			_ = conn.Close(t.Context()) // it was asked
		}
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	at := ask(primary, `SELECT pg_current_wal_lsn()::text`)
	for deadline := time.Now().Add(time.Minute); ask(s, `SELECT (pg_last_wal_replay_lsn() >= $1::pg_lsn)::text`, at) != "true"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the replica does not follow")
		}
	}
}

// Pooled starts a PgBouncer in transaction mode between a schema and the test, and returns
// the address there. The test is skipped where there is none.
func (s *Server) Pooled(t testing.TB, address string) string {
	t.Helper()
	bouncer, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("PgBouncer is not installed here (Debian: pgbouncer)")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	conf := fmt.Sprintf("[databases]\nlathe = host=%s dbname=postgres user=lathe connect_query='SET search_path TO %s'\n[pgbouncer]\npool_mode = transaction\n"+
		"listen_addr =\nunix_socket_dir = %s\nauth_type = any\nmax_client_conn = 200\ndefault_pool_size = 10\n", s.dir, u.Query().Get("search_path"), dir)
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.user.own(dir); err != nil {
		t.Fatal(err)
	}
	cmd := s.command(bouncer, "-q", file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	q := url.Values{"host": {dir}, "port": {"6432"}, "sslmode": {"disable"}, "default_query_exec_mode": {"exec"}}
	pooled := "postgres://lathe@/lathe?" + q.Encode()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := pgx.Connect(context.Background(), pooled)
		if err == nil {
			_ = conn.Close(context.Background()) // it answers
			return pooled
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// Program runs one of PostgreSQL's programs to its end.
func (s *Server) Program(t testing.TB, name string, args ...string) {
	t.Helper()
	if !exists(filepath.Join(s.bin, name)) {
		t.Skip("this PostgreSQL has no " + name)
	}
	if out, err := s.command(filepath.Join(s.bin, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
