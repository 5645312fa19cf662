package disk

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"lathe"
	"lathe/internal/opencode/wire"
)

// maxRow bounds one message or part.
const maxRow = 64 << 20

// database is an open OpenCode database.
type database struct {
	ctx context.Context
	db  *sql.DB
}

// readDatabase yields the sessions of a database; false ends all reading.
func readDatabase(ctx context.Context, path, storage string, seen map[lathe.SessionID]bool, yield func(*Record, error) bool) bool {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	db, err := sql.Open("sqlite", u.String()+"?mode=ro&_pragma=query_only(1)&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)")
	if err == nil {
		defer db.Close()
		db.SetMaxOpenConns(2)
	}
	d := database{ctx, db}
	var all []lathe.Session
	var broken []string
	if err == nil {
		all, broken, err = d.sessions()
	}
	if err != nil {
		return yield(nil, fmt.Errorf("read %s: %w", path, err))
	}
	if len(broken) > 0 && !yield(&Record{Problems: broken}, nil) {
		return false
	}
	for _, sess := range all {
		seen[sess.ID] = true
		r, err := d.record(sess, storage)
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
			return false
		}
		if err != nil { // a damaged page: the others can still be read
			r = &Record{Problems: []string{fmt.Sprintf("session %s: %v", sess.ID, err)}}
		}
		if !yield(r, nil) {
			return false
		}
	}
	return true
}

// rows calls fn with the one JSON document that each row of the query holds.
func (d database) rows(fn func(raw []byte) error, query string, args ...any) error {
	rows, err := d.db.QueryContext(d.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		if err := fn(raw); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sessions reads the session table into the shape of the wire. Parents and older
// ones come first.
func (d database) sessions() (all []lathe.Session, broken []string, err error) {
	err = d.rows(func(raw []byte) error {
		sess, err := wire.DecodeSession(raw)
		if err != nil {
			broken = append(broken, err.Error())
			return nil
		}
		all = append(all, sess)
		return nil
	}, `SELECT json_patch('{}', json_object('id', id, 'slug', slug, 'projectID', project_id, 'directory', directory, 'parentID', parent_id,
		'title', title, 'version', version, 'permission', json(iif(json_valid(permission), permission, 'null')),
		'revert', json(iif(json_valid(revert), revert, 'null')),
		'time', json_object('created', time_created, 'updated', time_updated, 'archived', time_archived),
		'summary', iif(summary_files IS NULL, NULL, json_object('additions', summary_additions, 'deletions', summary_deletions, 'files', summary_files))))
		FROM session ORDER BY parent_id IS NOT NULL, time_created, id`)
	return all, broken, err
}

func (d database) record(sess lathe.Session, storage string) (*Record, error) {
	r := gather(sess)
	// What cannot be decoded is left out; what cannot be read is an error.
	lenient := func(decode func([]byte) error) func([]byte) error {
		return func(raw []byte) error {
			if err := decode(raw); err != nil {
				r.problem("%v", err)
			}
			return nil
		}
	}
	err := errors.Join(
		d.rows(lenient(r.addMessage), `SELECT json_patch(iif(json_valid(data), data, '{}'), json_object('id', id, 'sessionID', session_id))
			FROM message WHERE session_id = ? AND length(data) <= ?`, sess.ID, maxRow),
		d.rows(lenient(r.addPart), `SELECT json_patch(iif(json_valid(data), data, '{}'), json_object('id', id, 'sessionID', session_id, 'messageID', message_id))
			FROM part WHERE session_id = ? AND length(data) <= ? ORDER BY message_id, id`, sess.ID, maxRow),
		d.rows(func(raw []byte) error {
			r.problem("session %s: %s is larger than %d bytes", sess.ID, raw, maxRow)
			return nil
		}, `SELECT id FROM message WHERE session_id = ?1 AND length(data) > ?2
			UNION ALL SELECT id FROM part WHERE session_id = ?1 AND length(data) > ?2 LIMIT 100`, sess.ID, maxRow),
		d.rows(lenient(r.addTodo), `SELECT json_object('content', content, 'status', status, 'priority', priority) FROM todo WHERE session_id = ? ORDER BY position`, sess.ID),
		d.rows(lenient(func(raw []byte) (err error) {
			r.Project, err = decodeProject(raw)
			return err
		}), `SELECT json_object('id', id, 'worktree', worktree, 'vcs', coalesce(vcs, ''), 'time', json_object('created', time_created, 'updated', time_updated))
			FROM project WHERE id = ?`, sess.ProjectID),
	)
	r.readDiffs(storage)
	r.finish()
	return &r.Record, err
}

func (r *Record) addTodo(raw []byte) error {
	var t struct{ Content, Status, Priority string }
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	r.Todos = append(r.Todos, lathe.Todo{ID: fmt.Sprint(len(r.Todos) + 1), Content: t.Content, Status: t.Status, Priority: t.Priority})
	return nil
}
