package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

const (
	roleEnv = "LATHE_TEST_POSTGRES_ROLE"
	killed  = 9 // exit status of the process that is to crash
)

// crashRole is what the test binary does as the process that is to crash: the writes of
// the suite, telling of each. It ends before it sends the nth message.
func crashRole(url string) error {
	n, err := strconv.ParseInt(os.Getenv(roleEnv), 10, 64)
	if err != nil {
		return err
	}
	var sent atomic.Int64
	strike := func() bool {
		if sent.Add(1) == n {
			os.Exit(killed)
		}
		return false
	}
	s, err := schema(url).with(postgres.Options{Now: func() time.Time { return epoch }, Dial: pgtest.Dialer(strike, false)})
	if err != nil {
		return err
	}
	if err := storetest.Crashing(context.Background(), s, func(name string) { fmt.Println(name) }); err != nil {
		return err
	}
	return s.Close()
}

func crash(t testing.TB, at storetest.Place, n int) (told []string, struck bool) {
	// The tables are made here: what a migration does when it is cut is another test.
	s, err := at.Open(t, storetest.Options{})
	must(t, err)
	must(t, s.Close())
	cmd := exec.Command(os.Args[0], string(at.(schema)), "")
	cmd.Env = append(os.Environ(), roleEnv+"="+strconv.Itoa(n))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == killed {
		struck = true
	} else {
		must(t, err)
	}
	if lines := strings.TrimSpace(out.String()); lines != "" {
		told = strings.Split(lines, "\n")
	}
	return told, struck
}

// TestCutConnections loses the connection at each message of a store.
func TestCutConnections(t *testing.T) {
	pgtest.Shared(t)
	step := 13
	switch {
	case os.Getenv("LATHE_KILL_ROUNDS") != "":
		step = 1
	case testing.Short():
		step = 31
	}
	u := storetest.Under{New: func(t testing.TB) storetest.Place { return schema(pgtest.Schema(t)) }}
	storetest.RunCut(t, u, step, func(t testing.TB, at storetest.Place, n int, after bool) (*storetest.Opened, func() bool) {
		made, err := at.Open(t, storetest.Options{})
		must(t, err)
		must(t, made.Close())
		var sent atomic.Int64
		s, err := at.(schema).with(postgres.Options{
			Now: func() time.Time { return epoch }, Wait: 10 * time.Second,
			Dial: pgtest.Dialer(func() bool { return sent.Add(1) == int64(n) }, after),
		})
		must(t, err)
		return s, func() bool { return sent.Swap(math.MaxInt32) >= int64(n) }
	})
}

// A database that crashes forgets the numbers of transactions that it had not written down,
// and gives them out again: that another one with the same number was committed says
// nothing about the first.
func TestNumberOfATransactionGivenOutAgain(t *testing.T) {
	server := pgtest.Start(t)
	server.Exec(t, `ALTER SYSTEM SET wal_writer_delay = '10s'`, `SELECT pg_reload_conf()`)
	ctx := t.Context()
	crashes := false
	db, s := open(t, postgres.Options{URL: server.URL(), Fault: func() error {
		if !crashes {
			return nil
		}
		crashes = false
		server.Stop()
		server.Restart(t)
		_, other := open(t, postgres.Options{URL: server.URL()})
		for range 8 {
			must(t, other.CreateSession(ctx, storetest.Session("ses_"+rand.Text())))
		}
		return nil
	}})
	must(t, s.CreateSession(ctx, storetest.Session("ses_1")))
	for _, how := range []struct{ tells, held bool }{{true, false}, {false, false}, {true, true}} {
		tells := how.tells
		if how.held {
			_, err := s.Acquire(ctx, "ses_1", db.Self())
			must(t, err)
		}
		crashes = true
		err := s.Batch(ctx, func(tx store.Tx) error {
			m := &lathe.Message{ID: "msg_1", SessionID: "ses_1", Info: &lathe.User{}}
			if err := tx.AddMessage(m); err != nil || !tells {
				return err
			}
			return tx.(store.Noter).Note(&store.Noted{Facts: []store.Fact{{Directory: "/p", Event: lathe.MessageUpdated{Message: *m}}}})
		})
		if !errors.Is(err, store.ErrUndone) {
			t.Errorf("a commit that was lost in a crash, %+v: %v", how, err)
		}
		if _, err := s.Message(ctx, "ses_1", "msg_1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the message of the lost commit, %+v: %v", how, err)
		}
	}
}
