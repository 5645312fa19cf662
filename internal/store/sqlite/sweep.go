package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/store"
	"lathe/internal/store/local"
)

// saveBlobs writes the bodies stored outside a document and returns the column
// that refers to them. It runs inside the write transaction, as Sweep does: a
// blob found here cannot be swept before the row that needs it is committed.
func (c *core) saveBlobs(blobs map[string]string) (sql.NullString, error) {
	if len(blobs) == 0 {
		return sql.NullString{}, nil
	}
	var names []string
	for h, body := range blobs {
		if err := c.blobs.Save(h, body); err != nil {
			return sql.NullString{}, fmt.Errorf("write blob %s: %w", h, err)
		}
		names = append(names, h)
	}
	slices.Sort(names)
	return sql.NullString{String: strings.Join(names, " "), Valid: true}, nil
}

// upkeep is a [store.Upkeep].
type upkeep struct{ *core }

// Sweep implements [store.Upkeep]. Blobs older than the database stay: they belong
// to a database that is gone, and may come back.
func (s upkeep) Sweep(ctx context.Context) (out store.Swept, err error) {
	err = s.batch(ctx, func(tx *tx) error {
		live, err := tx.liveBlobs()
		if err != nil {
			return err
		}
		open, err := tx.openTexts()
		if err != nil {
			return err
		}
		strays, err := tx.strays()
		if err != nil {
			return err
		}
		for _, f := range strays {
			live[f.Hash] = true
		}
		blobs, err := s.blobs.Sweep(func(hash string) bool { return live[hash] })
		texts, err2 := s.texts.Sweep(func(t local.Text) bool { return open[t] })
		out = store.Swept{Files: blobs.Files + texts.Files, Bytes: blobs.Bytes + texts.Bytes}
		return errors.Join(err, err2)
	})
	return out, err
}

// SweepStrays removes the blobs of a database that is gone. Only a person can know
// that nobody needs them.
func (d *DB) SweepStrays(ctx context.Context) (out store.Swept, err error) {
	err = d.batch(ctx, func(tx *tx) error {
		strays, err := tx.strays()
		for _, f := range strays {
			if err = errors.Join(err, d.blobs.Remove(f.Hash)); err != nil {
				return err
			}
			out.Files, out.Bytes = out.Files+1, out.Bytes+f.Size
		}
		return err
	})
	return out, err
}

// reclaim removes those of the blobs that no row refers to any more. The caller
// holds the writer's turn and has committed the change that released them.
func (c *core) reclaim(ctx context.Context, hashes []string) error {
	err := c.transact(c.newTx(ctx), func(tx *tx) error {
		live, err := tx.liveBlobs()
		for _, h := range hashes {
			if err == nil && !live[h] {
				_ = c.blobs.Remove(h) // a later sweep would do
			}
		}
		return err
	})
	return c.explain(err)
}

func (v *view) liveBlobs() (map[string]bool, error) {
	live := map[string]bool{}
	hashes, err := v.blobNames(`SELECT blobs FROM session WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM message WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM part WHERE blobs IS NOT NULL
		UNION ALL SELECT blobs FROM session_diff WHERE blobs IS NOT NULL`)
	for _, h := range hashes {
		live[h] = true
	}
	return live, err
}

// blobNames returns the hashes in the column that the query selects.
func (v *view) blobNames(query string, args ...any) (hashes []string, err error) {
	rows, err := v.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var names string
		if err := rows.Scan(&names); err != nil {
			return nil, err
		}
		hashes = append(hashes, strings.Fields(names)...)
	}
	return hashes, rows.Err()
}

func (v *view) openTexts() (map[local.Text]bool, error) {
	rows, err := v.query(`SELECT n, rev FROM part WHERE open = 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	open := map[local.Text]bool{}
	for rows.Next() {
		var t local.Text
		if err := rows.Scan(&t.Row, &t.Revision); err != nil {
			return nil, err
		}
		open[t] = true
	}
	return open, rows.Err()
}

// strays lists the blobs that no row refers to and that are older than the database.
func (v *view) strays() ([]local.Stray, error) {
	live, err := v.liveBlobs()
	if err != nil {
		return nil, err
	}
	began, err := v.began()
	if err != nil || began.IsZero() {
		return nil, err
	}
	return v.db.blobs.Older(began, func(hash string) bool { return live[hash] })
}
