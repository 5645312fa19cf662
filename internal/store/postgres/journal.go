package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/store/codec"
)

const (
	// channel is where servers are told that there is something to read. A message is
	// the server that tells, and the part that text was added to, if it is about that. It
	// is a hint; one that is lost costs the time until the next look.
	channel = `'lathe_' || current_schema()`
	// lookEvery is how often a server looks for events if no message comes.
	lookEvery = 3 * time.Second
	// gather is how long messages are gathered before anything is read, and gatherText how
	// long before text is published, for which nothing is.
	gather     = 10 * time.Millisecond
	gatherText = 2 * time.Millisecond
	// forgetEvents removes events that are so old that every server has read them. The newest
	// stays: it tells those who have read it that they have missed nothing.
	forgetEvents = `DELETE FROM event WHERE at < clock_timestamp() - interval '15 minutes' AND n < (SELECT max(n) FROM event)`
	// forgetEvery is how often a server that notes events removes old ones.
	forgetEvery = 2 * time.Minute
	// eventColumns are those that [eventRow.dest] takes.
	eventColumns = `n, origin, directory, kind, data, blobs`
	// mostBetween bounds what is read of the past for one client.
	mostBetween = 5000
	// lockEvents is held from the numbering of events to the end of the commit, so that
	// numbers have the order of the commits.
	lockEvents = `SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.event'))`
)

// journal is how far this server has read the events.
type journal struct {
	told atomic.Bool // text has to be told, too: this server tells others

	mu    sync.Mutex
	name  string // of the database and the schema in it
	begun bool
	noted bool                     // since old events were removed
	seen  int64                    // number of the newest event that was read or noted
	open  map[lathe.PartID]growing // texts of others
}

func (j *journal) at() (seen int64, begun bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen, j.begun
}

func (j *journal) reached(n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen, j.begun = max(j.seen, n), true
}

// marked notes a row that is of no concern to this server; what others noted before is still to
// be read.
func (j *journal) marked(n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begun && j.seen == n-1 {
		j.seen = n
	}
	j.noted = true
}

// hasNoted notes that there will be something to remove.
func (j *journal) hasNoted(n int64) {
	j.reached(n)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.noted = true
}

type eventRow struct {
	of              int // place of its fact
	n               int64
	origin          string
	directory, kind string
	document
}

func (r *eventRow) dest() []any {
	return []any{&r.n, &r.origin, &r.directory, &r.kind, &r.data, &r.blobs}
}

// newEvents reads what follows a number ($1). The first row tells whether something between
// them was removed.
const newEvents = `SELECT -1, NULL, coalesce((SELECT min(n) FROM event)::text, ''), '', NULL, NULL
	UNION ALL (SELECT ` + eventColumns + ` FROM event WHERE n > $1 ORDER BY n)`

// eventsRead are rows of events.
type eventsRead struct {
	rows   []eventRow
	oldest int64 // of all that there are; 0: there are none
}

func (e *eventsRead) scan(rows pgx.Rows) error {
	defer rows.Close()
	for rows.Next() {
		var r eventRow
		var origin *string
		dest := r.dest()
		dest[1] = &origin
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if r.n < 0 {
			e.oldest, _ = strconv.ParseInt(r.directory, 10, 64) // "" is none
			continue
		}
		r.origin = *origin
		e.rows = append(e.rows, r)
	}
	return rows.Err()
}

// missed reports whether something after a number may have been removed. Numbers have a gap
// where a transaction failed, so this can be said too often.
func (e *eventsRead) missed(after int64) bool { return after > 0 && e.oldest > after+1 }

// eventsAfter reads what follows a number, with what this server noted itself.
func (v *view) eventsAfter(after int64) (read eventsRead, err error) {
	rows, err := v.query(newEvents, after)
	if err != nil {
		return read, err
	}
	return read, read.scan(rows)
}

// before reads what others noted after a number and below another.
func (v *view) before(after, below int64) ([]store.Fact, error) {
	read, err := v.eventsAfter(after)
	if err != nil {
		return nil, err
	}
	read.rows = slices.DeleteFunc(read.rows, func(r eventRow) bool { return r.n >= below })
	return v.others(&read, after)
}

// events reads what others noted after a number, and returns the newest number.
func (v *view) events(after int64) (facts []store.Fact, newest int64, err error) {
	read, err := v.eventsAfter(after)
	if err != nil {
		return nil, after, err
	}
	newest = after
	if n := len(read.rows); n > 0 {
		newest = read.rows[n-1].n
	}
	facts, err = v.others(&read, after)
	return facts, newest, err
}

