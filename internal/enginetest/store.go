package enginetest

import (
	"context"
	"os"
	"sync"
	"time"

	"lathe/internal/store"
	"lathe/internal/store/postgres"
	"lathe/internal/store/postgres/pgtest"
	"lathe/internal/store/sqlite"
)

// StoreVar chooses the store of all engines of a test run: "postgres", else SQLite.
const StoreVar = "LATHE_TEST_STORE"

// opened is an open store.
type opened struct {
	kept  *store.Store
	self  store.Owner
	close func() error
}

// addresses are those of the databases that stand for data directories.
var addresses struct {
	sync.Mutex
	m map[string]string
}

// openStore opens the store of a data directory.
func openStore(ctx context.Context, dir string, now func() time.Time, o Options) (opened, error) {
	if os.Getenv(StoreVar) != "postgres" {
		db, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, Now: now, Fault: o.Fault})
		if err != nil {
			return opened{}, err
		}
		return opened{db.Store(), sqlite.Self(), db.Close}, nil
	}
	url, err := addressOf(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700) // for what stays on a machine
	}
	if err != nil {
		return opened{}, err
	}
	db, err := postgres.Open(ctx, postgres.Options{URL: url, Now: now, Fault: o.Fault, Dial: o.Dial})
	if err != nil {
		return opened{}, err
	}
	return opened{db.Store(), db.Self(), db.Close}, nil
}

func addressOf(dir string) (url string, err error) {
	addresses.Lock()
	defer addresses.Unlock()
	if addresses.m == nil {
		addresses.m = map[string]string{}
	}
	if addresses.m[dir] == "" {
		addresses.m[dir], err = pgtest.Address()
	}
	return addresses.m[dir], err
}
