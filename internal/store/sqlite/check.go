package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"lathe/internal/store/codec"
	"os"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"lathe"
)

// Injury is one thing that is not as it was stored.
type Injury struct {
	Session lathe.SessionID // empty when it is not of one session
	What    string
	Hint    string // what to do; empty if the usual repair fixes it
}

// maxInjuries is how many are reported individually.
const maxInjuries = 1000

const (
	repairHint = "keep what can be read with: lathe db check --repair"
	filesHint  = "bring the files back from a copy of the data directory, or let notes stand for them with: lathe db check --repair"
)

// Check reads everything that is stored, both the database and the files it refers
// to, and returns what is damaged. It is slow if much is stored. The error is for
// what prevents the check.
func (s *DB) Check(ctx context.Context) ([]Injury, error) {
	c := &checker{s: s.core, blobs: map[string]error{}}
	err := s.read(ctx, func(v *view) error {
		c.v = v
		for _, step := range []func(context.Context) error{c.structure, c.numbers, c.rows, c.named, c.strays} {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if c.more > 0 {
		c.found = append(c.found, Injury{What: fmt.Sprintf("%d injuries more", c.more)})
	}
	return c.found, err
}

// checker looks for injuries in one state of the database.
type checker struct {
	s     *core
	v     *view
	blobs map[string]error // the result for each file that something refers to
	found []Injury
	more  int
}

func (c *checker) add(session lathe.SessionID, hint, format string, args ...any) {
	if len(c.found) >= maxInjuries {
		c.more++
		return
	}
	c.found = append(c.found, Injury{session, fmt.Sprintf(format, args...), hint})
}

// structure asks SQLite about its pages, indices and references.
func (c *checker) structure(context.Context) error {
	err := c.each(`PRAGMA integrity_check(100)`, func(row scanner) error {
		var line string
		if err := row.Scan(&line); err != nil || line == "ok" {
			return err
		}
		c.add("", repairHint, "the database %s is damaged: %s", c.s.path(), strings.ReplaceAll(line, "\n", "; "))
		return nil
	})
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code() == sqlite3.SQLITE_ERROR {
		// The query is always the same, so it must be the search index that fails.
		c.add("", repairHint, "the search index of %s is damaged: %v", c.s.path(), err)
		err = nil
	}
	if err != nil {
		return err
	}
	return c.each(`SELECT "table", count(*) FROM pragma_foreign_key_check GROUP BY 1`, func(row scanner) error {
		var table string
		var n int
		if err := row.Scan(&table, &n); err != nil {
			return err
		}
		c.add("", repairHint, "%d rows of the table %q belong to nothing", n, table)
		return nil
	})
}

// numbers looks for columns that should hold a number but do not.
func (c *checker) numbers(context.Context) error {
	var errs []error
	for _, t := range salvaged {
		if len(t.keys) == 0 {
			continue
		}
		query := `SELECT count(*) FROM ` + t.name + ` WHERE typeof(` + strings.Join(t.keys, `) <> 'integer' OR typeof(`) + `) <> 'integer'`
		errs = append(errs, c.each(query, func(row scanner) error {
			n := 0
			if err := row.Scan(&n); err != nil || n == 0 {
				return err
			}
			c.add("", repairHint, "%d rows of the table %q hold what is no number", n, t.name)
			return nil
		}))
	}
	return errors.Join(errs...)
}

// each runs a query to its end. Damage that ends it is an injury, not an error.
func (c *checker) each(query string, fn func(scanner) error) error {
	rows, err := c.v.query(query)
	if err == nil {
		for rows.Next() && err == nil {
			err = fn(rows)
		}
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*lathe.Error](c.s.explain(err))
	if !ok || !strings.Contains(e.Msg, "is damaged") {
		return err
	}
	if told := fmt.Sprintf("%s: %v", e.Msg, err); !slices.ContainsFunc(c.found, func(i Injury) bool { return i.What == told }) {
		c.add("", repairHint, "%s", told)
	}
	return nil
}

// rows decodes every row, as a reader of the sessions would.
func (c *checker) rows(context.Context) error {
	return errors.Join(
		c.documents("the settings of the session", `SELECT id, id, '', data FROM session`, func(_ string, data []byte) error {
			return c.decoder().Session(data, &lathe.Session{})
		}),
		c.documents("the message", `SELECT s.id, m.id, m.role, m.data FROM message m JOIN session s ON s.n = m.session`,
			func(role string, data []byte) error {
				_, err := c.decoder().Info(role, data)
				return err
			}),
		c.documents("the part", `SELECT s.id, p.id, p.kind, p.data FROM part p JOIN message m ON m.n = p.message JOIN session s ON s.n = m.session`,
			func(kind string, data []byte) error {
				_, err := c.decoder().Part(kind, data)
				return err
			}),
		c.documents("the changes", `SELECT s.id, d.message, '', d.data FROM session_diff d JOIN session s ON s.n = d.session`,
			func(_ string, data []byte) error {
				_, err := c.decoder().Diffs(data)
				return err
			}),
		c.documents("the task list", `SELECT s.id, s.id, '', t.data FROM todo t JOIN session s ON s.n = t.session`,
			func(_ string, data []byte) error {
				_, err := codec.ParseTodos(data)
				return err
			}),
		c.documents("what is kept with the session", `SELECT s.id, v.key, '', v.data FROM session_value v JOIN session s ON s.n = v.session`,
			func(string, []byte) error { return nil }),
		c.documents("the project", `SELECT '', id, '', data FROM project`, func(_ string, data []byte) error { return valid(data) }),
		c.documents("what was spent for the message", `SELECT session, message, '', data FROM spent`,
			func(_ string, data []byte) error { return valid(data) }),
	)
}

func valid(data []byte) error {
	var any json.RawMessage
	return json.Unmarshal(data, &any)
}

// documents checks rows of session, name, kind and document. A damaged file
// that a document refers to is reported once, by [checker.named].
func (c *checker) documents(what, query string, decode func(kind string, data []byte) error) error {
	return c.each(query, func(row scanner) error {
		var session, name, kind string
		var data []byte
		if err := row.Scan(&session, &name, &kind, &data); err != nil {
			c.add(lathe.SessionID(session), repairHint, "%s %q cannot be read: %v", what, name, err)
			return nil
		}
		data, err := codec.Unpack(data)
		if err == nil {
			err = decode(kind, data)
		}
		if err != nil && !errors.Is(err, errBlob) {
			c.add(lathe.SessionID(session), repairHint, "%s %q cannot be read: %v", what, name, err)
		}
		return nil
	})
}

// errBlob says that a file that a document refers to is damaged, not the document itself.
var errBlob = errors.New("a file that is named is damaged")

func (c *checker) decoder() codec.Decoder {
	return codec.Decoder{Load: func(ref codec.Ref) (string, error) {
		if err := ref.Check(); err != nil {
			return "", err
		}
		if _, known := c.blobs[ref.Hash]; !known {
			c.blobs[ref.Hash] = c.s.blobs.Verify(ref)
		}
		if c.blobs[ref.Hash] != nil {
			return "", errBlob
		}
		return "{}", nil // its content is not examined; metadata is JSON
	}}
}

// named checks that the column of each row lists the files that the documents
// refer to, because a sweep relies on it, and reports damaged files.
func (c *checker) named(ctx context.Context) error {
	live, err := c.v.liveBlobs()
	if err != nil {
		return nil // structure has reported it
	}
	var missing, damaged []string
	for h, err := range c.blobs {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, h)
		case err != nil:
			damaged = append(damaged, h)
		case !live[h]:
			c.add("", repairHint, "the text %s is in use and not noted as such", h)
		}
	}
	for h := range live {
		if _, seen := c.blobs[h]; seen || len(h) != sha256.Size*2 {
			continue
		}
		if _, err := os.Stat(c.s.blobs.Path(h)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, h)
		}
	}
	c.files(missing, "are missing")
	c.files(damaged, "are damaged")
	return ctx.Err()
}

