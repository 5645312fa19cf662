package postgres

import (
	"errors"
	"maps"

	"lathe"
	"lathe/internal/store/codec"
)

// Who holds the lease of a session is mostly the only one that writes to it, and remembers the
// numbers that it gave out last. A statement that counts on them changes no row if they are
// wrong, and fails with errRecall: then all that is remembered is forgotten, and the transaction
// runs once more with what the database says. So the database still counts, also for servers that
// do not remember anything, and a transaction need not wait for its answers.

// errRecall means that something is not as it was remembered.
var errRecall = errors.New("a session is not as this server remembered it")

// mostRemembered is of how many messages the parts are remembered; work goes on in the newest.
const mostRemembered = 8

// known is what is remembered of a session. It does not change.
type known struct {
	messages int64                     // number that was given out last; 0: not known
	parts    map[lathe.MessageID]int64 // the same of messages
	session  []any                     // its row, see [sessionArgs]; nil: not known
}

// memory is what a transaction knows of a session that this server holds. A nil memory knows nothing,
// and learns nothing.
type memory struct {
	fence int64 // that it was asked for with
	lease *lease
	was   *known
	now   known
	bold  bool // what is known may be used
	used  bool
}

func newMemory(l *lease, bold bool) *memory {
	m := &memory{fence: l.fence.Load(), lease: l, was: l.known.Load(), bold: bold}
	if m.was != nil {
		m.now = *m.was
		m.now.parts = maps.Clone(m.now.parts)
	}
	if m.now.parts == nil {
		m.now.parts = map[lathe.MessageID]int64{}
	}
	return m
}

// nextMessage returns the number of the next message, and counts it.
func (m *memory) nextMessage() (n int64, ok bool) {
	if m == nil || !m.bold || m.now.messages == 0 {
		return 0, false
	}
	m.used = true
	m.now.messages++
	return m.now.messages, true
}

// nextPart returns the number of the next part of a message, and counts it.
func (m *memory) nextPart(of lathe.MessageID) (n int64, ok bool) {
	if m == nil || !m.bold {
		return 0, false
	}
	if n, ok = m.now.parts[of]; !ok {
		return 0, false
	}
	m.used = true
	m.now.parts[of] = n + 1
	return n + 1, true
}

// trusts reports whether something may be taken for granted that the caller says.
func (m *memory) trusts() bool {
	if m == nil || !m.bold {
		return false
	}
	m.used = true
	return true
}

// row returns the session as it was last stored, and as its row was.
func (m *memory) row() (ses lathe.Session, row []any, ok bool) {
	if m == nil || !m.bold || m.now.session == nil {
		return ses, nil, false
	}
	row = m.now.session
	text := func(i int) string { return row[i].(string) }
	at := func(i int) int64 { return row[i].(int64) }
	ses = lathe.Session{ID: lathe.SessionID(text(0)), ProjectID: text(1), ParentID: lathe.SessionID(text(2)), Directory: text(3), Title: text(4),
		Created: codec.At(at(5)), Updated: codec.At(at(6)), Archived: codec.At(at(7))}
	d := codec.Decoder{Damage: &codec.Damage{}}
	data, err := codec.Unpack(row[8].([]byte))
	if err != nil || d.Session(data, &ses) != nil || d.Damage.Why != nil {
		return ses, nil, false
	}
	m.used = true
	return ses, row, true
}

func (m *memory) learnMessage(id lathe.MessageID, n int64, parts int) {
	if m == nil {
		return
	}
	m.now.messages = n
	if len(m.now.parts) >= mostRemembered {
		clear(m.now.parts)
	}
	m.now.parts[id] = int64(parts)
}

func (m *memory) learnPart(of lathe.MessageID, n int64) {
	if m == nil {
		return
	}
	if _, there := m.now.parts[of]; !there && len(m.now.parts) >= mostRemembered {
		clear(m.now.parts)
	}
	m.now.parts[of] = n
}

// learnRow notes how a session was stored, unless it has bodies, which had to be read.
func (m *memory) learnRow(row []any, doc document) {
	if m == nil {
		return
	}
	m.now.session = row
	if len(doc.blobs) > 0 {
		m.now.session = nil
	}
}

// keep passes on what the transaction knows, which is committed. If another has passed on
// something meanwhile, nobody knows anything.
func (m *memory) keep() {
	if !m.lease.known.CompareAndSwap(m.was, &m.now) {
		m.lease.known.Store(nil)
	}
}

// forget forgets what is known: the transaction has failed, or nobody knows.
func (m *memory) forget() { m.lease.known.Store(nil) }
