// Package pgtest runs a real PostgreSQL for tests: in a temporary directory, on a unix
// socket alone, ended with the process of the test.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running PostgreSQL.
type Server struct {
	dir   string // with data and socket
	bin   string
	user  *identity // whom it runs as; nil: as this process
	from  *Server   // whose replica it is; nil: of none
	proc  *exec.Cmd
	most  int       // size of the largest file that it may write, in blocks of 512 bytes; 0: any
	plain bool      // PlainOwner has made its role
	life  io.Closer // what a janitor waits for to end the server and remove the directory
}

// shared is the server of a test binary.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

var schemas atomic.Int64

// Available reports whether there is a PostgreSQL on this machine.
func Available() bool {
	_, err := programs()
	return err == nil
}

// Address returns the address of a new, empty schema on the server that the tests of
// a package share. It ends with the process.
func Address() (string, error) {
	s, err := one()
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("s%d", schemas.Add(1))
	if err := s.exec(context.Background(), "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	return s.URL("search_path", name), nil
}

func one() (*Server, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start()
	}
	return shared.server, shared.err
}

// Schema is [Address] for a test, which is skipped where there is no PostgreSQL.
func Schema(t testing.TB) string {
	t.Helper()
	Shared(t)
	address, err := Address()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Shared returns the server that the tests of a package share.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := one()
	return s.or(t, err)
}

// Start returns a server of the test's own, which may be stopped and started.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start()
	s = s.or(t, err)
	t.Cleanup(s.Remove)
	return s
}

// StartFull is Start of a server whose files cannot grow beyond 16 MiB: like a full disk, once
// a table has as much.
func StartFull(t testing.TB) *Server {
	t.Helper()
	s, err := start(func(s *Server) { s.most = 16<<20/512 + 8 }) // segments of the log have 16 MiB; a page does not fit into the rest
	s = s.or(t, err)
	t.Cleanup(s.Remove)
	return s
}

// PlainOwner returns the address of a new, empty schema in a database whose owner may do
// nothing else: no superuser, no other database, no extension.
func PlainOwner(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	shared.Lock()
	defer shared.Unlock()
	if !s.plain {
		s.Exec(t, "CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE", "CREATE DATABASE plain OWNER plain", "REVOKE ALL ON DATABASE plain FROM PUBLIC")
		s.plain = true
	}
	url := strings.Replace(s.URL(), "lathe@/postgres", "plain@/plain", 1)
	name := fmt.Sprintf("s%d", schemas.Add(1))
	if err := execAt(t.Context(), url, "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return url + "&search_path=" + name
}

// Replica returns a server that follows this one, until it is promoted.
func (s *Server) Replica(t testing.TB) *Server {
	t.Helper()
	if !exists(filepath.Join(s.bin, "pg_basebackup")) {
		t.Skip("this PostgreSQL has no pg_basebackup")
	}
	r, err := start(func(r *Server) { r.from = s })
	r = r.or(t, err)
	t.Cleanup(r.Remove)
	return r
}

// Promote makes a replica a primary, and returns when it is one.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Exec(t, `SELECT pg_promote()`)
}

// errNone means that there is no PostgreSQL on this machine.
var errNone = errors.New("PostgreSQL is not installed here (Debian: postgresql)")

func (s *Server) or(t testing.TB, err error) *Server {
	t.Helper()
	if errors.Is(err, errNone) && os.Getenv("LATHE_TEST_POSTGRES") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// programs returns the directory with initdb and postgres, the newest first, or the one that
// LATHE_TEST_POSTGRES_BIN names.
func programs() (string, error) {
	if dir := os.Getenv("LATHE_TEST_POSTGRES_BIN"); dir != "" {
		if !exists(filepath.Join(dir, "initdb")) {
			return "", fmt.Errorf("LATHE_TEST_POSTGRES_BIN: there is no initdb in %s", dir)
		}
		return dir, nil
	}
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for i := range dirs {
		if dir := dirs[len(dirs)-1-i]; exists(filepath.Join(dir, "initdb")) {
			return dir, nil
		}
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errNone
	}
	return filepath.Dir(path), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func start(change ...func(*Server)) (s *Server, err error) {
	s = &Server{}
	for _, c := range change {
		c(s)
	}
	if s.bin, err = programs(); err != nil {
		return nil, err
	}
	if s.user, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return nil, err
	}
	if err := s.user.own(s.dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	if err := s.hire(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	init := s.command(filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "lathe", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if s.from != nil {
		init = s.command(filepath.Join(s.bin, "pg_basebackup"), "-D", s.data(), "-d", s.from.URL(), "-R", "-c", "fast", "--no-sync")
	}
	if out, err := init.CombinedOutput(); err != nil {
		s.Remove()
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(init.Path), err, out)
	}
	// A guest needs a password, everybody else is let in.
	hba := []byte("local all guest scram-sha-256\nlocal all all trust\nlocal replication all trust\n")
	err = os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), hba, 0o600)
	if err == nil {
		err = s.run()
	}
	if err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// hire starts a shell that ends the server and removes its directory when this process
// has ended, however that happens.
func (s *Server) hire() (err error) {
	cmd := s.command("/bin/sh", "-c", `read never
		pid=$(head -1 data/postmaster.pid 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
		while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		cd / && rm -rf "$0"`, s.dir)
	if s.life, err = cmd.StdinPipe(); err != nil {
		return err
	}
	return cmd.Start()
}

func (s *Server) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	s.user.use(cmd)
	return cmd
}

// run starts the server and waits until it answers.
func (s *Server) run() error {
	program := []string{filepath.Join(s.bin, "postgres")}
	if s.most > 0 {
		program = []string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, s.most), program[0]}
	}
	s.proc = s.command(program[0], append(program[1:], "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "shared_buffers=32MB", "-c", "max_connections=60", "-c", "logging_collector=off",
		"-c", "password_encryption=scram-sha-256")...)
	// No goroutine of ours outlives the tests: a file takes what it says, and Stop waits.
	says, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer says.Close()
	s.proc.Stderr = says
	if err := s.proc.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := s.exec(context.Background(), "SELECT 1")
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			out, _ := os.ReadFile(says.Name())
			return fmt.Errorf("postgres does not answer: %w: %s", err, out)
		}
	}
}

// URL returns the address of the server, with more parameters in pairs.
func (s *Server) URL(params ...string) string {
	q := url.Values{"host": {s.dir}, "sslmode": {"disable"}}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	return "postgres://lathe@/postgres?" + q.Encode()
}

// Socket returns the path of the socket.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

func (s *Server) exec(ctx context.Context, statements ...string) error {
	return execAt(ctx, s.URL(), statements...)
}

func execAt(ctx context.Context, url string, statements ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, q := range statements {
		if _, err := conn.Exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// Exec runs statements as the superuser.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	if err := s.exec(t.Context(), statements...); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server at once, as a crash would: connections are cut, and it recovers
// when it is started again.
func (s *Server) Stop() {
	quit(s.proc.Process)
	_ = s.proc.Wait() // stopped by a signal
}

// Restart starts the server after Stop.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Remove ends the server and removes its directory. It may be called twice.
func (s *Server) Remove() {
	if s.proc != nil && s.proc.Process != nil {
		s.Stop()
	}
	_ = s.life.Close()
}
