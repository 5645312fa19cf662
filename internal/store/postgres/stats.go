package postgres

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// copiedKey is the session value that says how many of its first messages are
// copies.
const copiedKey = "copied"

// own is the condition that a message m of a session s is not a copy.
const own = ` AND m.seq > coalesce((SELECT convert_from(v.data, 'UTF8')::bigint FROM session_value v WHERE v.session = s.n AND v.key = '` + copiedKey + `'), 0)`

// SetCopied implements [store.Tx].
func (tx *tx) SetCopied(session lathe.SessionID, seq int64) error {
	return tx.SetValue(session, copiedKey, strconv.AppendInt(nil, seq, 10))
}

// stats is a [store.Stats].
type stats struct{ *core }

// Answers implements [store.Stats].
func (s stats) Answers(ctx context.Context, since time.Time, fn func(store.Answer) error) error {
	err := s.read(ctx, func(v *view) error {
		// A removed answer that was imported again counts once.
		return v.rows(func(row pgx.Row) error {
			var a store.Answer
			var r messageRead
			if err := r.scan(row, &a.Session, &a.Project, &a.Directory, &a.Removed); err != nil {
				return err
			}
			m, err := v.decodeMessage(&r, nil)
			info, ok := m.Info.(*lathe.Assistant)
			if err != nil || !ok {
				return err
			}
			a.Created, a.Assistant = m.Created, info
			return fn(a)
		}, `SELECT s.id, s.project, s.directory, false AS removed, `+messageColumns+`
				FROM message m JOIN session s ON s.n = m.session WHERE m.role = 'assistant' AND m.created >= $1`+own+`
			UNION ALL SELECT p.session, p.project, p.directory, true, 0, p.message, 0, 'assistant', p.created, p.data, NULL
				FROM spent p WHERE p.created >= $1 AND NOT EXISTS
				(SELECT 1 FROM message m JOIN session s ON s.n = m.session WHERE m.id = p.message AND s.id = p.session)
			ORDER BY 4, 5, 9, 6`, codec.Millis(since))
	})
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	return nil
}

// ToolUses implements [store.Stats].
func (s stats) ToolUses(ctx context.Context, since time.Time, fn func(store.ToolUse) error) error {
	bare := codec.Decoder{Bare: true}
	err := s.read(ctx, func(v *view) error {
		return v.rows(func(row pgx.Row) error {
			var u store.ToolUse
			var data []byte
			if err := row.Scan(&u.Session, &u.Project, &data); err != nil {
				return err
			}
			data, err := codec.Unpack(data)
			if err != nil {
				return nil // what cannot be read is not counted
			}
			body, err := bare.Part(codec.KindTool, data)
			if err != nil {
				return nil
			}
			var ok bool
			if u.ToolCall, ok = body.(*lathe.ToolCall); !ok {
				return nil
			}
			return fn(u)
		}, `SELECT s.id, s.project, p.data FROM part p JOIN message m ON m.n = p.message
			JOIN session s ON s.n = m.session WHERE p.kind = $1 AND m.created >= $2`+own+` ORDER BY p.n`, codec.KindTool, codec.Millis(since))
	})
	if err != nil {
		return fmt.Errorf("read tool calls: %w", err)
	}
	return nil
}
