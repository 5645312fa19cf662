package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/words"
)

// Words are split here and handed to the database as a vector, so that every server
// finds the same whatever its locale, dictionaries and extensions are. Trigrams
// (pg_trgm) would not find two characters of Chinese.

const (
	// searchBatch is the number of messages indexed in one transaction, unless their
	// texts exceed searchBytes.
	searchBatch = 500
	searchBytes = 1 << 20
	// maxRanked is the number of hits above which the newest come first: ranking
	// then takes long and means little.
	maxRanked = 5000
	// What a vector of PostgreSQL can hold.
	maxWord     = 500
	maxPosition = 16383
	maxTimes    = 255
	maxVector   = 900_000
)

// searcher is a [store.Searcher].
type searcher struct{ *core }

// Index implements [store.Searcher]. Several servers may do it at once.
func (s searcher) Index(ctx context.Context) (total int, err error) {
	for {
		n := 0
		err := s.attempt(ctx, func(tx *tx) (err error) {
			if n, err = (indexing{tx}).index(); err != nil || n > 0 {
				return err
			}
			n, err = indexing{tx}.sessions()
			return err
		})
		if total += n; err == nil && n == 0 {
			err = s.attempt(ctx, func(tx *tx) error { return indexing{tx}.done() })
		}
		if err != nil {
			return total, fmt.Errorf("index messages: %w", err)
		}
		if n == 0 {
			return total, nil
		}
	}
}

// Unindexed implements [store.Searcher].
func (s searcher) Unindexed(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.row(`SELECT count(*) FROM (SELECT message FROM search_todo
			UNION SELECT m.n FROM search_later l JOIN message m ON m.session = l.session AND m.seq >= l.seq) todo`).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return n, nil
}

// indexing takes messages into the index. It holds each message, and passes over those that
// somebody is removing: who removes one waits for what is noted about it here, so nothing here
// may wait for them.
type indexing struct{ *tx }

func (tx indexing) index() (done int, err error) {
	var todo []int64
	err = tx.rows(func(row pgx.Row) error {
		var n int64
		err := row.Scan(&n)
		todo = append(todo, n)
		return err
	}, `SELECT t.message FROM search_todo t JOIN message m ON m.n = t.message WHERE NOT m.open
		ORDER BY t.message LIMIT $1 FOR UPDATE OF t SKIP LOCKED FOR KEY SHARE OF m SKIP LOCKED`, searchBatch)
	size := 0
	for _, n := range todo {
		if err != nil || size > searchBytes {
			return done, err
		}
		var added int
		added, err = tx.message(n)
		size, done = size+added, done+1
	}
	return done, err
}

// unlooked is the condition that a message m has to be indexed for its session.
const unlooked = `m.session = l.session AND m.seq >= l.seq`

// sessions takes the messages of sessions into the index, each session up to what is open.
func (tx indexing) sessions() (done int, err error) {
	var todo []behind
	err = tx.rows(func(row pgx.Row) error {
		var b behind
		err := row.Scan(&b.session, &b.seq)
		todo = append(todo, b)
		return err
	}, `SELECT l.session, l.seq FROM search_later l WHERE (SELECT NOT m.open FROM message m WHERE `+unlooked+` ORDER BY m.seq LIMIT 1)
		ORDER BY l.session LIMIT 20 FOR UPDATE SKIP LOCKED`)
	for i, size := 0, 0; err == nil && i < len(todo) && done < searchBatch && size <= searchBytes; i++ {
		var n, added int
		n, added, err = tx.session(&todo[i])
		done, size = done+n, size+added
	}
	if err != nil {
		return done, err
	}
	sessions := make([]int64, len(todo))
	for i, b := range todo {
		sessions[i] = b.session
	}
	if sessions, err = tx.alone(`n = ANY($1)`, sessions); err != nil {
		return done, err
	}
	// At the very end: who adds a message waits for a row that was changed.
	for _, b := range todo {
		tx.later("", `UPDATE search_later SET seq = $2 WHERE session = $1 AND seq < $2`, b.session, b.seq)
	}
	tx.forget(sessions)
	return done, nil
}

// behind is a session of which messages are not indexed, from a sequence number on.
type behind struct{ session, seq int64 }

