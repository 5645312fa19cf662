package postgres

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"lathe"
	"lathe/internal/store/codec"
)

// loaded are messages in ascending order.
type loaded struct {
	messages []lathe.Message
	rows     int   // messages seen, with those of an unknown kind
	lowest   int64 // sequence number among them
}

// messageRead is a row of a message.
type messageRead struct {
	n       int64
	role    string
	message lathe.Message
	document
}

func (r *messageRead) scan(row pgx.Row, own ...any) error {
	var created int64
	err := row.Scan(append(own, &r.n, &r.message.ID, &r.message.Seq, &r.role, &created, &r.data, &r.blobs)...)
	r.message.Created = codec.At(created)
	return err
}

const messageColumns = `m.n, m.id, m.seq, m.role, m.created, m.data, m.blobs`

// load reads the messages of a session ($1) that match the condition on m, and those
// of their parts that match which. arg is $2.
func (v *view) load(session lathe.SessionID, cond string, arg any, which string) (out loaded, err error) {
	var read []messageRead
	err = v.rows(func(row pgx.Row) error {
		read = append(read, messageRead{})
		return read[len(read)-1].scan(row)
	}, `SELECT `+messageColumns+` FROM message m WHERE m.session = (SELECT n FROM session WHERE id = $1) AND `+cond, clean(string(session)), arg)
	if err != nil || len(read) == 0 {
		return out, err
	}
	slices.SortFunc(read, func(a, b messageRead) int { return cmp.Compare(a.message.Seq, b.message.Seq) })
	ns := make([]int64, len(read))
	for i := range read {
		ns[i] = read[i].n
	}
	parts, err := v.readParts(ns, which)
	if err != nil {
		return out, err
	}
	return v.assemble(session, read, parts)
}

// assemble decodes rows, and gives messages their parts.
func (v *view) assemble(session lathe.SessionID, read []messageRead, parts []partRead) (out loaded, err error) {
	var docs []document
	for i := range read {
		docs = append(docs, read[i].document)
	}
	for i := range parts {
		docs = append(docs, parts[i].document)
	}
	bodies, err := v.bodies(docs)
	if err != nil {
		return out, err
	}
	out.rows, out.lowest = len(read), read[0].message.Seq
	out.messages = make([]lathe.Message, 0, len(read))
	at := make(map[int64]int, len(read))
	for i := range read {
		m, err := v.decodeMessage(&read[i], bodies)
		if err != nil {
			return out, err
		}
		if m.Info != nil {
			m.SessionID = session
			at[read[i].n] = len(out.messages)
			out.messages = append(out.messages, m)
		}
	}
	for i := range parts {
		to, ok := at[parts[i].message]
		if !ok {
			continue
		}
		m := &out.messages[to]
		p, err := v.decodePart(&parts[i], bodies, session, m.ID)
		if err != nil {
			return out, err
		}
		if p.Body != nil {
			m.Parts = append(m.Parts, p)
		}
	}
	return out, nil
}

// decodeMessage leaves Info out when the role is unknown.
func (v *view) decodeMessage(r *messageRead, b bodies) (lathe.Message, error) {
	m := r.message
	d := b.decoder()
	info, err := d.StoredInfo(&m, r.role, r.data)
	switch m.Info = info; {
	case err != nil:
		return m, fmt.Errorf("message %s: %w", m.ID, err)
	case d.Damage.Why != nil:
		m.Damage = d.Damage.Why.Error()
		v.db.log.Error("a message cannot be read", "message", string(m.ID), "err", d.Damage.Why)
	case info == nil:
		v.db.log.Warn("skipped a message of a kind this version does not know", "message", string(m.ID), "kind", r.role)
	}
	return m, nil
}

// partRead is a row of a part, with what was streamed to it since.
type partRead struct {
	n, message, seq, rev, size int64
	id                         lathe.PartID
	kind                       string
	open                       bool
	more                       []byte
	document
}

// partColumns end with the pieces of an open part, joined.
const partColumns = `p.n, p.message, p.id, p.seq, p.kind, p.open, p.rev, p.size, p.data, p.blobs,
	CASE WHEN p.open THEN (SELECT string_agg(t.data, ''::bytea ORDER BY t.at) FROM piece t WHERE t.part = p.n AND t.rev = p.rev) END`

func (r *partRead) dest() []any {
	return []any{&r.n, &r.message, &r.id, &r.seq, &r.kind, &r.open, &r.rev, &r.size, &r.data, &r.blobs, &r.more}
}

// readParts reads the parts of messages ($1), in order.
func (v *view) readParts(messages []int64, which string) (parts []partRead, err error) {
	err = v.rows(func(row pgx.Row) error {
		parts = append(parts, partRead{})
		return row.Scan(parts[len(parts)-1].dest()...)
	}, `SELECT `+partColumns+` FROM part p WHERE message = ANY($1)`+which+` ORDER BY message, seq`, messages)
	return parts, err
}

// decodePart decodes a row. A kind that only a newer version knows has no Body.
func (v *view) decodePart(r *partRead, b bodies, session lathe.SessionID, message lathe.MessageID) (lathe.Part, error) {
	p := lathe.Part{ID: r.id, MessageID: message, SessionID: session, Seq: r.seq}
	d := b.decoder()
	body, err := d.StoredPart(r.kind, r.data)
	switch p.Body = body; {
	case err != nil:
		return p, fmt.Errorf("part %s: %w", r.id, err)
	case d.Damage.Why != nil:
		p.Damage = d.Damage.Why.Error()
		v.db.log.Error("a part cannot be read", "part", string(r.id), "err", d.Damage.Why)
	case body == nil:
		v.db.log.Warn("skipped a part of a kind this version does not know", "part", string(r.id), "kind", r.kind)
	}
	addStreamed(p.Body, r.more)
	return p, nil
}

// addStreamed adds what was streamed to a part to what is in its row.
func addStreamed(body lathe.PartBody, more []byte) {
	if len(more) == 0 {
		return
	}
	switch b := body.(type) {
	case *lathe.Text:
		b.Text += string(more)
	case *lathe.Reasoning:
		b.Text += string(more)
	case *lathe.ToolCall:
		if run, ok := b.State.(*lathe.ToolRunning); ok {
			codec.AddProgress(run, more)
		}
	}
}
