package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"lathe/internal/store/codec"
	"maps"
	"slices"
	"strings"

	"lathe"
)

// maxProbes bounds how often a table is read piece by piece around damage.
const maxProbes = 1 << 20

// columns are the values of a row by name. Their types are those of the database.
type columns map[string]any

func (c columns) int(name string) (int64, bool) {
	n, ok := c[name].(int64)
	return n, ok
}

func (c columns) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// document returns what a row says, unpacked.
func (c columns) document() ([]byte, error) {
	switch data := c["data"].(type) {
	case string:
		return codec.Unpack([]byte(data))
	case []byte:
		return codec.Unpack(data)
	}
	return nil, errors.New("it is of another type")
}

// A mender repairs a row, or says why it cannot be kept.
type mender func(r *repair, row columns) error

// salvaged are the tables with people's data, parents before children. The next
// search rebuilds the search index, and leases are void.
var salvaged = []struct {
	name string
	mend mender
	keys []string // columns that must hold a number
}{
	{"project", (*repair).mendProject, nil},
	{"session", (*repair).mendSession, []string{"n", "messages", "created", "updated", "archived"}},
	{"message", (*repair).mendMessage, []string{"n", "session", "seq", "created", "open", "summary", "parts"}},
	{"part", (*repair).mendPart, []string{"n", "message", "seq", "open", "rev", "size"}},
	{"boundary", nil, []string{"message", "session", "seq"}},
	{"todo", (*repair).mendJSON, []string{"session"}},
	{"session_value", (*repair).mendValue, []string{"session"}},
	{"session_diff", (*repair).mendDiffs, []string{"session"}},
	{"approval", nil, []string{"n", "created"}},
	{"spent", (*repair).mendJSON, []string{"created"}},
}

// salvage copies every row that can be read into the new database.
func (r *repair) salvage(ctx context.Context) error {
	r.out.Kept, r.out.Lost = map[string]int{}, map[string]int{}
	return r.new.batch(ctx, func(tx *tx) error {
		in := &intake{r: r, tx: tx, homeless: map[string]map[int64][]columns{"message": {}, "part": {}}}
		for _, t := range salvaged {
			if err := in.columns(t.name); err != nil {
				return err
			}
			seen := map[int64]bool{}
			take := func(row columns) error {
				if n, ok := row.int("n"); ok {
					if seen[n] {
						return nil
					}
					seen[n] = true
				}
				for _, k := range t.keys {
					if _, ok := row.int(k); !ok {
						r.out.Lost[t.name]++
						return nil
					}
				}
				if t.mend != nil && t.mend(r, row) != nil {
					r.out.Lost[t.name]++
					return nil
				}
				return in.take(t.name, row)
			}
			err := r.table(ctx, t.name, take)
			if err == nil {
				err = in.house(t.name)
			}
			if err != nil {
				return fmt.Errorf("keep the rows of %q: %w", t.name, err)
			}
		}
		return in.settle(ctx)
	})
}

// table calls fn with every row that can be read. If SQLite does not reach all of
// them, it scans their pages; some rows are then passed twice.
func (r *repair) table(ctx context.Context, name string, fn func(columns) error) error {
	if r.one == nil {
		return r.raw.rows(name, fn)
	}
	r.gaps = 0
	err := r.reach(ctx, name, fn)
	lost, kept := r.out.Lost[name], r.out.Kept[name]
	if err == nil && r.gaps > 0 {
		err = r.raw.rows(name, fn)
		r.out.Lost[name] = lost + max(r.gaps-(r.out.Kept[name]-kept), 0)
	}
	return err
}

