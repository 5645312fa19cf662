package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// carrier is a [store.Carrier].
type carrier struct{ *DB }

// Filling is a [store.Target].
type Filling struct {
	carrier
	resumed bool // an earlier move left what is there
}

// Carrier returns the database as one whose rows are carried elsewhere.
func (d *DB) Carrier() store.Carrier { return carrier{d} }

// unfinished is a table that is there as long as a move to this database has not ended. A
// server does not serve what is half there.
const unfinished = "move_unfinished"

// OpenTarget opens a database that a move fills. source names what it is filled from. The
// database has to be empty, or what an earlier move from there left.
func OpenTarget(ctx context.Context, o Options, source string) (*Filling, error) {
	o.filling = true
	db, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &Filling{carrier: carrier{db}}
	if err := c.begin(ctx, source); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return c, nil
}

func (c *Filling) begin(ctx context.Context, source string) error {
	return c.attempt(ctx, func(tx *tx) error {
		if _, err := tx.exec(lockSchema); err != nil {
			return err
		}
		there, err := tx.isUnfinished()
		if err != nil {
			return err
		}
		if there {
			var of string
			if err := tx.row(`SELECT source FROM ` + unfinished).Scan(&of); err != nil {
				return err
			}
			if of != source {
				return lathe.Errorf(lathe.CodeInvalid, "go on with that move, or name another database", "the database %s has an unfinished move from %s", tx.db.where, of)
			}
			c.resumed = true
			return nil
		}
		for _, t := range store.Carried() {
			var some bool
			if err := tx.row(`SELECT EXISTS (SELECT 1 FROM ` + t.Name + `)`).Scan(&some); err != nil {
				return err
			}
			if some {
				return lathe.Errorf(lathe.CodeInvalid, "name a new one: createdb", "the database %s is not empty (%s)", tx.db.where, t.Name)
			}
		}
		if _, err := tx.exec(`CREATE TABLE ` + unfinished + ` (source TEXT NOT NULL)`); err != nil {
			return err
		}
		_, err = tx.exec(`INSERT INTO `+unfinished+` VALUES ($1)`, clean(source))
		return err
	})
}

func (v *view) isUnfinished() (there bool, err error) {
	return there, v.row(`SELECT to_regclass(quote_ident(current_schema()) || '.` + unfinished + `') IS NOT NULL`).Scan(&there)
}

// served refuses a database that a move has filled in part.
func (c *core) served(ctx context.Context) error {
	return c.read(ctx, func(v *view) error {
		there, err := v.isUnfinished()
		if err != nil || !there {
			return err
		}
		var of string
		if err := v.row(`SELECT source FROM ` + unfinished).Scan(&of); err != nil {
			return err
		}
		return lathe.Errorf(lathe.CodeBusy, "go on with it: lathe db move", "the database %s has only a part of the sessions: a move from %s has not ended", c.where, of)
	})
}

// columns returns the columns as they are selected, by which text is in the order of its
// bytes.
func columns(names []string, t store.Table) string {
	var out []string
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == name })
		if t.Columns[i].Kind == store.TextColumn {
			name += ` COLLATE "C"`
		}
		out = append(out, name)
	}
	return strings.Join(out, ", ")
}

func columnNames(t store.Table) (names []string) {
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return names
}