// session indexes messages of a session and moves it on. It ends before one that is open or
// that somebody is removing.
func (tx indexing) session(b *behind) (done, size int, err error) {
	type next struct {
		n, seq int64
		open   bool
	}
	var todo []next
	err = tx.rows(func(row pgx.Row) error {
		var m next
		err := row.Scan(&m.n, &m.seq, &m.open)
		todo = append(todo, m)
		return err
	}, `SELECT n, seq, open FROM message WHERE session = $1 AND seq >= $2 ORDER BY seq LIMIT $3`, b.session, b.seq, searchBatch)
	for _, m := range todo {
		if err != nil || m.open || size > searchBytes {
			break
		}
		var held int64
		if held, err = tx.exec(`SELECT 1 FROM message WHERE n = $1 AND NOT open FOR KEY SHARE SKIP LOCKED`, m.n); err != nil || held == 0 {
			break
		}
		var added int
		added, err = tx.message(m.n)
		size, done, b.seq = size+added, done+1, m.seq+1
	}
	return done, size, err
}

// indexed is the condition that everything of a session is.
const indexed = `NOT EXISTS (SELECT 1 FROM message m WHERE ` + unlooked + `)`

// done forgets sessions that were left because somebody had them.
func (tx indexing) done() error {
	sessions, err := tx.alone(`n IN (SELECT l.session FROM search_later l WHERE `+indexed+` LIMIT $1)`, searchBatch)
	if err == nil {
		tx.forget(sessions)
	}
	return err
}

// alone takes those of the sessions that nobody else has: who adds a message has its session,
// so that none is added to them.
func (tx indexing) alone(which string, arg any) (sessions []int64, err error) {
	err = tx.rows(func(row pgx.Row) error {
		var n int64
		err := row.Scan(&n)
		sessions = append(sessions, n)
		return err
	}, `SELECT n FROM session WHERE `+which+` ORDER BY n FOR NO KEY UPDATE SKIP LOCKED`, arg)
	return sessions, err
}

// forget removes those of which everything is indexed from what is to be done.
func (tx indexing) forget(sessions []int64) {
	if len(sessions) > 0 {
		tx.later("", `DELETE FROM search_later l WHERE l.session = ANY($1) AND `+indexed, sessions)
	}
}

// message indexes one, and returns how much text it has.
func (tx indexing) message(n int64) (size int, err error) {
	parts, err := tx.readParts([]int64{n}, ` AND NOT open`)
	if err != nil {
		return 0, err
	}
	var docs []document
	for i := range parts {
		docs = append(docs, parts[i].document)
	}
	bodies, err := tx.bodies(docs)
	if err != nil {
		return 0, err
	}
	for i := range parts {
		p, err := tx.decodePart(&parts[i], bodies, "", "")
		if err != nil {
			tx.db.log.Warn("a part cannot be searched", "part", string(parts[i].id), "err", err)
			continue
		}
		text := words.Head(words.Of(p.Body))
		if text == "" {
			continue
		}
		size += len(text)
		// One that was removed in the meantime is not there any more, or is waited for.
		if _, err := tx.exec(`INSERT INTO search (part, message, words) SELECT n, message, $2::text::tsvector FROM part WHERE id = $1 FOR KEY SHARE
			ON CONFLICT (part) DO UPDATE SET message = excluded.message, words = excluded.words`, parts[i].id, vector(text)); err != nil {
			return 0, err
		}
	}
	_, err = tx.exec(`DELETE FROM search_todo WHERE message = $1`, n)
	return size, err
}