// others returns the facts that were read and that other servers noted.
func (v *view) others(read *eventsRead, after int64) (facts []store.Fact, err error) {
	if read.missed(after) {
		v.db.log.Warn("events of other servers were missed: this one was away for too long", "after", after, "oldest", read.oldest)
		facts = append(facts, store.Fact{Event: lathe.EventsMissed{}})
	}
	rows := slices.DeleteFunc(read.rows, func(r eventRow) bool { return r.origin == v.db.heart.self.ID })
	more, err := v.facts(rows)
	if err != nil {
		return nil, err
	}
	facts = append(facts, more...)
	v.db.journal.note(facts)
	return facts, nil
}

// facts decodes events. What cannot be read is left out.
func (v *view) facts(rows []eventRow) (facts []store.Fact, err error) {
	docs := make([]document, len(rows))
	for i := range rows {
		docs[i] = rows[i].document
	}
	bodies, err := v.bodies(docs)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		r := &rows[i]
		data, err := codec.Unpack(r.data)
		var ev lathe.Event
		if err == nil {
			ev, err = bodies.decoder().Event(r.kind, data)
		}
		if err != nil {
			v.db.log.Error("an event of another server cannot be read", "kind", r.kind, "err", err)
			continue
		}
		if ev != nil {
			facts = append(facts, store.Fact{Directory: r.directory, Event: ev, Number: r.n})
		}
	}
	return facts, nil
}

// note remembers which texts of others are open, and how much of them is known.
func (j *journal) note(facts []store.Fact) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range facts {
		switch ev := f.Event.(type) {
		case lathe.PartUpdated:
			j.remember(f.Directory, &ev.Part)
		case lathe.PartRemoved:
			delete(j.open, ev.PartID)
		}
	}
}

// follower is a [store.Journal].
type follower struct{ *core }

// At implements [store.Journal].
func (f follower) At() (number int64, ok bool) { return f.journal.at() }

// Name implements [store.Journal].
func (f follower) Name() string {
	f.journal.mu.Lock()
	defer f.journal.mu.Unlock()
	return f.journal.name
}

// Between implements [store.Journal].
func (f follower) Between(ctx context.Context, after, upTo int64) (facts []store.Fact, err error) {
	if upTo <= after {
		return nil, nil
	}
	err = f.read(ctx, func(v *view) error {
		var read eventsRead
		rows, err := v.query(newEvents+` LIMIT $2`, after, mostBetween+2)
		if err != nil {
			return err
		}
		if err := read.scan(rows); err != nil {
			return err
		}
		if read.missed(after) || len(read.rows) > mostBetween {
			return store.ErrNotFound
		}
		facts, err = v.facts(slices.DeleteFunc(read.rows, func(r eventRow) bool { return r.n > upTo }))
		return err
	})
	return facts, err
}

