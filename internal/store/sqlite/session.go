package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
)

// sessions is a [store.SessionReader].
type sessions struct{ *core }

const sessionColumns = `id, project, parent, directory, title, created, updated, archived, data`

// CreateSession implements [store.Tx].
func (tx *tx) CreateSession(ses lathe.Session) error {
	data, blobs, err := tx.sessionRow(&ses)
	if err == nil {
		_, err = tx.exec(`INSERT INTO session (`+sessionColumns+`, blobs) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			ses.ID, ses.ProjectID, ses.ParentID, ses.Directory, ses.Title,
			codec.Millis(ses.Created), codec.Millis(ses.Updated), codec.Millis(ses.Archived), data, blobs)
	}
	if isUnique(err) {
		err = store.ErrExists
	}
	if err != nil {
		return fmt.Errorf("create session %s: %w", ses.ID, err)
	}
	return nil
}

func (tx *tx) sessionRow(ses *lathe.Session) (data any, blobs sql.NullString, err error) {
	var e codec.Encoder
	doc, err := e.Session(ses)
	if err != nil {
		return nil, blobs, err
	}
	blobs, err = tx.db.saveBlobs(e.Blobs)
	return tx.db.packer.Pack(doc), blobs, err
}

// Session returns a session, or [ErrNotFound].
func (s sessions) Session(ctx context.Context, id lathe.SessionID) (ses lathe.Session, err error) {
	err = s.read(ctx, func(v *view) error {
		ses, err = v.session(id)
		return err
	})
	return ses, err
}

func (v *view) session(id lathe.SessionID) (lathe.Session, error) {
	ses, _, err := v.scanSession(v.row(`SELECT `+sessionColumns+` FROM session WHERE id = ?`, id))
	if err != nil {
		return lathe.Session{}, fmt.Errorf("session %s: %w", id, missing(err))
	}
	return ses, nil
}

// wholeSession is session for callers that continue it: a session with damaged
// settings is refused.
func (v *view) wholeSession(id lathe.SessionID) (lathe.Session, error) {
	ses, damage, err := v.scanSession(v.row(`SELECT `+sessionColumns+` FROM session WHERE id = ?`, id))
	if err != nil {
		return lathe.Session{}, fmt.Errorf("session %s: %w", id, missing(err))
	}
	if damage != nil {
		return lathe.Session{}, damagedSession(id, damage)
	}
	return ses, nil
}

// missing turns the database's error for no row into ours.
func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

type scanner interface{ Scan(dest ...any) error }

// scanSession reads a row; damage says why its settings are not what was stored.
func (v *view) scanSession(row scanner) (s lathe.Session, damage, err error) {
	var (
		created, updated, archived int64
		data                       []byte
	)
	err = row.Scan(&s.ID, &s.ProjectID, &s.ParentID, &s.Directory, &s.Title, &created, &updated, &archived, &data)
	if err != nil {
		return lathe.Session{}, nil, err
	}
	s.Created, s.Updated, s.Archived = codec.At(created), codec.At(updated), codec.At(archived)
	if data, damage = codec.Unpack(data); damage == nil {
		damage = v.decoder().Session(data, &s)
	}
	if damage != nil {
		v.db.log.Error("the settings of a session cannot be read", "session", string(s.ID), "err", damage)
	}
	return s, damage, nil
}

// decoder replaces what cannot be read with notes.
func (v *view) decoder() codec.Decoder {
	return codec.Decoder{Load: v.db.blobs.Load, Damage: &codec.Damage{}}
}

// UpdateSession implements [store.Tx].
func (tx *tx) UpdateSession(id lathe.SessionID, change func(*lathe.Session) error) (lathe.Session, error) {
	ses, err := tx.wholeSession(id)
	if err != nil {
		return lathe.Session{}, err
	}
	if err := change(&ses); err != nil {
		return lathe.Session{}, err
	}
	ses.ID = id
	data, blobs, err := tx.sessionRow(&ses)
	if err == nil {
		err = tx.change(`UPDATE session SET project = ?, parent = ?, directory = ?, title = ?, created = ?,
			updated = ?, archived = ?, data = ?, blobs = ? WHERE id = ?`,
			ses.ProjectID, ses.ParentID, ses.Directory, ses.Title, codec.Millis(ses.Created), codec.Millis(ses.Updated), codec.Millis(ses.Archived),
			data, blobs, id)
	}
	if err != nil {
		return lathe.Session{}, fmt.Errorf("update session %s: %w", id, err)
	}
	return ses, nil
}

func where(f store.SessionFilter) (string, []any) {
	var conds []string
	var args []any
	add := func(on bool, cond string, arg ...any) {
		if on {
			conds, args = append(conds, cond), append(args, arg...)
		}
	}
	add(f.ProjectID != "", "project = ?", f.ProjectID)
	add(f.Directory != "", "directory = ?", f.Directory)
	add(f.ParentID != "", "parent = ? AND parent <> ''", f.ParentID)
	add(f.Roots, "parent = ''")
	add(f.Active, "archived = 0")
	add(f.Archived, "archived <> 0")
	add(f.Search != "", "instr(lower(title), lower(?)) > 0", f.Search)
	add(!f.Since.IsZero(), "updated >= ?", codec.Millis(f.Since))
	add(!f.Before.IsZero(), "updated < ?", codec.Millis(f.Before))
	if len(conds) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(conds, " AND "), args
}

// Sessions returns the sessions that the filter selects, newest created first
// unless the filter says otherwise.
func (s sessions) Sessions(ctx context.Context, f store.SessionFilter) (out []lathe.Session, err error) {
	where, args := where(f)
	order := "created"
	if f.ByUse {
		order = "updated"
	}
	query := `SELECT ` + sessionColumns + ` FROM session` + where + ` ORDER BY ` + order + ` DESC, n DESC`
	if f.Oldest {
		query = `SELECT ` + sessionColumns + ` FROM session` + where + ` ORDER BY ` + order + `, n`
	}
	if f.Limit > 0 {
		query, args = query+` LIMIT ?`, append(args, f.Limit)
	}
	err = s.read(ctx, func(v *view) error {
		out, err = v.sessions(query, args...)
		return err
	})
	return out, err
}

func (v *view) sessions(query string, args ...any) (out []lathe.Session, err error) {
	rows, err := v.query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		ses, _, err := v.scanSession(rows)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		out = append(out, ses)
	}
	return out, rows.Err()
}

// maxDepth bounds the nesting of sessions, so that a loop of parents ends.
const maxDepth = 64

// DeleteSession removes a session, the sessions below it and all that belongs to
// them, except for what they cost. It returns them, children first.
func (tx *tx) DeleteSession(id lathe.SessionID) (gone []lathe.Session, err error) {
	gone, hashes, err := tx.deleteSession(id)
	if err != nil {
		return nil, err
	}
	if len(hashes) > 0 {
		tx.after = append(tx.after, func() {
			if err := tx.db.reclaim(tx.ctx, hashes); err != nil {
				tx.db.log.Warn("removed session leaves blobs for the next sweep", "session", string(id), "err", err)
			}
		})
	}
	return gone, nil
}

func (tx *tx) deleteSession(id lathe.SessionID) (gone []lathe.Session, hashes []string, err error) {
	if _, err := tx.session(id); err != nil {
		return nil, nil, err
	}
	all, err := tx.sessions(`WITH RECURSIVE tree (tid, depth) AS (
			SELECT ?, 0 UNION ALL SELECT s.id, depth + 1 FROM tree JOIN session s ON s.parent = tid
				WHERE s.parent <> '' AND depth < ?)
		SELECT `+sessionColumns+` FROM tree JOIN session ON id = tid ORDER BY depth DESC, n`, id, maxDepth)
	if err != nil {
		return nil, nil, err
	}
	seen := map[lathe.SessionID]bool{}
	for _, ses := range all {
		if seen[ses.ID] {
			continue
		}
		seen[ses.ID] = true
		h, err := tx.sessionBlobs(ses.ID)
		if err == nil {
			err = errors.Join(spending{tx}.keep(ses.ID, ""), tx.dropSession(ses.ID))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("delete session %s: %w", ses.ID, err)
		}
		gone, hashes = append(gone, ses), append(hashes, h...)
	}
	return gone, hashes, nil
}

// dropSession deletes the row, and the rest with it, and its open texts.
func (tx *tx) dropSession(id lathe.SessionID) error {
	rows, err := tx.query(`SELECT p.id, p.n, p.rev FROM session s JOIN message m ON m.session = s.n
		JOIN part p ON p.message = m.n WHERE s.id = ? AND p.open = 1`, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var part lathe.PartID
		var n, rev int64
		if err := rows.Scan(&part, &n, &rev); err != nil {
			return err
		}
		tx.after = append(tx.after, func() { tx.db.texts.drop(part, local.Text{Row: n, Revision: rev}) })
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return tx.change(`DELETE FROM session WHERE id = ?`, id)
}

func (tx *tx) sessionBlobs(id lathe.SessionID) ([]string, error) {
	return tx.blobNames(`WITH ses AS (SELECT n FROM session WHERE id = ?)
		SELECT blobs FROM session WHERE n IN ses AND blobs IS NOT NULL
		UNION ALL SELECT blobs FROM session_diff WHERE session IN ses AND blobs IS NOT NULL
		UNION ALL SELECT blobs FROM message WHERE session IN ses AND blobs IS NOT NULL
		UNION ALL SELECT p.blobs FROM message m JOIN part p ON p.message = m.n
			WHERE m.session IN ses AND p.blobs IS NOT NULL`, id)
}
