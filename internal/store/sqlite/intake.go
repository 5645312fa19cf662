package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// intake puts rows into the database that a repair makes. Rows whose session or
// message is lost get a substitute.
type intake struct {
	r        *repair
	tx       *tx
	homeless map[string]map[int64][]columns // by table, and by their missing parent
}

// take stores a row, unless its parent is missing. If its name is taken, the row
// is damaged.
func (in *intake) take(table string, row columns) error {
	for _, owner := range []string{"session", "message"} {
		n, ok := row.int(owner)
		if !ok || owner == table {
			continue
		}
		var one int
		err := in.tx.row(`SELECT 1 FROM `+owner+` WHERE n = ?`, n).Scan(&one)
		switch later := in.homeless[table]; {
		case err == nil:
			continue
		case !errors.Is(err, sql.ErrNoRows):
			return err
		case later == nil:
			in.r.out.Lost[table]++
		default:
			later[n] = append(later[n], row)
		}
		return nil
	}
	return in.insert(table, row)
}

// columns notes what the columns of a table are called.
func (in *intake) columns(table string) error {
	rows, err := in.tx.query(`SELECT name FROM pragma_table_info(?) ORDER BY cid`, table)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		in.r.names[table] = append(in.r.names[table], name)
	}
	return rows.Err()
}

func (in *intake) insert(table string, row columns) error {
	names := slices.Sorted(maps.Keys(row))
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = row[name]
	}
	res, err := in.tx.exec(`INSERT OR IGNORE INTO `+table+` ("`+strings.Join(names, `", "`)+`") VALUES (?`+
		strings.Repeat(", ?", len(names)-1)+`)`, values...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		in.r.out.Lost[table]++
		return err
	}
	in.r.out.Kept[table]++
	return nil
}

// house makes the missing parents of a table's rows, and stores the rows.
func (in *intake) house(table string) error {
	for _, n := range slices.Sorted(maps.Keys(in.homeless[table])) {
		rows := in.homeless[table][n]
		var err error
		if table == "message" {
			err = in.makeSession(n, rows)
		} else {
			err = in.makeMessage(n, rows)
		}
		for _, row := range rows {
			if err == nil {
				err = in.insert(table, row)
			}
		}
		if err != nil {
			return err
		}
	}
	delete(in.homeless, table)
	return nil
}

// makeSession makes a session for messages that lost theirs, in the directory
// where they were written, as far as they say.
func (in *intake) makeSession(n int64, messages []columns) error {
	ses := lathe.Session{ProjectID: "global", Directory: "/", Title: "Recovered session", Created: in.r.old.now(), Updated: in.r.old.now()}
	ses.ID = lathe.NewIDs(in.r.old.now, nil).Session()
	if in.r.one != nil { // the index may know its name
		_ = in.r.one.QueryRowContext(in.tx.ctx, `SELECT id FROM session INDEXED BY sqlite_autoindex_session_1 WHERE +n = ?`, n).Scan(&ses.ID)
	}
	for _, row := range messages {
		created, _ := row.int("created")
		if when := codec.At(created); when.Before(ses.Created) {
			ses.Created = when
		}
		data, _ := row.document()
		info, _ := (codec.Decoder{Load: func(codec.Ref) (string, error) { return "", nil }}).Info(row.text("role"), data)
		if a, ok := info.(*lathe.Assistant); ok && a.Cwd != "" {
			ses.Directory = a.Cwd
			_ = in.tx.row(`SELECT id FROM project WHERE worktree = ?`, a.Root).Scan(&ses.ProjectID)
		}
	}
	err := in.tx.CreateSession(ses)
	if errors.Is(err, store.ErrExists) {
		ses.ID = lathe.NewIDs(in.r.old.now, nil).Session()
		err = in.tx.CreateSession(ses)
	}
	if err != nil {
		return err
	}
	in.r.out.Made++
	return in.tx.change(`UPDATE session SET n = ? WHERE id = ?`, n, ses.ID)
}

