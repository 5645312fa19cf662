package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

// streams is a [store.Streams]. What is written again after a lost connection changes
// nothing, so it is simply written again.
type streams struct{ *core }

// notAnothers is the condition that no other server ($1) has the lease of a part p.
const notAnothers = `NOT EXISTS (SELECT 1 FROM lease l JOIN message m ON m.session = l.session WHERE m.n = p.message AND l.owner <> $1)`

// appendText appends to the text of a part ($2) what of $4 is not there yet, if it begins at
// offset $3, and returns how much was there. The newest piece takes it over unless it is much
// longer: that is written anew then, and each piece is a row that has to go when the part ends. A
// statement that was repeated while its first attempt was still under way finds that the piece has
// grown, and leaves it.
const appendText = `WITH
	p AS (SELECT n, rev, size FROM part p WHERE id = $2 AND open AND kind IN ('` + codec.KindText + `', '` + codec.KindReasoning + `') AND ` + notAnothers + ` FOR SHARE),
	last AS (SELECT t.at, octet_length(t.data) AS len FROM piece t JOIN p ON t.part = p.n AND t.rev = p.rev ORDER BY t.at DESC LIMIT 1),
	have AS (SELECT n, rev, at, len, coalesce(at + len, size) AS size FROM p LEFT JOIN last ON true),
	more AS (SELECT n, rev, at, len, size, substring($4::bytea FROM (size - $3 + 1)::int) AS text FROM have
		WHERE $3 BETWEEN 0 AND size AND size - $3 < octet_length($4::bytea)),
	fits AS (SELECT * FROM more WHERE len + octet_length(text) <= 4000 AND len <= greatest(256, 2 * octet_length(text))),
	grown AS (UPDATE piece t SET data = t.data || f.text FROM fits f WHERE t.part = f.n AND t.rev = f.rev AND t.at = f.at AND octet_length(t.data) = f.len),
	new AS (INSERT INTO piece (part, rev, at, data) SELECT n, rev, size, text FROM more WHERE NOT EXISTS (SELECT 1 FROM fits) ON CONFLICT DO NOTHING)
	SELECT size, CASE
		WHEN $5::bool AND $6::text[] IS NOT NULL AND ` + notCrowded + ` THEN pg_notify(` + channel + `, $1 || '` + withText + ` ' || $2)::text ||
			(SELECT string_agg(pg_notify(` + textChannel + `, l)::text, '') FROM unnest($6) l)
		WHEN $5::bool THEN pg_notify(` + channel + `, $1 || ' ' || $2)::text END FROM have`

// AppendText implements [store.Streams].
func (s streams) AppendText(ctx context.Context, part lathe.PartID, offset int64, text string) error {
	var have int64
	told := s.journal.told.Load()
	err := s.once(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, appendText, s.heart.self.ID, part, offset, []byte(text), told, s.letters(part, offset, text)).Scan(&have, nil)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		err = s.refused(ctx, part)
	case err == nil && (offset < 0 || offset > have):
		err = fmt.Errorf("offset %d is not within the %d bytes stored", offset, have)
	}
	if err != nil {
		return s.explain(fmt.Errorf("append text to part %s: %w", part, err))
	}
	return nil
}

// once runs a statement that is a transaction of its own and may be repeated.
func (s streams) once(ctx context.Context, do func(context.Context) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWork)
	defer cancel()
	return s.retry(work, do)
}

// refused says why a part takes no text.
func (s streams) refused(ctx context.Context, part lathe.PartID) error {
	var kind string
	var open, mine bool
	err := s.pool.QueryRow(ctx, `SELECT kind, open, `+notAnothers+` FROM part p WHERE id = $2`, s.heart.self.ID, part).Scan(&kind, &open, &mine)
	switch {
	case err != nil:
		return missing(err)
	case !mine:
		return store.ErrLost
	}
	return fmt.Errorf("a closed part or one of kind %s takes no text", kind)
}

// maxProgress is the size of pieces from which progress is moved into the row.
const maxProgress = 512 << 10

// progress is what running calls show, as far as this server stored it.
type progress struct {
	mu sync.Mutex
	m  map[lathe.PartID]*showing
}

