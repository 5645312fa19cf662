package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// carrier is a [store.Carrier].
type carrier struct{ *DB }

// Carrier returns the database as one whose rows are carried elsewhere.
func (d *DB) Carrier() store.Carrier { return carrier{d} }

// Rows implements [store.Carrier].
func (c carrier) Rows(ctx context.Context, t store.Table, after []any, limit int) (out []store.Row, err error) {
	if t.Name == store.BlobTable {
		return c.bodies(ctx, after, limit)
	}
	key, where, args := strings.Join(t.Key, ", "), "", []any(nil)
	if after != nil {
		where = ` WHERE (` + key + `) > (?` + strings.Repeat(", ?", len(after)-1) + `)`
		args = slices.Clone(after)
	}
	err = c.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT `+columnNames(t)+` FROM `+t.Name+where+` ORDER BY `+key+` LIMIT ?`, append(args, limit)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, err := scanRow(rows.Scan, t)
			if err != nil {
				return err
			}
			out = append(out, row)
		}
		return rows.Err()
	})
	return out, err
}

func columnNames(t store.Table) string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func scanRow(scan func(...any) error, t store.Table) (out store.Row, err error) {
	raw := make([]any, len(t.Columns))
	dest := make([]any, len(raw))
	for i, c := range t.Columns {
		switch c.Kind {
		case store.NumberColumn, store.FlagColumn:
			raw[i] = new(int64)
		case store.BlobsColumn:
			raw[i] = new(*string)
		case store.TextColumn:
			raw[i] = new(string)
		default:
			raw[i] = new([]byte)
		}
		dest[i] = raw[i]
	}
	if err := scan(dest...); err != nil {
		return nil, err
	}
	for i, c := range t.Columns {
		var v any
		switch d := raw[i].(type) {
		case *int64:
			if v = *d; c.Kind == store.FlagColumn {
				v = *d != 0
			}
		case **string:
			var names []string
			if *d != nil {
				names = strings.Fields(**d)
			}
			v = names
		case *string:
			v = strings.ReplaceAll(strings.ToValidUTF8(*d, "\uFFFD"), "\x00", "\uFFFD")
		case *[]byte:
			if v, err = codec.Unpack(*d); err != nil {
				return nil, err
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// hashes returns the names of all bodies that rows refer to, in order.
func (c carrier) hashes(ctx context.Context) (names []string, err error) {
	err = c.read(ctx, func(v *view) error {
		live, err := v.liveBlobs()
		names = slices.Sorted(maps.Keys(live))
		return err
	})
	return names, err
}

func (c carrier) bodies(ctx context.Context, after []any, limit int) (out []store.Row, err error) {
	names, err := c.hashes(ctx)
	for _, name := range names {
		if err != nil || len(out) == limit {
			break
		}
		if after != nil && name <= after[0].(string) {
			continue
		}
		var body []byte
		if body, err = c.blobs.Read(name); err == nil {
			out = append(out, store.Row{name, body})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w; see: lathe db check", err)
	}
	return out, nil
}

// Count implements [store.Carrier].
func (c carrier) Count(ctx context.Context, t store.Table) (n int64, err error) {
	if t.Name == store.BlobTable {
		names, err := c.hashes(ctx)
		return int64(len(names)), err
	}
	return n, c.read(ctx, func(v *view) error { return v.row(`SELECT count(*) FROM ` + t.Name).Scan(&n) })
}

// Put implements [store.Carrier].
func (c carrier) Put(ctx context.Context, t store.Table, rows []store.Row) error {
	return c.batch(ctx, func(tx *tx) error {
		for _, r := range rows {
			if err := tx.carry(t, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (tx *tx) carry(t store.Table, r store.Row) error {
	if t.Name == store.BlobTable {
		return tx.db.blobs.Save(r[0].(string), string(r[1].([]byte)))
	}
	args := make([]any, len(r))
	for i, v := range r {
		args[i] = v
		switch v := v.(type) {
		case []byte:
			args[i] = tx.db.packer.Pack(v)
		case []string:
			args[i] = nil
			if len(v) > 0 {
				args[i] = strings.Join(v, " ")
			}
		}
	}
	_, err := tx.exec(`INSERT INTO `+t.Name+` (`+columnNames(t)+`) VALUES (?`+strings.Repeat(", ?", len(r)-1)+`)`, args...)
	return err
}

// filling is the directory below a data directory in which a move makes its database.
const filling = "moving"

// target is a [store.Target]: a database that is made beside the place that it gets.
type target struct {
	carrier
	dir string // the data directory
}

// OpenTarget opens a database that a move fills; its place is the directory, which must
// hold no sessions yet. source names what it is filled from: a part that an earlier move
// from there left is used.
func OpenTarget(ctx context.Context, o Options, source string) (store.Target, error) {
	if err := unused(ctx, o); err != nil {
		return nil, err
	}
	dir := o.Dir
	o.Dir = filepath.Join(dir, filling)
	mark := filepath.Join(o.Dir, "source")
	switch was, err := os.ReadFile(mark); {
	case errors.Is(err, os.ErrNotExist):
		if err := os.MkdirAll(o.Dir, dirMode); err != nil {
			return nil, err
		}
		if err := os.WriteFile(mark, []byte(source), fileMode); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case string(was) != source:
		return nil, lathe.Errorf(lathe.CodeInvalid, "go on with that move, or remove "+o.Dir, "the directory %s has an unfinished move from %s", dir, was)
	}
	db, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &target{carrier{db}, dir}, nil
}

// unused refuses a directory whose database holds something.
func unused(ctx context.Context, o Options) error {
	path := filepath.Join(o.Dir, "lathe.db")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	db, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, t := range store.Carried() {
		n, err := carrier{db}.Count(ctx, t)
		if err != nil {
			return err
		}
		if n > 0 {
			return lathe.Errorf(lathe.CodeInvalid, "name another directory, or move that file away with the directory blob beside it", "the database %s is not empty", path)
		}
	}
	return nil
}

// Last implements [store.Target].
func (t *target) Last(ctx context.Context, of store.Table) (key []any, err error) {
	if of.Name == store.BlobTable { // files: what is there is found out by their names
		return t.lastBody()
	}
	key = make([]any, len(of.Key))
	dest := make([]any, len(key))
	for i := range key {
		dest[i] = &key[i]
	}
	order := strings.Join(of.Key, " DESC, ") + " DESC"
	return key, t.read(ctx, func(v *view) error {
		return v.row(`SELECT ` + strings.Join(of.Key, ", ") + ` FROM ` + of.Name + ` ORDER BY ` + order + ` LIMIT 1`).Scan(dest...)
	})
}

// Count implements [store.Carrier]. Bodies come last, so the rows that name them are there.
func (t *target) Count(ctx context.Context, of store.Table) (int64, error) {
	if of.Name != store.BlobTable {
		return t.carrier.Count(ctx, of)
	}
	names, err := t.blobs.Names()
	return int64(len(names)), err
}

func (t *target) lastBody() ([]any, error) {
	names, err := t.blobs.Names()
	if err != nil {
		return nil, err
	}
	return []any{names[len(names)-1]}, nil
}

// Clear implements [store.Target].
func (t *target) Clear(ctx context.Context) error {
	err := t.batch(ctx, func(tx *tx) error {
		for _, of := range slices.Backward(store.Carried()) {
			if of.Name == store.BlobTable {
				continue
			}
			if _, err := tx.exec(`DELETE FROM ` + of.Name); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(t.blobs.Dir))
}

// Finish implements [store.Target].
func (t *target) Finish(context.Context) error {
	if err := t.DB.Close(); err != nil {
		return err
	}
	from := filepath.Join(t.dir, filling)
	for _, name := range []string{"lathe.db-wal", "lathe.db-shm", "lathe.db"} { // of one without rows
		if err := os.Remove(filepath.Join(t.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := t.takeBlobs(from); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(from, "lathe.db"), filepath.Join(t.dir, "lathe.db")); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// takeBlobs moves the bodies to their place, beside those of a database that is gone.
func (t *target) takeBlobs(from string) error {
	names, err := t.blobs.Names()
	if err != nil {
		return err
	}
	place := t.blobs
	place.Dir = filepath.Join(t.dir, "blob")
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(place.Path(name)), dirMode); err != nil {
			return err
		}
		if err := os.Rename(t.blobs.Path(name), place.Path(name)); err != nil {
			return err
		}
	}
	return nil
}