func (c *checker) files(hashes []string, are string) {
	if len(hashes) == 0 {
		return
	}
	slices.Sort(hashes)
	c.add("", filesHint, "%d long texts of sessions %s, one is %s", len(hashes), are, c.s.blobs.Path(hashes[0]))
}

// strays looks for long texts that an earlier database must have referred to.
func (c *checker) strays(context.Context) error {
	strays, err := c.v.strays()
	if err != nil || len(strays) == 0 {
		return nil // structure has reported it
	}
	var bytes int64
	for _, f := range strays {
		bytes += f.Size
	}
	c.add("", "bring lathe.db back from a copy or a backup; if nothing is missing, remove them with: lathe db vacuum --strays",
		"%d long texts of %d bytes are older than the database and belong to no session in it: the one that they came from is gone", len(strays), bytes)
	return nil
}

// began returns when the database was made, or zero if it does not say.
func (v *view) began() (time.Time, error) {
	var at string
	if err := v.row(`SELECT coalesce(min(tstamp), '') FROM goose_db_version`).Scan(&at); err != nil {
		return time.Time{}, err
	}
	for _, form := range []string{time.DateTime, time.RFC3339} {
		if t, err := time.Parse(form, at); err == nil {
			return t, nil
		}
	}
	return time.Time{}, nil
}
