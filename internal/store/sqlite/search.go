package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/words"
)

const (
	// searchBatch is the number of messages indexed in one transaction, unless their
	// texts exceed searchBytes. Other writers wait that long.
	searchBatch = 1000
	searchBytes = 1 << 20
	// maxRanked is the number of hits above which the newest come first: ranking
	// then takes long and means little.
	maxRanked = 5000
)

// searcher is a [store.Searcher].
type searcher struct{ *core }

// Index adds what is new to the full-text index and returns how many messages
// that were. It works in small transactions, so it can be stopped at any time
// and others can write in between.
func (s searcher) Index(ctx context.Context) (total int, err error) {
	for {
		n, err := s.indexBatch(ctx)
		total += n
		if err != nil || n == 0 {
			return total, err
		}
	}
}

// Unindexed returns how many messages the next Index has to add.
func (s searcher) Unindexed(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(v *view) error {
		return v.row(`SELECT count(*) FROM search_todo`).Scan(&n)
	})
	if err != nil {
		return 0, fmt.Errorf("count messages: %w", err)
	}
	return n, nil
}

func (s searcher) indexBatch(ctx context.Context) (count int, err error) {
	if s.onlyReads { // what was indexed before can still be found
		return 0, nil
	}
	err = s.batch(ctx, func(tx *tx) error {
		count, err = indexing{tx}.index()
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("index messages: %w", err)
	}
	return count, nil
}

type indexed struct {
	part int64
	text string
}

// indexing takes messages into the index.
type indexing struct{ *tx }

func (tx indexing) index() (int, error) {
	messages, err := tx.unindexed()
	if err != nil {
		return 0, err
	}
	size := 0
	for i, n := range messages {
		if size > searchBytes {
			return i, nil
		}
		texts, err := tx.textsOf(n)
		if err != nil {
			return 0, err
		}
		for _, t := range texts {
			size += len(t.text)
			if _, err := tx.exec(`INSERT OR REPLACE INTO search (rowid, body) VALUES (?, ?)`, t.part, t.text); err != nil {
				return 0, err
			}
		}
		if _, err := tx.exec(`DELETE FROM search_todo WHERE message = ?`, n); err != nil {
			return 0, err
		}
	}
	return len(messages), nil
}

func (tx indexing) unindexed() (ns []int64, err error) {
	rows, err := tx.query(`SELECT t.message FROM search_todo t JOIN message m ON m.n = t.message WHERE m.open = 0 ORDER BY t.message LIMIT ?`, searchBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		ns = append(ns, n)
	}
	return ns, errors.Join(rows.Err(), rows.Close())
}

func (tx indexing) textsOf(message int64) (out []indexed, err error) {
	rows, err := tx.query(`SELECT `+partColumns+` FROM part WHERE message = ? AND open = 0`, message)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r partRow
		if err := rows.Scan(r.dest()...); err != nil {
			return nil, err
		}
		p, err := tx.part(&r, "", "")
		if err != nil {
			tx.db.log.Warn("a part cannot be searched", "part", string(r.id), "err", err)
			continue
		}
		if text := words.Of(p.Body); text != "" {
			out = append(out, indexed{r.n, words.Pairs(words.Head(text))})
		}
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// matchExpr turns what a person typed into a query of the index; see [words.Query].
func matchExpr(query string) string {
	return strings.Join(words.Query(strings.ReplaceAll(query, "\x00", ""), term), " AND ")
}

func term(text string, prefix bool) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return ""
	}
	text = `"` + strings.TrimSpace(words.Pairs(text)) + `"`
	if prefix {
		text += "*"
	}
	return text
}

// Search returns the parts that contain the words of a query, the best first, or
// the newest first if there are very many. Call Index first to include what is
// new.
func (s searcher) Search(ctx context.Context, query string, f store.SearchFilter) (hits []store.Hit, err error) {
	expr := matchExpr(query)
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

func (v *view) search(expr, query string, f store.SearchFilter) (hits []store.Hit, err error) {
	order := `x.rank, p.n DESC`
	var many int
	err = v.row(`SELECT count(*) FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)`, expr, maxRanked+1).Scan(&many)
	if err != nil {
		return nil, err
	}
	if many > maxRanked {
		order = `x.rowid DESC`
	}
	rows, err := v.query(`SELECT s.id, m.id, m.role, p.n, p.id, p.seq, p.kind, p.open, p.rev, p.size, p.data
		FROM search x JOIN part p ON p.n = x.rowid JOIN message m ON m.n = p.message JOIN session s ON s.n = m.session
		WHERE search MATCH ? AND (? = '' OR s.project = ?) AND (? = '' OR s.directory = ?) AND (? = '' OR s.id = ?)
		ORDER BY `+order+` LIMIT ?`,
		expr, f.ProjectID, f.ProjectID, f.Directory, f.Directory, f.Session, f.Session, f.Limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h store.Hit
		var r partRow
		if err := rows.Scan(append([]any{&h.Session.ID, &h.Message, &h.Role}, r.dest()...)...); err != nil {
			return nil, err
		}
		p, err := v.part(&r, h.Session.ID, h.Message)
		if err != nil {
			return nil, err
		}
		h.Part, h.Kind, h.Snippet = p.ID, r.kind, words.Snippet(words.Of(p.Body), query)
		hits = append(hits, h)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for i := range hits {
		if hits[i].Session, err = v.session(hits[i].Session.ID); err != nil {
			return nil, err
		}
	}
	return hits, nil
}