// reach calls fn with every row that SQLite reaches.
func (r *repair) reach(ctx context.Context, name string, fn func(columns) error) error {
	var last, given sql.NullInt64
	err := r.one.QueryRowContext(ctx, `SELECT max(rowid) FROM `+name).Scan(&last)
	// The row counter is on a page of its own. The newest page may hold row
	// numbers lower than those before it.
	_ = r.one.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = ?`, name).Scan(&given)
	probes := 0
	switch {
	case err == nil:
		return r.span(ctx, name, 0, max(last.Int64, given.Int64), &probes, fn)
	case strings.Contains(err.Error(), "no such table"):
		return nil // of an older schema
	case strings.Contains(err.Error(), "no such column"): // it has no numbers of rows
		return r.ends(ctx, name, fn)
	case !unreadable(err):
		return err
	}
	return r.span(ctx, name, 0, cmp.Or(given.Int64, maxProbes), &probes, fn)
}

// span reads the rows numbered lo to hi, and avoids damage by halving the
// range.
func (r *repair) span(ctx context.Context, name string, lo, hi int64, probes *int, fn func(columns) error) error {
	next, err := r.read(ctx, name, `SELECT rowid AS "row number", * FROM `+name+` WHERE rowid BETWEEN ? AND ? ORDER BY rowid`, lo, hi, fn)
	lo = max(lo, next)
	switch *probes++; {
	case err == nil || lo > hi:
		return nil
	case !unreadable(err):
		return err
	case lo == hi || *probes > maxProbes:
		r.gaps += int(hi - lo + 1)
		return nil
	}
	mid := lo + (hi-lo)/2
	if err := r.span(ctx, name, lo, mid, probes, fn); err != nil {
		return err
	}
	return r.span(ctx, name, mid+1, hi, probes, fn)
}

// ends reads a table without row numbers from both ends up to the damage. Rows
// found twice are kept once.
func (r *repair) ends(ctx context.Context, name string, fn func(columns) error) error {
	const all = ` WHERE ? <= ?`
	_, err := r.read(ctx, name, `SELECT * FROM `+name+all, 0, 0, fn)
	if err == nil || !unreadable(err) {
		return err
	}
	r.gaps++
	keys := map[string]string{"project": "id DESC", "spent": "message DESC, session DESC"}
	if _, err = r.read(ctx, name, `SELECT * FROM `+name+all+` ORDER BY `+keys[name], 0, 0, fn); unreadable(err) {
		return nil
	}
	return err
}

// read runs a query for all columns of a table and returns the number after the
// last row read. Columns are named as in this version, because the names in the
// file may be damaged too.
func (r *repair) read(ctx context.Context, table, query string, lo, hi int64, fn func(columns) error) (next int64, err error) {
	rows, err := r.one.QueryContext(ctx, query, lo, hi)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	now := r.names[table]
	if first := len(names) - min(len(now), len(names)); first <= 1 {
		names = append(names[:first:first], now[:len(names)-first]...)
	}
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range names {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return next, err
		}
		row := columns{}
		for i, name := range names {
			row[name] = values[i]
		}
		if n, ok := row.int("row number"); ok {
			next = n + 1
			delete(row, "row number")
		}
		if err := fn(row); err != nil {
			return next, err
		}
	}
	return next, rows.Err()
}

// decoder reads the content of rows, and collects the files they refer to.
func (r *repair) decoder(names *[]string) codec.Decoder {
	return codec.Decoder{Damage: &codec.Damage{}, Load: func(ref codec.Ref) (string, error) {
		text, err := r.old.blobs.Load(ref)
		if err == nil && codec.Hash(text) != ref.Hash {
			err = fmt.Errorf("blob %s has another content", ref.Hash)
		}
		if err == nil {
			*names = append(*names, ref.Hash)
		} else if !codec.Passing(err) && ref.Check() == nil {
			r.bad[ref.Hash] = err
		}
		return text, err
	}}
}

// keep stores what a document refers to, or its replacement document.
func (r *repair) keep(row columns, names []string, instead func(*codec.Encoder) ([]byte, error)) error {
	row["blobs"] = nil
	if instead != nil {
		r.out.Noted++
		var e codec.Encoder
		data, err := instead(&e)
		if err != nil {
			return err
		}
		if _, err := r.old.saveBlobs(e.Blobs); err != nil {
			return err
		}
		row["data"], names = r.old.packer.Pack(data), slices.Collect(maps.Keys(e.Blobs))
	}
	if len(names) > 0 {
		slices.Sort(names)
		row["blobs"] = strings.Join(slices.Compact(names), " ")
	}
	return nil
}

func (r *repair) mendSession(row columns) error {
	var names []string
	var ses lathe.Session
	d := r.decoder(&names)
	data, err := row.document()
	if err == nil {
		err = d.Session(data, &ses)
	}
	if row.text("id") == "" {
		return errors.New("it has no name")
	}
	if err == nil && d.Damage.Why == nil {
		return r.keep(row, names, nil)
	}
	return r.keep(row, nil, func(e *codec.Encoder) ([]byte, error) { return e.Session(&ses) })
}

func (r *repair) mendMessage(row columns) error {
	var names []string
	d := r.decoder(&names)
	created, _ := row.int("created")
	role := row.text("role")
	m := lathe.Message{Created: codec.At(created)}
	data, err := row.document()
	if err == nil {
		m.Info, err = d.Info(role, data)
	}
	switch {
	case row.text("id") == "":
		return errors.New("it has no name")
	case err == nil && d.Damage.Why == nil:
		return r.keep(row, names, nil)
	case err != nil:
		if m.Info = codec.StandInInfo(&m, role); m.Info == nil {
			return err
		}
		row["open"] = int64(0)
	}
	return r.keep(row, nil, func(e *codec.Encoder) ([]byte, error) {
		_, data, err := e.Info(m.Info)
		return data, err
	})
}

func (r *repair) mendPart(row columns) error {
	var names []string
	var body lathe.PartBody
	d := r.decoder(&names)
	kind := row.text("kind")
	data, err := row.document()
	if err == nil {
		body, err = d.Part(kind, data)
	}
	switch {
	case row.text("id") == "":
		return errors.New("it has no name")
	case err == nil && d.Damage.Why == nil:
		return r.keep(row, names, nil)
	case err != nil:
		body = nil
		d.Damage.Add(err)
	}
	row["open"] = int64(0)
	return r.keep(row, nil, func(e *codec.Encoder) ([]byte, error) {
		kind, data, err := e.Part(codec.StandIn(kind, body, d.Damage.Why))
		row["kind"] = kind
		return data, err
	})
}

func (r *repair) mendDiffs(row columns) error {
	var names []string
	d := r.decoder(&names)
	data, err := row.document()
	if err != nil {
		return err
	}
	diffs, err := d.Diffs(data)
	if err != nil || d.Damage.Why == nil {
		return errors.Join(err, r.keep(row, names, nil))
	}
	return r.keep(row, nil, func(e *codec.Encoder) ([]byte, error) { return e.Diffs(diffs) })
}

func (r *repair) mendProject(row columns) error {
	if data, ok := row["data"]; ok {
		if s, _ := data.(string); !json.Valid([]byte(s)) {
			row["data"] = "{}"
			r.out.Noted++
		}
	}
	return nil
}

func (r *repair) mendJSON(row columns) error {
	data, err := row.document()
	if err == nil {
		err = valid(data)
	}
	return err
}

func (r *repair) mendValue(row columns) error {
	_, err := row.document()
	return err
}