// maxShowing bounds what is remembered; anything else is looked up again.
const maxShowing = 1024

type showing struct {
	mu           sync.Mutex
	n, rev, size int64
	shown        *codec.Shown // what the pieces say; nil: not known
}

func (p *progress) forget(part lathe.PartID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, part)
}

// of returns what is remembered of a part.
func (p *progress) of(part lathe.PartID) *showing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil || len(p.m) >= maxShowing {
		p.m = map[lathe.PartID]*showing{}
	}
	if p.m[part] == nil {
		p.m[part] = &showing{}
	}
	return p.m[part]
}

// SaveProgress implements [store.Streams].
func (s streams) SaveProgress(ctx context.Context, p *lathe.Part) error {
	call, ok := p.Body.(*lathe.ToolCall)
	if !ok {
		return fmt.Errorf("save progress of part %s: it is not a tool call", p.ID)
	}
	run, ok := call.State.(*lathe.ToolRunning)
	if !ok {
		return nil
	}
	full, at, err := s.show(ctx, p.ID, run)
	if err == nil && full {
		err = s.attempt(ctx, func(tx *tx) error { return tx.takeProgress(p, at) })
	}
	if err != nil {
		return s.explain(fmt.Errorf("save progress of part %s: %w", p.ID, err))
	}
	return nil
}

// show stores what changed in the progress of a call; full means that the row has to
// take it over first, if it is still at that revision.
func (s streams) show(ctx context.Context, part lathe.PartID, run *lathe.ToolRunning) (full bool, rev int64, err error) {
	now, err := codec.Showing(run)
	if err != nil {
		return false, 0, err
	}
	t := s.shown.of(part)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		if running, err := s.find(ctx, part, t); err != nil || !running {
			return false, 0, err
		}
	}
	if t.size >= maxProgress || t.shown == nil && t.size > 0 {
		return true, t.rev, nil
	}
	line, err := now.Line(t.shown)
	if err != nil {
		return false, 0, err
	}
	var stored int64
	err = s.once(ctx, func(ctx context.Context) error {
		tag, err := s.pool.Exec(ctx, `WITH p AS (SELECT n, rev FROM part p WHERE id = $7 AND n = $2 AND rev = $3 AND open AND `+notAnothers+` FOR SHARE)
			INSERT INTO piece (part, rev, at, data) SELECT n, rev, $4, $5 FROM p ON CONFLICT DO NOTHING
			RETURNING CASE WHEN $6::bool THEN pg_notify(`+channel+`, $1 || ' ' || $7)::text END`,
			s.heart.self.ID, t.n, t.rev, t.size, line, s.journal.told.Load(), string(part))
		stored = tag.RowsAffected()
		return err
	})
	if err != nil || stored == 0 { // it is over, or what was stored is not known
		s.shown.forget(part)
		return false, 0, err
	}
	t.size, t.shown = t.size+int64(len(line)), now
	return false, 0, nil
}

// find looks up a call, unless it is over.
func (s streams) find(ctx context.Context, part lathe.PartID, t *showing) (running bool, err error) {
	var kind string
	err = s.once(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, `SELECT n, rev, open, kind, coalesce((SELECT t.at + octet_length(t.data) FROM piece t
			WHERE t.part = p.n AND t.rev = p.rev ORDER BY t.at DESC LIMIT 1), 0) FROM part p WHERE id = $1`, part).
			Scan(&t.n, &t.rev, &running, &kind, &t.size)
	})
	if err == nil && running && kind != codec.KindTool {
		err = errors.New("a text shows no progress")
	}
	if err != nil || !running {
		t.n = 0
		s.shown.forget(part)
	}
	return running, missing(err)
}

// takeProgress moves it into the row, unless the row was written in the meantime.
func (tx *tx) takeProgress(p *lathe.Part, at int64) error {
	var rev int64
	var open bool
	err := tx.row(`SELECT rev, open FROM part WHERE id = $1 FOR UPDATE`, p.ID).Scan(&rev, &open)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (rev != at || !open) {
		tx.db.shown.forget(p.ID)
		return nil
	}
	if err != nil {
		return err
	}
	return tx.PutPart(p)
}
