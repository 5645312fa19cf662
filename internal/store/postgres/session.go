package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// sessions is a [store.SessionReader].
type sessions struct{ *core }

const sessionColumns = `id, project, parent, directory, title, created, updated, archived, data, blobs`

// document is a packed document as a column holds it, and the bodies it refers to.
type document struct {
	data  []byte
	blobs []string
}

// pack returns the column of a document.
func (c *core) pack(doc []byte) []byte {
	switch d := c.packer.Pack(doc).(type) {
	case []byte:
		return d
	case string:
		return []byte(d)
	}
	return doc
}

// CreateSession implements [store.Tx].
func (tx *tx) CreateSession(ses lathe.Session) error {
	doc, err := tx.sessionDoc(&ses)
	if err != nil {
		return fmt.Errorf("create session %s: %w", ses.ID, err)
	}
	tx.must("create session "+string(ses.ID), store.ErrExists,
		`INSERT INTO session (`+sessionColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`, sessionArgs(&ses, doc)...)
	return nil
}

func (tx *tx) sessionDoc(ses *lathe.Session) (document, error) {
	var e codec.Encoder
	doc, err := e.Session(ses)
	if err != nil {
		return document{}, err
	}
	blobs, err := tx.saveBlobs(e.Blobs)
	return document{tx.db.pack(doc), blobs}, err
}

func sessionArgs(s *lathe.Session, doc document) []any {
	return []any{string(s.ID), clean(s.ProjectID), string(s.ParentID), clean(s.Directory), clean(s.Title),
		codec.Millis(s.Created), codec.Millis(s.Updated), codec.Millis(s.Archived), doc.data, doc.blobs}
}

// Session implements [store.SessionReader].
func (s sessions) Session(ctx context.Context, id lathe.SessionID) (ses lathe.Session, err error) {
	err = s.glance(ctx, func(v *view) error {
		ses, err = v.session(id)
		return err
	})
	return ses, err
}

func (v *view) session(id lathe.SessionID) (lathe.Session, error) {
	ses, damage, err := v.oneSession(id, "")
	if damage != nil {
		v.db.log.Error("the settings of a session cannot be read", "session", string(id), "err", damage)
	}
	return ses, err
}

// oneSession reads a session, and locks it when lock says so; damage says why its
// settings are not what was stored.
func (v *view) oneSession(id lathe.SessionID, lock string) (ses lathe.Session, damage, err error) {
	found, damages, err := v.sessions(`SELECT `+sessionColumns+` FROM session WHERE id = $1`+lock, id)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return lathe.Session{}, nil, fmt.Errorf("session %s: %w", id, err)
	}
	return found[0], damages[0], nil
}

// sessions reads what a query selects. The bodies are read once the rows are.
func (v *view) sessions(query string, args ...any) (out []lathe.Session, damages []error, err error) {
	var docs []document
	err = v.rows(func(row pgx.Row) error {
		var s lathe.Session
		var d document
		var created, updated, archived int64
		err := row.Scan(&s.ID, &s.ProjectID, &s.ParentID, &s.Directory, &s.Title, &created, &updated, &archived, &d.data, &d.blobs)
		s.Created, s.Updated, s.Archived = codec.At(created), codec.At(updated), codec.At(archived)
		out, docs = append(out, s), append(docs, d)
		return err
	}, query, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("list sessions: %w", err)
	}
	bodies, err := v.bodies(docs)
	if err != nil {
		return nil, nil, err
	}
	damages = make([]error, len(out))
	for i := range out {
		d := bodies.decoder()
		data, err := codec.Unpack(docs[i].data)
		if err == nil {
			err = d.Session(data, &out[i])
		}
		if damages[i] = err; err == nil {
			damages[i] = d.Damage.Why
		}
	}
	return out, damages, nil
}

// UpdateSession implements [store.Tx].
func (tx *tx) UpdateSession(id lathe.SessionID, change func(*lathe.Session) error) (lathe.Session, error) {
	if err := tx.own(id); err != nil {
		return lathe.Session{}, err
	}
	mine := tx.mine[id]
	ses, was, ok := mine.row()
	if !ok {
		var damage, err error
		if ses, damage, err = tx.oneSession(id, " FOR UPDATE"); err != nil {
			return lathe.Session{}, err
		}
		if damage != nil {
			return lathe.Session{}, wrapped(lathe.CodeInternal, "its messages can be read; restore it from a backup to go on with it",
				damage, "the settings of session %s are damaged", id)
		}
	}
	if err := change(&ses); err != nil {
		return lathe.Session{}, err
	}
	ses.ID = id
	doc, err := tx.sessionDoc(&ses)
	if err != nil {
		return lathe.Session{}, fmt.Errorf("update session %s: %w", id, err)
	}
	now := sessionArgs(&ses, doc)
	mine.learnRow(now, doc)
	s := statement{query: updateSession, args: now, doing: "update session " + string(id)}
	if ok {
		s.query, s.args, s.none = oneRow(updateSession+isStill), append(slices.Clip(now), was[1:9]...), errRecall
	}
	tx.pipe.later(s)
	return ses, nil
}

const updateSession = `UPDATE session SET project = $2, parent = $3, directory = $4, title = $5, created = $6,
	updated = $7, archived = $8, data = $9, blobs = $10 WHERE id = $1`

// isStill is the condition that the row of a session is as it was remembered.
const isStill = ` AND project = $11 AND parent = $12 AND directory = $13 AND title = $14 AND created = $15 AND updated = $16
	AND archived = $17 AND data = $18 AND blobs IS NULL`

// conditions are joined by AND; ? stands for the next argument.
type conditions struct {
	conds []string
	args  []any
}

func (c *conditions) add(on bool, cond string, args ...any) {
	if !on {
		return
	}
	for _, arg := range args {
		c.args = append(c.args, arg)
		cond = strings.Replace(cond, "?", "$"+strconv.Itoa(len(c.args)), 1)
	}
	c.conds = append(c.conds, cond)
}

func (c *conditions) where() string {
	if len(c.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.conds, " AND ")
}

// Sessions implements [store.SessionReader].
func (s sessions) Sessions(ctx context.Context, f store.SessionFilter) (out []lathe.Session, err error) {
	var c conditions
	c.add(f.ProjectID != "", "project = ?", clean(f.ProjectID))
	c.add(f.Directory != "", "directory = ?", clean(f.Directory))
	c.add(f.ParentID != "", "parent = ? AND parent <> ''", string(f.ParentID))
	c.add(f.Roots, "parent = ''")
	c.add(f.Active, "archived = 0")
	c.add(f.Archived, "archived <> 0")
	c.add(f.Search != "", "position(lower(? COLLATE \"C\") in lower(title)) > 0", clean(f.Search))
	c.add(!f.Since.IsZero(), "updated >= ?", codec.Millis(f.Since))
	c.add(!f.Before.IsZero(), "updated < ?", codec.Millis(f.Before))
	order := "created"
	if f.ByUse {
		order = "updated"
	}
	query := `SELECT ` + sessionColumns + ` FROM session` + c.where() + ` ORDER BY ` + order + ` DESC, n DESC`
	if f.Oldest {
		query = `SELECT ` + sessionColumns + ` FROM session` + c.where() + ` ORDER BY ` + order + `, n`
	}
	if f.Limit > 0 {
		query += ` LIMIT ` + strconv.Itoa(f.Limit)
	}
	err = s.read(ctx, func(v *view) error {
		out, _, err = v.sessions(query, c.args...)
		return err
	})
	return out, err
}

// maxDepth bounds the nesting of sessions, so that a loop of parents ends.
const maxDepth = 64

// DeleteSession implements [store.Tx].
func (tx *tx) DeleteSession(id lathe.SessionID) (gone []lathe.Session, err error) {
	if err := tx.own(id); err != nil {
		return nil, err
	}
	all, _, err := tx.sessions(`WITH RECURSIVE tree (tid, depth) AS (
			SELECT $1::text COLLATE "C", 0 UNION ALL SELECT s.id, depth + 1 FROM tree JOIN session s ON s.parent = tid
				WHERE s.parent <> '' AND depth < $2)
		SELECT `+sessionColumns+` FROM tree JOIN session ON id = tid ORDER BY depth DESC, n`, string(id), maxDepth)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("session %s: %w", id, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	seen := map[lathe.SessionID]bool{}
	var hashes []string
	for _, ses := range all {
		if seen[ses.ID] {
			continue
		}
		seen[ses.ID] = true
		h, err := tx.dropSession(ses.ID)
		if err != nil {
			return nil, fmt.Errorf("delete session %s: %w", ses.ID, err)
		}
		gone, hashes = append(gone, ses), append(hashes, h...)
	}
	if len(hashes) > 0 {
		tx.after = append(tx.after, func(ctx context.Context) {
			if _, err := tx.db.reclaim(ctx, hashes); err != nil {
				tx.db.log.Warn("removed session leaves bodies for the next sweep", "session", string(id), "err", err)
			}
		})
	}
	return gone, nil
}

// dropSession deletes the row, and the rest with it. It returns the bodies that it
// referred to.
func (tx *tx) dropSession(id lathe.SessionID) (hashes []string, err error) {
	// Nobody adds to it while it goes.
	if err := tx.change(`UPDATE session SET messages = messages WHERE id = $1`, id); err != nil {
		return nil, err
	}
	err = tx.rows(func(row pgx.Row) error {
		var names []string
		err := row.Scan(&names)
		hashes = append(hashes, names...)
		return err
	}, `WITH ses AS (SELECT n FROM session WHERE id = $1)
		SELECT blobs FROM session WHERE n IN (SELECT n FROM ses) AND blobs IS NOT NULL
		UNION ALL SELECT blobs FROM session_diff WHERE session IN (SELECT n FROM ses) AND blobs IS NOT NULL
		UNION ALL SELECT blobs FROM message WHERE session IN (SELECT n FROM ses) AND blobs IS NOT NULL
		UNION ALL SELECT p.blobs FROM message m JOIN part p ON p.message = m.n WHERE m.session IN (SELECT n FROM ses) AND p.blobs IS NOT NULL`, id)
	return hashes, errors.Join(err, spending{tx}.keep(id, ""), tx.change(`DELETE FROM session WHERE id = $1`, id))
}
