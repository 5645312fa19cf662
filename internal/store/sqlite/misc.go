package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"lathe/internal/store/codec"

	"lathe"
)

func (tx *tx) SetTodos(session lathe.SessionID, todos []lathe.Todo) error {
	data, err := codec.Todos(todos)
	if err == nil {
		err = tx.change(`INSERT INTO todo (session, data) SELECT n, ? FROM session WHERE id = ?
			ON CONFLICT (session) DO UPDATE SET data = excluded.data`, tx.db.packer.Pack(data), session)
	}
	if err != nil {
		return fmt.Errorf("store task list of session %s: %w", session, err)
	}
	return nil
}

// Todos returns the task list of a session; nil when there is none.
func (s sessions) Todos(ctx context.Context, session lathe.SessionID) (out []lathe.Todo, err error) {
	err = s.document(ctx, func(data []byte) error {
		out, err = codec.ParseTodos(data)
		return err
	}, `SELECT t.data FROM session s JOIN todo t ON t.session = s.n WHERE s.id = ?`, session)
	if err != nil {
		return nil, fmt.Errorf("task list of session %s: %w", session, err)
	}
	return out, nil
}

// document decodes the one column that the query selects; if there is no row, decode is not called.
func (s sessions) document(ctx context.Context, decode func([]byte) error, query string, args ...any) error {
	return s.read(ctx, func(v *view) error {
		var data []byte
		err := v.row(query, args...).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err == nil {
			data, err = codec.Unpack(data)
		}
		if err != nil {
			return err
		}
		return decode(data)
	})
}

// SetDiffs implements [store.Tx].
func (tx *tx) SetDiffs(session lathe.SessionID, message lathe.MessageID, diffs []lathe.FileDiff) error {
	var e codec.Encoder
	var blobs sql.NullString
	data, err := e.Diffs(diffs)
	if err == nil {
		blobs, err = tx.db.saveBlobs(e.Blobs)
	}
	if err == nil {
		err = tx.change(`INSERT INTO session_diff (session, message, data, blobs)
			SELECT n, ?, ?, ? FROM session WHERE id = ?
			ON CONFLICT (session, message) DO UPDATE SET data = excluded.data, blobs = excluded.blobs`,
			message, tx.db.packer.Pack(data), blobs, session)
	}
	if err != nil {
		return fmt.Errorf("store diffs of session %s: %w", session, err)
	}
	return nil
}

// Diffs returns what SetDiffs stored; nil when there is nothing.
func (s sessions) Diffs(ctx context.Context, session lathe.SessionID, message lathe.MessageID) (out []lathe.FileDiff, err error) {
	decoder := codec.Decoder{Load: s.blobs.Load, Damage: &codec.Damage{}}
	err = s.document(ctx, func(data []byte) error {
		out, err = decoder.Diffs(data)
		return err
	}, `SELECT d.data FROM session s JOIN session_diff d ON d.session = s.n
		WHERE s.id = ? AND d.message = ?`, session, message)
	if err != nil {
		return nil, fmt.Errorf("diffs of session %s: %w", session, err)
	}
	return out, nil
}

// PutApproval implements [store.Tx].
func (tx *tx) PutApproval(project string, r lathe.Rule) error {
	_, err := tx.exec(`INSERT OR REPLACE INTO approval (project, permission, pattern, action, created)
		VALUES (?, ?, ?, ?, ?)`, project, r.Permission, r.Pattern, string(r.Action), codec.Millis(tx.db.now()))
	if err != nil {
		return fmt.Errorf("store approval for project %s: %w", project, err)
	}
	return nil
}

// DeleteApproval forgets one approval of a project. It is no error if none is
// stored.
func (tx *tx) DeleteApproval(project string, r lathe.Rule) error {
	_, err := tx.exec(`DELETE FROM approval WHERE project = ? AND permission = ? AND pattern = ?`, project, r.Permission, r.Pattern)
	if err != nil {
		return fmt.Errorf("delete approval of project %s: %w", project, err)
	}
	return nil
}

// Approvals returns the rules approved for a project, oldest first.
func (s projects) Approvals(ctx context.Context, project string) (out []lathe.Rule, err error) {
	err = s.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT permission, pattern, action FROM approval WHERE project = ? ORDER BY n`, project)
		if err != nil {
			return fmt.Errorf("approvals of project %s: %w", project, err)
		}
		defer rows.Close()
		for rows.Next() {
			var r lathe.Rule
			if err := rows.Scan(&r.Permission, &r.Pattern, &r.Action); err != nil {
				return fmt.Errorf("approvals of project %s: %w", project, err)
			}
			out = append(out, r)
		}
		return rows.Err()
	})
	return out, err
}
