package postgres_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/storetest"
)

var epoch = time.UnixMilli(1795182093288).UTC()

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := crashRole(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestContract tests what every store has to do, as a managed database is used: by the owner
// of one database, without superuser and without any extension.
func TestContract(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), pgtest.PlainOwner(t))
	must(t, err)
	var super string
	var extensions int
	must(t, conn.QueryRow(t.Context(), `SELECT current_setting('is_superuser'), (SELECT count(*) FROM pg_extension WHERE extname <> 'plpgsql')`).Scan(&super, &extensions))
	must(t, conn.Close(t.Context()))
	if super != "off" || extensions != 0 {
		t.Errorf("superuser %s, %d extensions", super, extensions)
	}
	var last schema // where the store under test is
	storetest.Run(t, storetest.Under{
		New: func(t testing.TB) storetest.Place {
			last = schema(pgtest.PlainOwner(t))
			return last
		},
		Living: func(t testing.TB) (store.Owner, func()) { return living(t, last) },
		Crash:  crash,
	})
}

// schema is the address of a place for a store.
type schema string

func (s schema) Open(_ testing.TB, o storetest.Options) (*storetest.Opened, error) {
	return s.with(postgres.Options{Now: o.Now, Fault: o.Fault})
}

func (s schema) with(o postgres.Options) (*storetest.Opened, error) {
	o.URL = string(s)
	db, err := postgres.Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	return &storetest.Opened{Store: storetest.Store{Store: db.Store()}, Self: db.Self(), Close: db.Close}, nil
}

// living is a server that holds a lease of its own, so that it is known to live. It
// ends without a word.
func living(t testing.TB, at schema) (store.Owner, func()) {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Options{URL: string(at), Life: 400 * time.Millisecond})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	s := storetest.Store{Store: db.Store()}
	ses := storetest.Session("ses_living")
	must(t, s.CreateSession(t.Context(), ses))
	_, err = s.Acquire(t.Context(), ses.ID, db.Self())
	must(t, err)
	return db.Self(), func() {
		db.Silence()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			_, held, err := s.Holder(t.Context(), ses.ID)
			must(t, err)
			if !held {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal("an owner that says nothing counts as living")
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
