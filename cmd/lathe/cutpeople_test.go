package main

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"lathe/internal/store/postgres/pgtest"
)

// cut is a way to a database on which a connection is lost once: with a message that comes a few
// after the one that has a text. Deaf, the message arrives and its answer is lost.
type cut struct {
	text  string
	after int
	deaf  bool

	mu     sync.Mutex
	struck bool
}

// open listens in a directory, and returns the address of the store through it.
func (c *cut) open(t *testing.T, store, socket string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cut") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, filepath.Base(socket)))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { c.carry(conn, socket) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	return u.String()
}

// carry carries what one client and the database say.
func (c *cut) carry(client net.Conn, socket string) {
	defer client.Close()
	db, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer db.Close()
	seen, left := false, c.after
	strike := func(b []byte) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch {
		case c.struck || !seen && !bytes.Contains(b, []byte(c.text)):
			return false
		case left > 0:
			seen, left = true, left-1
			return false
		}
		c.struck = true
		return true
	}
	var back sync.WaitGroup
	defer back.Wait()
	defer db.Close()
	lost := make(chan struct{})
	back.Go(func() {
		defer client.Close() // who asks to cancel something waits for it
		b := make([]byte, 1<<16)
		for {
			n, err := db.Read(b)
			if err != nil {
				return
			}
			select {
			case <-lost: // it is read, so that what was written is not taken along
			default:
				if _, err := client.Write(b[:n]); err != nil {
					return
				}
			}
		}
	})
	b := make([]byte, 1<<16)
	for {
		n, err := client.Read(b)
		if err != nil {
			return
		}
		hit := strike(b[:n])
		if hit {
			close(lost)
			_ = client.Close()
		}
		if !hit || c.deaf {
			if _, err := db.Write(b[:n]); err != nil {
				return
			}
		}
		if hit {
			_ = db.(*net.UnixConn).CloseWrite()
			back.Wait()
			return
		}
	}
}

// onStore runs a command on a store.
func (w *world) onStore(address string, args ...string) result {
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, "LATHE_STORE="+address)
	return w.finish(cmd)
}

// A person is added, with one token that is shown, wherever the connection is lost, and the audit
// knows it once. What takes the person away again is done once, too.
func TestPeopleOverLostConnections(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	store := pgtest.Schema(t)
	w := newWorld(t)
	w.must(w.onStore(store, "user", "list")) // makes the tables
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	count := func(query string, args ...any) (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	struck := 0
	for i, text := range []string{"INSERT INTO audit", "INSERT INTO person", "INSERT INTO token"} {
		for after := range 4 {
			for _, deaf := range []bool{false, true} {
				c := &cut{text: text, after: after, deaf: deaf}
				name := fmt.Sprintf("p%d-%d-%v", i, after, deaf)
				r := w.onStore(c.open(t, store, server.Socket()), "user", "add", name)
				if c.struck {
					struck++
				}
				if r.code != 0 || !strings.HasPrefix(r.stdout, "lathe_") || strings.Count(r.stdout, "\n") != 1 {
					t.Errorf("%s: %+v", name, r)
				}
				if n, tokens, told := count(`SELECT count(*) FROM person WHERE name = $1`, name), count(`SELECT count(*) FROM token WHERE person = $1`, name),
					count(`SELECT count(*) FROM audit WHERE about LIKE $1`, name+":%"); n != 1 || tokens != 1 || told != 1 {
					t.Errorf("%s: %d of them, with %d tokens, %d times in the audit", name, n, tokens, told)
				}
			}
		}
	}
	if struck < 20 {
		t.Errorf("a connection was lost %d times", struck)
	}
	for after := range 4 {
		c := &cut{text: "DELETE FROM person", after: after, deaf: after%2 == 0}
		name := fmt.Sprintf("p0-%d-true", after)
		if r := w.onStore(c.open(t, store, server.Socket()), "user", "remove", name); r.code != 0 || !c.struck {
			t.Errorf("%s, lost %v: %+v", name, c.struck, r)
		}
		if n := count(`SELECT count(*) FROM person WHERE name = $1`, name) + count(`SELECT count(*) FROM token WHERE person = $1 AND revoked IS NULL`, name); n != 0 {
			t.Errorf("%d left of %s", n, name)
		}
	}
}

// A database that goes in the middle and stays away is told, with what to do: the token that is
// not known to be there is named and not shown.
func TestTokenOfALostDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	w := newWorld(t)
	w.must(w.onStore(server.URL(), "user", "list"))
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	// Nobody takes the person's row meanwhile.
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE token IN SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	cmd := w.command("user", "add", "ann")
	cmd.Env = append(cmd.Env, "LATHE_STORE="+server.URL(), waits+"=100ms")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for waits := false; !waits; {
		if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'token'::regclass AND NOT granted)`).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	server.Stop()
	if code := w.wait(cmd); code == 0 || stdout.Len() != 0 || !strings.Contains(stderr.String(), "was not made for certain") || !strings.Contains(stderr.String(), "lathe user token") {
		t.Errorf("%d %s%s", code, &stdout, &stderr)
	}
	server.Restart(t)
	if r := w.onStore(server.URL(), "user", "add", "ann"); r.code != 0 || r.stdout != "" || !strings.Contains(r.stderr, "lathe user token ann") {
		t.Errorf("once more: %+v", r)
	}
	if r := w.onStore(server.URL(), "user", "token", "ann"); r.code != 0 || !strings.HasPrefix(r.stdout, "lathe_") {
		t.Errorf("another token: %+v", r)
	}
}