// assistantKinds are kinds of parts that only an answer has.
var assistantKinds = map[string]bool{
	codec.KindTool: true, codec.KindReasoning: true, codec.KindStepStart: true, codec.KindStepFinish: true, codec.KindPatch: true, codec.KindSnapshot: true, codec.KindRetry: true,
}

// makeMessage makes a message for parts that lost theirs, placed after the
// message that was stored before it.
func (in *intake) makeMessage(n int64, parts []columns) error {
	var session, near, seq, created int64
	var before string
	err := in.tx.row(`SELECT session, n, seq, created, id FROM message ORDER BY n > ?, abs(n - ?) LIMIT 1`, n, n).
		Scan(&session, &near, &seq, &created, &before)
	if errors.Is(err, sql.ErrNoRows) { // no message is left at all
		if err = in.makeSession(n, nil); err == nil {
			session, created, before = n, codec.Millis(in.r.old.now()), string(lathe.NewIDs(in.r.old.now, nil).Message())
		}
	}
	if err != nil {
		return err
	}
	role := codec.RoleUser
	if slices.ContainsFunc(parts, func(p columns) bool { return assistantKinds[p.text("kind")] }) {
		role = codec.RoleAssistant
	}
	var e codec.Encoder
	_, data, err := e.Info(codec.StandInInfo(&lathe.Message{Created: codec.At(created)}, role))
	if err != nil {
		return err
	}
	in.r.out.Made++
	id, seq := beyond(before, n), seq+n-near
	if known, at, in, ok := in.indexed(n); ok {
		id, seq, session = known, at, in
	}
	const add = `INSERT INTO message (n, id, session, seq, role, created, open, summary, parts, data) VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?)`
	_, err = in.tx.exec(add, n, id, session, seq, role, created, string(data))
	if isUnique(err) { // another one has that place
		_, err = in.tx.exec(`INSERT INTO message (n, id, session, seq, role, created, open, summary, parts, data)
			SELECT ?, ?, ?, max(seq) + 1, ?, ?, 0, 0, 0, ? FROM message WHERE session = ?`, n, id, session, role, created, string(data), session)
	}
	return err
}

// indexed returns what the indices know about a message whose row is lost, if
// its session exists.
func (in *intake) indexed(n int64) (id string, seq, session int64, ok bool) {
	if in.r.one == nil {
		return "", 0, 0, false
	}
	old := func(query string, dest ...any) error {
		return in.r.one.QueryRowContext(in.tx.ctx, query, n).Scan(dest...)
	}
	err := errors.Join(
		old(`SELECT session, seq FROM message INDEXED BY sqlite_autoindex_message_1 WHERE +n = ?`, &session, &seq),
		old(`SELECT id FROM message INDEXED BY sqlite_autoindex_message_2 WHERE +n = ?`, &id),
		in.tx.row(`SELECT n FROM session WHERE n = ?`, session).Scan(&session),
	)
	return id, seq, session, err == nil
}

// beyond returns an identifier that sorts after another of the same moment.
func beyond(id string, n int64) string {
	const own = 8
	return id[:max(len(id)-own, min(len(id), len("msg_")))] + fmt.Sprintf("zz%06d", n%1_000_000)
}

// settle corrects the counters, and gives the database its old age.
func (in *intake) settle(ctx context.Context) error {
	for _, q := range []string{
		`UPDATE session SET messages = max(messages, (SELECT coalesce(max(m.seq), 0) FROM message m WHERE m.session = session.n))`,
		`UPDATE message SET parts = max(parts, (SELECT coalesce(max(p.seq), 0) FROM part p WHERE p.message = message.n))`,
	} {
		if _, err := in.tx.exec(q); err != nil {
			return err
		}
	}
	began := ""
	if in.r.one != nil {
		_ = in.r.one.QueryRowContext(ctx, `SELECT min(tstamp) FROM goose_db_version`).Scan(&began)
	}
	if began == "" {
		began = "1970-01-01 00:00:00"
	}
	_, err := in.tx.exec(`UPDATE goose_db_version SET tstamp = ?`, began)
	return err
}
