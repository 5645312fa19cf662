package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"lathe"
)

const (
	// maxBeside bounds the answers that [Store.Beside] reads.
	maxBeside = 500
	// maxStep is how long before another an answer may have begun and still have
	// gone on beside it, unless it goes on now.
	maxStep = 24 * time.Hour
)

// Beside is what other sessions did at the time of an answer.
type Beside struct {
	// Answer is the newest of the session that was asked for. Messages have those
	// parts alone that say what was done to files: tool calls, trees and patches.
	Answer lathe.Message
	// Others are answers that were given beside it or later.
	Others []Neighbour
	// More means that there are more than were read.
	More bool
}

// Neighbour is an answer of another session.
type Neighbour struct {
	Directory string // of the session
	lathe.Message
}

// Beside returns the newest answer of a session, and what other sessions of its
// project have answered since that was begun, or were still about. A session's
// subagents, and who started it, are no others. Messages that were copied or
// imported since count when they were made.
func (s *Store) Beside(ctx context.Context, session lathe.SessionID) (out Beside, err error) {
	err = s.read(ctx, func(v *view) error {
		var n, created int64
		err := v.row(`SELECT n, created FROM message WHERE session = (SELECT n FROM session WHERE id = ?)
			AND role = '`+roleAssistant+`' ORDER BY seq DESC LIMIT 1`, session).Scan(&n, &created)
		if err != nil {
			return missing(err)
		}
		if out.Answer, err = v.changing(session, n); err != nil {
			return err
		}
		others, err := v.neighbours(session, n, created)
		if err != nil {
			return err
		}
		if out.More = len(others) > maxBeside; out.More {
			others = others[:maxBeside]
		}
		for _, o := range others {
			m, err := v.changing(o.session, o.n)
			if errors.Is(err, ErrNotFound) {
				continue // of a kind this version does not know
			}
			if err != nil {
				return err
			}
			a := m.Info.(*lathe.Assistant)
			if o.n > n || a.Completed.IsZero() || !a.Completed.Before(out.Answer.Created) {
				out.Others = append(out.Others, Neighbour{o.directory, m})
			}
		}
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("what was done beside session %s: %w", session, err)
	}
	return out, nil
}

// changing reads an answer with the parts that tell of files.
func (v *view) changing(session lathe.SessionID, n int64) (lathe.Message, error) {
	var l loader
	err := v.load(&l, session, `m.n = ?2 AND m.role = '`+roleAssistant+`'`, n,
		` AND kind IN ('`+kindTool+`', '`+kindStepStart+`', '`+kindStepFinish+`', '`+kindSnapshot+`', '`+kindPatch+`')`)
	if err == nil && len(l.messages) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return l.messages[0], nil
}

type neighbour struct {
	session   lathe.SessionID
	directory string
	n         int64
}

// neighbours finds answers of other sessions that are newer than one, that are
// open, or are the last of their session before it.
func (v *view) neighbours(session lathe.SessionID, n, created int64) (out []neighbour, err error) {
	rows, err := v.query(`WITH RECURSIVE
		up (id, parent, depth) AS (SELECT id, parent, 0 FROM session WHERE id = :session UNION ALL
			SELECT s.id, s.parent, depth + 1 FROM up JOIN session s ON s.id = up.parent WHERE up.parent <> '' AND depth < :depth),
		family (id, depth) AS (SELECT * FROM (SELECT id, 0 FROM up ORDER BY depth DESC LIMIT 1) UNION ALL
			SELECT s.id, depth + 1 FROM family JOIN session s ON s.parent = family.id WHERE s.parent <> '' AND depth < :depth),
		other (n, id, directory) AS (SELECT n, id, directory FROM session
			WHERE project = (SELECT project FROM session WHERE id = :session) AND id NOT IN (SELECT id FROM family)),
		beside (n) AS (SELECT n FROM message WHERE n > :n AND created >= :created AND role = 'assistant'
			UNION SELECT n FROM message WHERE open = 1 AND role = 'assistant'
			UNION SELECT (SELECT m.n FROM message m WHERE m.session = o.n AND m.n < :n AND m.role = 'assistant' AND m.created >= :early
				ORDER BY m.seq DESC LIMIT 1) FROM other o)
		SELECT o.id, o.directory, m.n FROM beside b JOIN message m ON m.n = b.n JOIN other o ON o.n = m.session
		ORDER BY m.n DESC LIMIT :limit`,
		sql.Named("session", session), sql.Named("depth", maxDepth), sql.Named("n", n), sql.Named("created", created),
		sql.Named("early", created-maxStep.Milliseconds()), sql.Named("limit", maxBeside+1))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o neighbour
		if err := rows.Scan(&o.session, &o.directory, &o.n); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, rows.Err()
}
