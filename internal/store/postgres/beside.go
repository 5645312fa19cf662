package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Beside implements [store.MessageReader].
func (s messages) Beside(ctx context.Context, session lathe.SessionID) (out store.Beside, err error) {
	err = s.read(ctx, func(v *view) error {
		var n, created int64
		err := v.row(`SELECT n, created FROM message WHERE session = (SELECT n FROM session WHERE id = $1)
			AND role = '`+codec.RoleAssistant+`' ORDER BY seq DESC LIMIT 1`, session).Scan(&n, &created)
		if err != nil {
			return missing(err)
		}
		others, err := v.neighbours(session, n, created)
		if err != nil || len(others) == 0 {
			return err
		}
		all := func(store.Near, lathe.Message) bool { return true } // the query knows when an answer ended
		return out.Read(store.Near{Session: session, N: n}, others, v.changing, all)
	})
	if err != nil {
		return out, fmt.Errorf("what was done beside session %s: %w", session, err)
	}
	return out, nil
}

// changing reads an answer with the parts that concern files.
func (v *view) changing(at store.Near) (lathe.Message, error) {
	found, err := v.load(at.Session, `m.n = $2 AND m.role = '`+codec.RoleAssistant+`'`, at.N,
		` AND kind IN ('`+codec.KindTool+`', '`+codec.KindStepStart+`', '`+codec.KindStepFinish+`', '`+codec.KindSnapshot+`', '`+codec.KindPatch+`')`)
	if err == nil && len(found.messages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return found.messages[0], nil
}

// neighbours finds the answers of other sessions of the project that began after one,
// are open, or ended after it began.
func (v *view) neighbours(session lathe.SessionID, n, created int64) (out []store.Near, err error) {
	err = v.rows(func(row pgx.Row) error {
		var o store.Near
		err := row.Scan(&o.Session, &o.Directory, &o.N)
		out = append(out, o)
		return err
	}, `WITH RECURSIVE
		up (id, parent, depth) AS (SELECT id::text, parent::text, 0 FROM session WHERE id = $1 UNION ALL
			SELECT s.id, s.parent, depth + 1 FROM up JOIN session s ON s.id = up.parent WHERE up.parent <> '' AND depth < $2),
		family (id, depth) AS (SELECT * FROM (SELECT id, 0 FROM up ORDER BY depth DESC LIMIT 1) root UNION ALL
			SELECT s.id::text, depth + 1 FROM family JOIN session s ON s.parent = family.id WHERE s.parent <> '' AND depth < $2),
		near (n) AS (SELECT n FROM message WHERE n > $3 AND created >= $4
			UNION SELECT message FROM unclosed
			UNION SELECT * FROM (SELECT n FROM message WHERE n < $3 ORDER BY n DESC LIMIT $5) older)
		SELECT o.id, o.directory, m.n FROM near JOIN message m ON m.n = near.n JOIN session o ON o.n = m.session
		WHERE m.role = '`+codec.RoleAssistant+`' AND o.project = (SELECT project FROM session WHERE id = $1) AND o.id NOT IN (SELECT id FROM family)
			AND (m.n > $3 OR m.open OR m.completed > $4)
		ORDER BY m.n DESC LIMIT $6`, string(session), maxDepth, n, created, store.MaxBefore, store.MaxBeside+1)
	return out, err
}
