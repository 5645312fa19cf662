package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// Beside implements [store.MessageReader].
func (s messages) Beside(ctx context.Context, session lathe.SessionID) (out store.Beside, err error) {
	err = s.read(ctx, func(v *view) error {
		var own, n, created int64
		err := v.row(`SELECT session, n, created FROM message WHERE session = (SELECT n FROM session WHERE id = ?)
			AND role = '`+codec.RoleAssistant+`' ORDER BY seq DESC LIMIT 1`, session).Scan(&own, &n, &created)
		if err != nil {
			return missing(err)
		}
		if alone, err := v.alone(own, n, created); err != nil || alone {
			return err
		}
		others, err := v.neighbours(session, n, created)
		if err != nil {
			return err
		}
		return out.Read(store.Near{Session: session, N: n}, others, v.changing, func(o store.Near, m lathe.Message) bool {
			a := m.Info.(*lathe.Assistant)
			return o.N > n || a.Completed.IsZero() || a.Completed.After(out.Answer.Created)
		})
	})
	if err != nil {
		return out, fmt.Errorf("what was done beside session %s: %w", session, err)
	}
	return out, nil
}

// ended is true for an answer that ended after :created, and for one where that is
// not obvious.
const ended = `CASE typeof(data) WHEN 'text' THEN json_extract(data, '$.completed') > :created ELSE 1 END`

// alone reports that no other session, of any project, did anything at the time of
// an answer. It costs a tenth of finding out who did, and is usually true.
func (v *view) alone(session, n, created int64) (alone bool, err error) {
	err = v.row(`SELECT NOT EXISTS (SELECT 1 FROM message WHERE n > :n AND session <> :session AND role = '`+codec.RoleAssistant+`')
		AND NOT EXISTS (SELECT 1 FROM message INDEXED BY message_open WHERE open = 1 AND session <> :session)
		AND NOT EXISTS (SELECT 1 FROM (SELECT session, role, data FROM message WHERE n < :n ORDER BY n DESC LIMIT :before)
			WHERE session <> :session AND role = '`+codec.RoleAssistant+`' AND `+ended+`)`,
		sql.Named("session", session), sql.Named("n", n), sql.Named("created", created), sql.Named("before", store.MaxBefore)).Scan(&alone)
	return alone, err
}

// changing reads an answer with the parts that concern files.
func (v *view) changing(at store.Near) (lathe.Message, error) {
	var l loader
	err := v.load(&l, at.Session, `m.n = ?2 AND m.role = '`+codec.RoleAssistant+`'`, at.N,
		` AND kind IN ('`+codec.KindTool+`', '`+codec.KindStepStart+`', '`+codec.KindStepFinish+`', '`+codec.KindSnapshot+`', '`+codec.KindPatch+`')`)
	if err == nil && len(l.messages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return l.messages[0], nil
}

// neighbours finds the answers of other sessions that began after one, are open, or
// ended after it began, and some more where that is not obvious. The order of the
// joins is fixed by hand, because the store has no statistics: it may hold
// thousands of sessions.
func (v *view) neighbours(session lathe.SessionID, n, created int64) (out []store.Near, err error) {
	rows, err := v.query(`WITH RECURSIVE
		up (id, parent, depth) AS (SELECT id, parent, 0 FROM session WHERE id = :session UNION ALL
			SELECT s.id, s.parent, depth + 1 FROM up JOIN session s ON s.id = up.parent WHERE up.parent <> '' AND depth < :depth),
		family (id, depth) AS (SELECT * FROM (SELECT id, 0 FROM up ORDER BY depth DESC LIMIT 1) UNION ALL
			SELECT s.id, depth + 1 FROM family JOIN session s ON s.parent = family.id WHERE s.parent <> '' AND depth < :depth),
		near (n) AS (SELECT n FROM message WHERE n > :n AND created >= :created
			UNION ALL SELECT n FROM message INDEXED BY message_open WHERE open = 1
			UNION ALL SELECT * FROM (SELECT n FROM message WHERE n < :n ORDER BY n DESC LIMIT :before))
		SELECT DISTINCT o.id, o.directory, m.n FROM near CROSS JOIN message m ON m.n = near.n CROSS JOIN session o ON o.n = m.session
		WHERE m.role = '`+codec.RoleAssistant+`' AND o.project = (SELECT project FROM session WHERE id = :session) AND o.id NOT IN (SELECT id FROM family)
			AND (m.n > :n OR m.open = 1 OR (SELECT `+ended+` FROM message WHERE n = m.n))
		ORDER BY m.n DESC LIMIT :limit`,
		sql.Named("session", session), sql.Named("depth", maxDepth), sql.Named("n", n), sql.Named("created", created),
		sql.Named("before", store.MaxBefore), sql.Named("limit", store.MaxBeside+1))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o store.Near
		if err := rows.Scan(&o.Session, &o.Directory, &o.N); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}
