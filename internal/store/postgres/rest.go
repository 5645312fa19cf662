package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// SetTodos implements [store.Tx].
func (tx *tx) SetTodos(session lathe.SessionID, todos []lathe.Todo) error {
	data, err := codec.Todos(todos)
	if err == nil {
		err = tx.own(session)
	}
	if err != nil {
		return fmt.Errorf("store task list of session %s: %w", session, err)
	}
	tx.must("store task list of session "+string(session), store.ErrNotFound, `INSERT INTO todo (session, data) SELECT n, $1 FROM session WHERE id = $2
		ON CONFLICT (session) DO UPDATE SET data = excluded.data`, tx.db.pack(data), session)
	return nil
}

// Todos implements [store.SessionReader].
func (s sessions) Todos(ctx context.Context, session lathe.SessionID) (out []lathe.Todo, err error) {
	err = s.glance(ctx, func(v *view) error {
		d, ok, err := v.document(`SELECT t.data, NULL FROM session s JOIN todo t ON t.session = s.n WHERE s.id = $1`, session)
		if err == nil && ok {
			out, err = codec.ParseTodos(d.data)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("task list of session %s: %w", session, err)
	}
	return out, nil
}

// document reads one document, unpacked; ok is false if there is none.
func (v *view) document(query string, args ...any) (d document, ok bool, err error) {
	err = v.row(query, args...).Scan(&d.data, &d.blobs)
	if errors.Is(err, pgx.ErrNoRows) {
		return d, false, nil
	}
	if err == nil {
		d.data, err = codec.Unpack(d.data)
	}
	return d, err == nil, err
}

// SetDiffs implements [store.Tx].
func (tx *tx) SetDiffs(session lathe.SessionID, message lathe.MessageID, diffs []lathe.FileDiff) error {
	var e codec.Encoder
	var blobs []string
	data, err := e.Diffs(diffs)
	if err == nil {
		err = tx.own(session)
	}
	if err == nil {
		blobs, err = tx.saveBlobs(e.Blobs)
	}
	if err != nil {
		return fmt.Errorf("store diffs of session %s: %w", session, err)
	}
	tx.must("store diffs of session "+string(session), store.ErrNotFound, `INSERT INTO session_diff (session, message, data, blobs) SELECT n, $1, $3, $4 FROM session WHERE id = $2
		ON CONFLICT (session, message) DO UPDATE SET data = excluded.data, blobs = excluded.blobs`,
		string(message), session, tx.db.pack(data), blobs)
	return nil
}

// Diffs implements [store.SessionReader].
func (s sessions) Diffs(ctx context.Context, session lathe.SessionID, message lathe.MessageID) (out []lathe.FileDiff, err error) {
	err = s.read(ctx, func(v *view) error {
		d, ok, err := v.document(`SELECT d.data, d.blobs FROM session s JOIN session_diff d ON d.session = s.n
			WHERE s.id = $1 AND d.message = $2`, session, string(message))
		if err != nil || !ok {
			return err
		}
		bodies, err := v.bodies([]document{d})
		if err == nil {
			out, err = bodies.decoder().Diffs(d.data)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("diffs of session %s: %w", session, err)
	}
	return out, nil
}

// SetValue implements [store.Tx].
func (tx *tx) SetValue(session lathe.SessionID, key string, value []byte) error {
	if err := tx.own(session); err != nil {
		return err
	}
	tx.must(fmt.Sprintf("store %s of session %s", key, session), store.ErrNotFound, `INSERT INTO session_value (session, key, data) SELECT n, $1, $3 FROM session WHERE id = $2
		ON CONFLICT (session, key) DO UPDATE SET data = excluded.data`, key, session, tx.db.pack(value))
	return nil
}

// Value implements [store.SessionReader].
func (s sessions) Value(ctx context.Context, session lathe.SessionID, key string) (value []byte, err error) {
	err = s.glance(ctx, func(v *view) error {
		d, _, err := v.document(`SELECT d.data, NULL FROM session s JOIN session_value d ON d.session = s.n
			WHERE s.id = $1 AND d.key = $2`, session, key)
		value = d.data
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s of session %s: %w", key, session, err)
	}
	return value, nil
}

// PutApproval implements [store.Tx].
func (tx *tx) PutApproval(owner string, r lathe.Rule) error {
	_, err := tx.exec(`INSERT INTO approval (project, permission, pattern, action, created) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (project, permission, pattern) DO UPDATE SET n = excluded.n, action = excluded.action, created = excluded.created`,
		clean(owner), clean(r.Permission), clean(r.Pattern), string(r.Action), codec.Millis(tx.db.now()))
	if err != nil {
		return fmt.Errorf("store approval for project %s: %w", owner, err)
	}
	return nil
}

// DeleteApproval implements [store.Tx].
func (tx *tx) DeleteApproval(owner string, r lathe.Rule) error {
	_, err := tx.exec(`DELETE FROM approval WHERE project = $1 AND permission = $2 AND pattern = $3`, clean(owner), clean(r.Permission), clean(r.Pattern))
	if err != nil {
		return fmt.Errorf("delete approval of project %s: %w", owner, err)
	}
	return nil
}

// Approvals implements [store.ProjectReader].
func (s projects) Approvals(ctx context.Context, owner string) (out []lathe.Rule, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var r lathe.Rule
			err := row.Scan(&r.Permission, &r.Pattern, &r.Action)
			out = append(out, r)
			return err
		}, `SELECT permission, pattern, action FROM approval WHERE project = $1 ORDER BY n`, clean(owner))
	})
	if err != nil {
		return nil, fmt.Errorf("approvals of project %s: %w", owner, err)
	}
	return out, nil
}