// split returns the words of a text: runs of letters and digits without case and
// diacritics, and pairs of characters where a script has no spaces.
func split(text string) []string {
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(strings.ToValidUTF8(words.Pairs(text), " ")))
	return strings.FieldsFunc(norm.NFC.String(plain), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// vector writes the words of a text, with where they stand, as PostgreSQL reads it.
func vector(text string) string {
	at := map[string][]int{}
	room := maxVector
	for i, w := range split(text) {
		if len(w) > maxWord || len(at[w]) >= maxTimes {
			continue
		}
		if len(at[w]) == 0 {
			room -= len(w) + 8
		}
		if room -= 2; room < 0 {
			break
		}
		at[w] = append(at[w], min(i+1, maxPosition))
	}
	var b strings.Builder
	for w, places := range at {
		b.WriteString("'" + w + "'")
		for i, p := range places {
			b.WriteByte(":,"[min(i, 1)])
			b.WriteString(strconv.Itoa(p))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// matchExpr turns what a person typed into a query of PostgreSQL; see [words.Query].
func matchExpr(query string) string { return strings.Join(words.Query(query, term), " & ") }

func term(text string, prefix bool) string {
	found := split(text)
	if len(found) == 0 {
		return ""
	}
	for i := range found {
		found[i] = "'" + strings.ToValidUTF8(found[i][:min(len(found[i]), maxWord)], "") + "'"
	}
	if prefix {
		found[len(found)-1] += ":*"
	}
	return "(" + strings.Join(found, " <-> ") + ")"
}

// Search implements [store.Searcher].
func (s searcher) Search(ctx context.Context, query string, f store.SearchFilter) (hits []store.Hit, err error) {
	expr := matchExpr(strings.ToValidUTF8(query, " "))
	if expr == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "there is no word to search for in %q", query)
	}
	if f.Limit <= 0 {
		f.Limit = 20
	}
	err = s.read(ctx, func(v *view) error {
		hits, err = v.search(expr, query, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search for %q: %w", query, err)
	}
	return hits, nil
}

// found is a part that a search found, before its text is read.
type found struct {
	hit           store.Hit
	part, message int64
}

func (v *view) search(expr, query string, f store.SearchFilter) ([]store.Hit, error) {
	all, err := v.matches(expr, f)
	if err != nil {
		return nil, err
	}
	var hits []store.Hit
	for _, h := range all {
		err := v.complete(&h, query)
		if errors.Is(err, pgx.ErrNoRows) { // a program of the version before indexed it while it was removed
			continue
		}
		if err != nil {
			return nil, err
		}
		hits = append(hits, h.hit)
	}
	return hits, nil
}

func (v *view) matches(expr string, f store.SearchFilter) (all []found, err error) {
	var many int
	err = v.row(`SELECT count(*) FROM (SELECT 1 FROM search WHERE words @@ $1::text::tsquery LIMIT $2) AS hits`, expr, maxRanked+1).Scan(&many)
	if err != nil {
		return nil, err
	}
	order := `ts_rank(x.words, $1::text::tsquery) DESC, x.part DESC`
	if many > maxRanked {
		order = `x.part DESC`
	}
	err = v.rows(func(row pgx.Row) error {
		var h found
		err := row.Scan(&h.hit.Session.ID, &h.hit.Message, &h.hit.Role, &h.part, &h.message)
		all = append(all, h)
		return err
	}, `SELECT s.id, m.id, m.role, x.part, m.n FROM search x
		JOIN message m ON m.n = coalesce(x.message, (SELECT p.message FROM part p WHERE p.n = x.part)) JOIN session s ON s.n = m.session
		WHERE x.words @@ $1::text::tsquery AND ($2 = '' OR s.project = $2) AND ($3 = '' OR s.directory = $3) AND ($4 = '' OR s.id = $4)
		ORDER BY `+order+` LIMIT $5`, expr, clean(f.ProjectID), clean(f.Directory), clean(string(f.Session)), f.Limit)
	return all, err
}

// complete reads the part and the session of a hit.
func (v *view) complete(h *found, query string) error {
	var r partRead
	if err := v.row(`SELECT `+partColumns+` FROM part p WHERE p.message = $1 AND p.n = $2`, h.message, h.part).Scan(r.dest()...); err != nil {
		return err
	}
	bodies, err := v.bodies([]document{r.document})
	if err != nil {
		return err
	}
	p, err := v.decodePart(&r, bodies, h.hit.Session.ID, h.hit.Message)
	if err != nil {
		return err
	}
	h.hit.Part, h.hit.Kind, h.hit.Snippet = p.ID, r.kind, words.Snippet(words.Of(p.Body), query)
	h.hit.Session, err = v.session(h.hit.Session.ID)
	return err
}