// Rows implements [store.Carrier].
func (c carrier) Rows(ctx context.Context, t store.Table, after []any, limit int) (out []store.Row, err error) {
	key, where, args := columns(t.Key, t), "", []any{limit}
	if after != nil {
		var marks []string
		for i, v := range after {
			marks = append(marks, fmt.Sprintf("$%d", i+2))
			args = append(args, v)
		}
		where = ` WHERE (` + key + `) > (` + strings.Join(marks, ", ") + `)`
	}
	err = c.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT `+strings.Join(columnNames(t), ", ")+` FROM `+t.Name+where+` ORDER BY `+key+` LIMIT $1`, args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (store.Row, error) { return scanRow(row, t) })
		return err
	})
	return out, err
}

func scanRow(row pgx.Row, t store.Table) (out store.Row, err error) {
	dest := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		switch c.Kind {
		case store.TextColumn:
			dest[i] = new(string)
		case store.NumberColumn:
			dest[i] = new(int64)
		case store.FlagColumn:
			dest[i] = new(bool)
		case store.BlobsColumn:
			dest[i] = new([]string)
		default:
			dest[i] = new([]byte)
		}
	}
	if err := row.Scan(dest...); err != nil {
		return nil, err
	}
	for i, c := range t.Columns {
		var v any
		switch d := dest[i].(type) {
		case *string:
			v = *d
		case *int64:
			v = *d
		case *bool:
			v = *d
		case *[]string:
			v = *d
		case *[]byte:
			data := *d
			if c.Kind == store.DocColumn {
				data, err = codec.Unpack(data)
			} else {
				data, err = inflate(data)
			}
			v = data
		}
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Count implements [store.Carrier].
func (c carrier) Count(ctx context.Context, t store.Table) (n int64, err error) {
	return n, c.read(ctx, func(v *view) error { return v.row(`SELECT count(*) FROM ` + t.Name).Scan(&n) })
}

// Last implements [store.Target].
func (c *Filling) Last(ctx context.Context, t store.Table) (key []any, err error) {
	var order []string
	for _, k := range t.Key {
		order = append(order, columns([]string{k}, t)+" DESC")
	}
	err = c.read(ctx, func(v *view) error {
		rows, err := v.query(`SELECT ` + strings.Join(t.Key, ", ") + ` FROM ` + t.Name + ` ORDER BY ` + strings.Join(order, ", ") + ` LIMIT 1`)
		if err != nil {
			return err
		}
		key, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		return err
	})
	return key, err
}

// Put implements [store.Carrier].
func (c carrier) Put(ctx context.Context, t store.Table, rows []store.Row) error {
	names := columnNames(t)
	message := t.Name == "message"
	if message { // of this store alone: when an answer ended
		names = append(names, "completed")
	}
	marks := make([]string, len(names))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	add := `INSERT INTO ` + t.Name + ` (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(marks, ", ") + `)`
	return c.attempt(ctx, func(tx *tx) error {
		for _, r := range rows {
			args := tx.carried(t, r)
			if !message {
				tx.later("", add, args...)
				continue
			}
			tx.later("", add, append(args, completed(t, r))...)
			tx.later("", `INSERT INTO search_later (session, seq) SELECT session, seq FROM message WHERE n = $1 ON CONFLICT DO NOTHING`, r[0])
		}
		return nil
	})
}

// carried returns a row as it is stored here.
func (tx *tx) carried(t store.Table, r store.Row) []any {
	args := make([]any, len(r))
	for i, c := range t.Columns {
		args[i] = r[i]
		switch v := r[i].(type) {
		case string:
			args[i] = clean(v)
		case []string:
			if len(v) == 0 {
				args[i] = nil
			}
		case []byte:
			if c.Kind == store.DocColumn {
				args[i] = tx.db.pack(v)
			} else {
				args[i] = zip(string(v))
			}
		}
	}
	return args
}

// completed returns when the answer ended that a row holds, 0 for other messages.
func completed(t store.Table, r store.Row) int64 {
	var doc struct{ Completed int64 }
	i := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Kind == store.DocColumn })
	role := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == "role" })
	if r[role] == codec.RoleAssistant && json.Unmarshal(r[i].([]byte), &doc) == nil {
		return doc.Completed
	}
	return 0
}

// Clear implements [store.Target].
func (c *Filling) Clear(ctx context.Context) error {
	names := []string{"unclosed", "piece", "search"} // follow messages and parts, but not when all of them go at once
	for _, t := range store.Carried() {
		names = append(names, t.Name)
	}
	return c.attempt(ctx, func(tx *tx) error {
		_, err := tx.exec(`TRUNCATE ` + strings.Join(names, ", ") + ` CASCADE`)
		return err
	})
}

// Finish implements [store.Target].
func (c *Filling) Finish(ctx context.Context) error {
	return c.attempt(ctx, func(tx *tx) error {
		for _, t := range store.Carried() {
			if !t.Numbers {
				continue
			}
			if _, err := tx.exec(`SELECT setval(pg_get_serial_sequence('` + t.Name + `', 'n'), coalesce((SELECT max(n) FROM ` + t.Name + `), 0) + 1, false)`); err != nil {
				return err
			}
		}
		_, err := tx.exec(`DROP TABLE ` + unfinished)
		return err
	})
}

// Living returns the names of servers that hold sessions now.
func (d *DB) Living(ctx context.Context) (names []string, err error) {
	rows, err := d.pool.Query(ctx, `SELECT name FROM owner WHERE expires > clock_timestamp() ORDER BY name`)
	if err == nil {
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	return names, d.explain(err)
}
