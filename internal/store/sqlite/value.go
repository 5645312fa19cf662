package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"lathe/internal/store/codec"

	"lathe"
)

// SetValue implements [store.Tx].
func (tx *tx) SetValue(session lathe.SessionID, key string, value []byte) error {
	err := tx.change(`INSERT INTO session_value (session, key, data) SELECT n, ?, ? FROM session WHERE id = ?
		ON CONFLICT (session, key) DO UPDATE SET data = excluded.data`, key, tx.db.packer.Pack(value), session)
	if err != nil {
		return fmt.Errorf("store %s of session %s: %w", key, session, err)
	}
	return nil
}

// Value returns the document under the key, or nil when there is none.
func (s sessions) Value(ctx context.Context, session lathe.SessionID, key string) (value []byte, err error) {
	err = s.read(ctx, func(v *view) error {
		err := v.row(`SELECT d.data FROM session s JOIN session_value d ON d.session = s.n
			WHERE s.id = ? AND d.key = ?`, session, key).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			value, err = codec.Unpack(value)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s of session %s: %w", key, session, err)
	}
	return value, nil
}
