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

const (
	// maxBeside bounds the answers that Beside reads.
	maxBeside = 500
	// maxBefore is how many messages earlier an answer may be and still have
	// overlapped with another, unless it is still open.
	maxBefore = 300
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
		if out.Answer, err = v.changing(session, n); err != nil {
			return err
		}
		if out.More = len(others) > maxBeside; out.More {
			others = others[:maxBeside]
		}
		for _, o := range others {
			m, err := v.changing(o.session, o.n)
			if errors.Is(err, store.ErrNotFound) {
				continue // of a kind this version does not know
			}
			if err != nil {
				return err
			}
			out.Others = append(out.Others, store.Neighbour{Directory: o.directory, Message: m})
		}
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("what was done beside session %s: %w", session, err)
	}
	return out, nil
}

// changing reads an answer with the parts that concern files.
func (v *view) changing(session lathe.SessionID, n int64) (lathe.Message, error) {
	found, err := v.load(session, `m.n = $2 AND m.role = '`+codec.RoleAssistant+`'`, n,
		` AND kind IN ('`+codec.KindTool+`', '`+codec.KindStepStart+`', '`+codec.KindStepFinish+`', '`+codec.KindSnapshot+`', '`+codec.KindPatch+`')`)
	if err == nil && len(found.messages) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return found.messages[0], nil
}

type neighbour struct {
	session   lathe.SessionID
	directory string
	n         int64
}

// neighbours finds the answers of other sessions of the project that began after one,
// are open, or ended after it began.
func (v *view) neighbours(session lathe.SessionID, n, created int64) (out []neighbour, err error) {
	err = v.rows(func(row pgx.Row) error {
		var o neighbour
		err := row.Scan(&o.session, &o.directory, &o.n)
		out = append(out, o)
		return err
	}, `WITH RECURSIVE
		up (id, parent, depth) AS (SELECT id::text, parent::text, 0 FROM session WHERE id = $1 UNION ALL
			SELECT s.id, s.parent, depth + 1 FROM up JOIN session s ON s.id = up.parent WHERE up.parent <> '' AND depth < $2),
		family (id, depth) AS (SELECT * FROM (SELECT id, 0 FROM up ORDER BY depth DESC LIMIT 1) root UNION ALL
			SELECT s.id::text, depth + 1 FROM family JOIN session s ON s.parent = family.id WHERE s.parent <> '' AND depth < $2),
		near (n) AS (SELECT n FROM message WHERE n > $3 AND created >= $4
			UNION SELECT n FROM message WHERE open
			UNION SELECT * FROM (SELECT n FROM message WHERE n < $3 ORDER BY n DESC LIMIT $5) older)
		SELECT o.id, o.directory, m.n FROM near JOIN message m ON m.n = near.n JOIN session o ON o.n = m.session
		WHERE m.role = '`+codec.RoleAssistant+`' AND o.project = (SELECT project FROM session WHERE id = $1) AND o.id NOT IN (SELECT id FROM family)
			AND (m.n > $3 OR m.open OR m.completed > $4)
		ORDER BY m.n DESC LIMIT $6`, string(session), maxDepth, n, created, maxBefore, maxBeside+1)
	return out, err
}