// Abandoned implements [store.Journal].
func (f follower) Abandoned(ctx context.Context) (ids []lathe.SessionID, err error) {
	rows, err := f.pool.Query(ctx, `SELECT s.id, `+lateness+` FROM lease l JOIN session s ON s.n = l.session LEFT JOIN owner o ON o.id = l.owner
		WHERE o.expires IS NULL OR o.expires < clock_timestamp()`)
	if err != nil {
		return nil, f.explain(err)
	}
	var id lathe.SessionID
	var late *int64
	_, err = pgx.ForEachRow(rows, []any{&id, &late}, func() error {
		if f.absence.gone(late) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, f.explain(err)
}

// Follow implements [store.Journal].
func (f follower) Follow(ctx context.Context, take func(read func(context.Context) ([]store.Fact, error)) error) {
	if err := f.start(ctx); err != nil {
		return
	}
	f.look(ctx, take, heard{events: true})
	for ctx.Err() == nil {
		conn, err := f.listen(ctx)
		if err != nil { // looking goes on without being told
			f.log.Debug("the database tells nothing", "err", err)
			f.look(ctx, take, heard{events: true})
			pause(ctx, lookEvery)
			continue
		}
		f.hear(ctx, conn, take)
		end, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = conn.Close(end)
		cancel()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// start starts at the newest event.
func (f follower) start(ctx context.Context) error {
	for {
		var n int64
		var name string
		err := f.retry(ctx, func(ctx context.Context) error {
			return f.read(ctx, func(v *view) (err error) {
				if err = v.row(`SELECT coalesce(max(n), 0) FROM event`).Scan(&n); err == nil {
					name, err = v.journalName()
				}
				return err
			})
		})
		if err == nil {
			f.journal.begin(name, n)
			f.absence.begin()
			return nil
		}
		if pause(ctx, lookEvery); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// begin notes the name, and how far this server has read.
func (j *journal) begin(name string, n int64) {
	j.reached(n)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.name = name
}

// journalName tells the events of this schema from those of any other, and from those of a
// copy that was restored elsewhere. A database that does not say which cluster it is in is
// known by its own number alone. All servers have to come to the same name: one that could not
// ask has none.
func (v *view) journalName() (string, error) {
	var cluster, place string
	if err := v.row(`SELECT d.oid || '.' || current_schema()::regnamespace::oid FROM pg_database d WHERE d.datname = current_database()`).Scan(&place); err != nil {
		return "", err
	}
	switch err := v.row(`SELECT system_identifier::text FROM pg_control_system()`).Scan(&cluster); {
	case state(err) != "" && !away(err):
		v.db.log.Debug("the cluster has no name", "err", err)
	case err != nil:
		return "", err
	}
	sum := sha256.Sum256([]byte(cluster + "." + place))
	return hex.EncodeToString(sum[:5]), nil
}

// listen opens a connection that is told what happens.
func (f follower) listen(ctx context.Context) (*pgx.Conn, error) {
	conf := f.pool.Config().ConnConfig
	conn, err := pgx.ConnectConfig(ctx, conf)
	if err != nil {
		return nil, err
	}
	var name, texts string
	if err = conn.QueryRow(ctx, `SELECT quote_ident(`+channel+`), quote_ident(`+textChannel+`)`).Scan(&name, &texts); err == nil {
		_, err = conn.Exec(ctx, "LISTEN "+name+"; LISTEN "+texts, pgx.QueryExecModeSimpleProtocol)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// hear reads whenever the connection is told something, until it breaks.
func (f follower) hear(ctx context.Context, conn *pgx.Conn, take func(func(context.Context) ([]store.Fact, error)) error) {
	forgot, looked := time.Now(), time.Now()
	for {
		what, err := f.messages(ctx, conn)
		if err != nil {
			return
		}
		if time.Since(looked) > lookEvery { // text alone may come all the time
			what.events = true
		}
		if what.events {
			looked = time.Now()
		}
		f.look(ctx, take, what)
		if time.Since(forgot) > forgetEvery && f.journal.toForget() {
			forgot = time.Now()
			if _, err := f.pool.Exec(ctx, forgetEvents); err != nil {
				f.log.Debug("old events are removed later", "err", err)
			}
		}
	}
}

// toForget reports whether something was noted since it was asked last.
func (j *journal) toForget() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	was := j.noted
	j.noted = false
	return was
}

// heard is what other servers told.
type heard struct {
	texts  []toldText
	parts  []lathe.PartID // that text or progress was added to, which is stored
	events bool           // there may be events; also said when it is time to look without being told
}

// take takes a notification, and reports whether something has to be done.
func (h *heard) take(self string, n *pgconn.Notification) bool {
	if strings.HasPrefix(n.Channel, "lathe$") {
		origin, t, ok := readLetter(n.Payload)
		if ok = ok && origin != self; ok {
			h.texts = append(h.texts, t)
		}
		return ok
	}
	origin, part, text := strings.Cut(n.Payload, " ")
	if origin == self || origin == "mail" || origin == "answer" || origin == "work" || strings.HasSuffix(origin, withText) {
		return false
	}
	switch {
	case !text:
		h.events = true
	case !slices.Contains(h.parts, lathe.PartID(part)):
		h.parts = append(h.parts, lathe.PartID(part))
	}
	return true
}

// messages waits for a message, or for the time to look without one, and returns what is
// told by those that come together.
func (f follower) messages(ctx context.Context, conn *pgx.Conn) (h heard, err error) {
	until, some := time.Now().Add(lookEvery), false
	for {
		wait, cancel := context.WithDeadline(ctx, until)
		n, err := conn.WaitForNotification(wait)
		timedOut := wait.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err != nil && timedOut && !conn.IsClosed():
			h.events = h.events || !some
			return h, nil
		case err != nil:
			return h, err
		}
		if h.take(f.heart.self.ID, n) && !some {
			until, some = time.Now().Add(gatherText), true
			if len(h.texts) == 0 {
				until = time.Now().Add(gather)
			}
		}
	}
}

// look reads the events since the last look, and what was added to parts, and hands both
// to take. For text that was told, nothing has to be read.
func (f follower) look(ctx context.Context, take func(func(context.Context) ([]store.Fact, error)) error, h heard) {
	err := take(func(ctx context.Context) (facts []store.Fact, err error) {
		if !h.events && len(h.parts) == 0 {
			if facts = f.added(&h); len(h.texts) == 0 {
				return facts, nil
			}
		}
		more, err := f.stored(ctx, &h)
		if err == nil {
			f.absence.answered()
		}
		return append(facts, more...), err
	})
	if err != nil && ctx.Err() == nil {
		f.log.Debug("what other servers do is read later", "err", err)
	}
}

// added returns the facts for texts up to the first that does not follow what is known, and
// leaves the rest.
func (f follower) added(h *heard) (facts []store.Fact) {
	for len(h.texts) > 0 {
		dir, ev, ok := f.journal.add(h.texts[0])
		if !ok {
			return facts
		}
		if ev != nil {
			facts = append(facts, store.Fact{Directory: dir, Event: ev})
		}
		h.texts = h.texts[1:]
	}
	return facts
}

// stored reads the events since the last look, and what is stored of the parts that were
// named, or of whose texts something is missing.
func (f follower) stored(ctx context.Context, h *heard) (facts []store.Fact, err error) {
	newest := int64(0)
	err = f.read(ctx, func(v *view) error {
		seen, _ := f.journal.at()
		if facts, newest, err = v.events(seen); err != nil {
			return err
		}
		for _, id := range h.parts {
			more, err := v.streamed(id)
			if err != nil {
				return err
			}
			facts = append(facts, more...)
		}
		for facts = append(facts, f.added(h)...); len(h.texts) > 0; facts = append(facts, f.added(h)...) {
			more, err := v.streamed(h.texts[0].part)
			if err != nil {
				return err
			}
			facts = append(facts, more...)
			facts = append(facts, f.added(&heard{texts: h.texts[:1]})...)
			h.texts = h.texts[1:] // what cannot be added now comes with what follows it
		}
		return nil
	})
	if err != nil {
		f.journal.lose()
		return nil, err
	}
	f.journal.reached(newest)
	return facts, nil
}

// streamed returns what was added to an open part of another server.
func (v *view) streamed(id lathe.PartID) ([]store.Fact, error) {
	var r partRead
	var session lathe.SessionID
	var message lathe.MessageID
	var dir string
	var mine bool
	err := v.row(`SELECT `+partColumns+`, m.id, s.id, s.directory, coalesce((SELECT l.owner = $2 FROM lease l WHERE l.session = s.n), false)
		FROM part p JOIN message m ON m.n = p.message JOIN session s ON s.n = m.session WHERE p.id = $1 AND p.open`, id, v.db.heart.self.ID).
		Scan(append(r.dest(), &message, &session, &dir, &mine)...)
	if errors.Is(err, pgx.ErrNoRows) || mine {
		return nil, nil // it has ended, and an event says so
	}
	if err != nil {
		return nil, err
	}
	bodies, err := v.bodies([]document{r.document})
	if err != nil {
		return nil, err
	}
	p, err := v.decodePart(&r, bodies, session, message)
	if err != nil || p.Body == nil {
		return nil, err
	}
	ev := v.db.journal.grown(dir, p)
	if ev == nil {
		return nil, nil
	}
	return []store.Fact{{Directory: dir, Event: ev}}, nil
}

// grown returns the event for an open part: what was added to a text that is known, or
// else the whole part; nil if there is nothing new.
func (j *journal) grown(dir string, p lathe.Part) lathe.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, isText := codec.TextOf(p.Body)
	if !isText {
		return lathe.PartUpdated{Part: p}
	}
	o, known := j.open[p.ID]
	if known && len(text) <= o.size {
		return nil // more of it was told than is stored
	}
	j.remember(dir, &p)
	if !known {
		return lathe.PartUpdated{Part: p}
	}
	return lathe.PartDelta{SessionID: p.SessionID, MessageID: p.MessageID, PartID: p.ID, Delta: text[o.size:], End: len(text)}
}
