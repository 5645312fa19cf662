package sqlite

import (
	"context"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/storetest"
)

// testDB is a database whose writes are transactions of their own.
type testDB struct {
	*DB
	storetest.Store
}

func asTest(db *DB) *testDB { return &testDB{db, storetest.Store{Store: db.Store()}} }

func (s *testDB) ReadOnly() bool { return s.DB.ReadOnly() }

// Recover closes what was left open, as this process.
func (s *testDB) Recover(ctx context.Context, id lathe.SessionID) ([]lathe.Part, error) {
	return s.Store.Recover(ctx, id, Self())
}

var _ store.Tx = (*tx)(nil)

// openTest is [Open] for tests. The caller closes it.
func openTest(ctx context.Context, o Options) (*testDB, error) {
	db, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return asTest(db), nil
}
