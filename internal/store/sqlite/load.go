package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"lathe/internal/store/codec"
	"lathe/internal/store/local"
	"slices"
	"sync"

	"lathe"
)

// loader gathers messages in ascending order, and the parts whose text is partly
// in a file.
type loader struct {
	messages []lathe.Message
	rows     int   // messages seen, with those of an unknown kind
	lowest   int64 // sequence number among them
	open     []openPart
}

type openPart struct {
	message, part int // indices
	text          local.Text
}

// batchRows is how many rows are decoded together.
const batchRows = 64

// batches decodes rows while further ones are read: reading and decoding a long
// history cost about the same, and a second core would be idle.
type batches[T any] struct {
	decode func(*T)
	all    []*[batchRows]T
	n      int
	wg     sync.WaitGroup
}

// next returns the row to read into; the one before it is complete.
func (b *batches[T]) next() *T {
	i := b.n % batchRows
	if i == 0 {
		if b.n > 0 {
			rows := b.all[len(b.all)-1]
			b.wg.Go(func() { b.run(rows[:]) })
		}
		b.all = append(b.all, new([batchRows]T))
	}
	b.n++
	return &b.all[len(b.all)-1][i]
}

func (b *batches[T]) run(rows []T) {
	for i := range rows {
		b.decode(&rows[i])
	}
}

// end decodes what is left and waits for the rest. It must be called.
func (b *batches[T]) end() {
	if b.n > 0 {
		b.run(b.all[len(b.all)-1][:(b.n-1)%batchRows+1])
	}
	b.wg.Wait()
}

func (b *batches[T]) each(fn func(*T) error) error {
	for i := range b.n {
		if err := fn(&b.all[i/batchRows][i%batchRows]); err != nil {
			return err
		}
	}
	return nil
}

// messageRead is a message row, and what it says.
type messageRead struct {
	n, created int64
	role       string
	data       []byte
	message    lathe.Message
	err        error
}

// partRead is a part row, and what it says.
type partRead struct {
	message int64
	row     partRow
	body    lathe.PartBody
	damage  string
	err     error
}

// load reads the messages of a session (?1) that match the condition on m, and
// those of their parts that match which, in one go. arg is ?2.
func (v *view) load(l *loader, session lathe.SessionID, cond string, arg any, which string) error {
	pick := `FROM message m WHERE m.session = (SELECT n FROM session WHERE id = ?1) AND ` + cond
	messages := batches[messageRead]{decode: v.decodeMessage}
	parts := batches[partRead]{decode: v.decodePart}
	err := v.readMessages(&messages, pick, session, arg)
	if err == nil && messages.n > 0 {
		err = v.readParts(&parts, `(SELECT m.n `+pick+`)`+which, session, arg)
	}
	messages.end()
	parts.end()
	if err != nil {
		return err
	}
	byRow, err := v.gather(l, &messages, session)
	if err != nil {
		return err
	}
	return v.attach(l, &parts, byRow)
}

func (v *view) readMessages(into *batches[messageRead], pick string, args ...any) error {
	rows, err := v.query(`SELECT m.n, m.id, m.seq, m.role, m.created, m.data `+pick, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r := into.next()
		if err := rows.Scan(r.dest()...); err != nil { // has a type that no column has
			v.db.log.Error("a message cannot be read", "err", err)
			*r = messageRead{}
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (v *view) readParts(into *batches[partRead], of string, args ...any) error {
	rows, err := v.query(`SELECT message, `+partColumns+` FROM part WHERE message IN `+of+`
		ORDER BY message, seq`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r := into.next()
		if err := rows.Scan(append([]any{&r.message}, r.row.dest()...)...); err != nil {
			v.db.log.Error("a part cannot be read", "err", err)
			*r = partRead{}
		}
	}
	return rows.Err()
}

func (r *messageRead) dest() []any {
	return []any{&r.n, &r.message.ID, &r.message.Seq, &r.role, &r.created, &r.data}
}

// decodeMessage leaves Info out when the role is unknown.
func (v *view) decodeMessage(r *messageRead) {
	r.message.Created = codec.At(r.created)
	d := v.decoder()
	info, err := d.StoredInfo(&r.message, r.role, r.data)
	r.message.Info, r.data = info, nil
	if d.Damage.Why != nil {
		r.message.Damage = d.Damage.Why.Error()
		v.db.log.Error("a message cannot be read", "message", string(r.message.ID), "err", d.Damage.Why)
	}
	switch {
	case err != nil:
		r.err = fmt.Errorf("message %s: %w", r.message.ID, err)
	case r.message.Info == nil:
		v.db.log.Warn("skipped a message of a kind this version does not know", "message", string(r.message.ID), "kind", r.role)
	}
}

// scanMessage reads one message row, without its parts.
func (v *view) scanMessage(row scanner, session lathe.SessionID) (lathe.Message, error) {
	var r messageRead
	if err := row.Scan(r.dest()...); err != nil {
		return lathe.Message{}, err
	}
	v.decodeMessage(&r)
	r.message.SessionID = session
	return r.message, r.err
}

func (v *view) decodePart(r *partRead) {
	r.body, r.damage, r.err = v.body(&r.row)
	r.row.data = nil
}

// gather puts the messages in order and returns the index of each row.
func (v *view) gather(l *loader, read *batches[messageRead], session lathe.SessionID) (map[int64]int, error) {
	rowOf := make(map[lathe.MessageID]int64, read.n)
	l.messages = make([]lathe.Message, 0, read.n)
	err := read.each(func(r *messageRead) error {
		m := r.message
		if l.rows++; l.rows == 1 || m.Seq < l.lowest {
			l.lowest = m.Seq
		}
		switch {
		case r.err != nil:
			return r.err
		case m.Info == nil:
			return nil
		}
		m.SessionID = session
		l.messages, rowOf[m.ID] = append(l.messages, m), r.n
		return nil
	})
	slices.SortFunc(l.messages, func(a, b lathe.Message) int { return cmp.Compare(a.Seq, b.Seq) })
	byRow := make(map[int64]int, len(l.messages))
	for i := range l.messages {
		byRow[rowOf[l.messages[i].ID]] = i
	}
	return byRow, err
}

// attach gives the messages their parts.
func (v *view) attach(l *loader, read *batches[partRead], byRow map[int64]int) error {
	return read.each(func(r *partRead) error {
		i, ok := byRow[r.message]
		switch {
		case !ok:
			return nil
		case r.err != nil:
			return r.err
		case r.body == nil:
			return nil
		}
		m := &l.messages[i]
		if r.row.streams() {
			l.open = append(l.open, openPart{i, len(m.Parts), r.row.text()})
		}
		m.Parts = append(m.Parts, lathe.Part{
			ID: r.row.id, MessageID: m.ID, SessionID: m.SessionID, Seq: r.row.seq, Body: r.body, Damage: r.damage,
		})
		return nil
	})
}
