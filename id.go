package lathe

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Identifiers are opaque strings: a prefix, an underscore and 26 characters.
type (
	// SessionID names a session ("ses_…"); newer ones sort first within an era.
	SessionID string
	// MessageID names a message ("msg_…").
	MessageID string
	// PartID names a part ("prt_…").
	PartID string
	// AskID names a permission ask ("per_…") or a question ("que_…").
	AskID string
)

// Prefixes of identifiers.
const (
	PrefixSession  = "ses"
	PrefixMessage  = "msg"
	PrefixPart     = "prt"
	PrefixAsk      = "per"
	PrefixQuestion = "que"
	PrefixPTY      = "pty"
	PrefixUser     = "usr"
	PrefixTool     = "tool"
	PrefixEvent    = "evt"
	PrefixCall     = "call"
	PrefixJob      = "job"
)

const (
	idTimeHex  = 12
	idTailLen  = 14
	idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// IDs makes identifiers. Twelve hex digits carry the low 48 bits of
// milliseconds × 4096 + counter (complemented for sessions, so that newer ones
// sort first), fourteen base-62 characters are random. The time wraps every
// 2^36 ms, so order is never taken from identifiers alone: messages and parts
// carry a sequence number.
//
// An IDs is safe for concurrent use. The zero value is not usable; see [NewIDs].
type IDs struct {
	now  func() time.Time
	rand io.Reader

	mu      sync.Mutex
	ms      int64
	counter int64
	floor   int64 // new identifiers come after it
}

// NewIDs returns a source of identifiers. A nil now means [time.Now], a nil
// random means crypto/rand.
func NewIDs(now func() time.Time, random io.Reader) *IDs {
	if now == nil {
		now = time.Now
	}
	if random == nil {
		random = rand.Reader
	}
	return &IDs{now: now, rand: random}
}

// New returns a new identifier with the prefix. It panics if the source of
// randomness fails, which crypto/rand never does.
func (g *IDs) New(prefix string) string {
	n := g.next()
	if prefix == PrefixSession {
		n = ^n
	}
	return prefix + "_" + formatIDTime(n) + g.tail()
}

// Session returns a new session identifier.
func (g *IDs) Session() SessionID { return SessionID(g.New(PrefixSession)) }

// Message returns a new message identifier.
func (g *IDs) Message() MessageID { return MessageID(g.New(PrefixMessage)) }

// Part returns a new part identifier.
func (g *IDs) Part() PartID { return PartID(g.New(PrefixPart)) }

// Ask returns a new permission ask identifier.
func (g *IDs) Ask() AskID { return AskID(g.New(PrefixAsk)) }

func (g *IDs) next() int64 {
	ms := g.now().UnixMilli()
	g.mu.Lock()
	defer g.mu.Unlock()
	if ms != g.ms {
		g.ms, g.counter = ms, 0
	}
	g.counter++
	n := ms*4096 + g.counter
	if n <= g.floor {
		n = g.floor + 1
	}
	if g.floor > 0 {
		g.floor = n
	}
	return n
}

// After returns a source whose identifiers also sort after id: g itself if they do anyway. Clients
// show messages in the order of their identifiers, and a session that comes from a machine whose
// clock is ahead has identifiers from the future. An id in another form changes nothing, and
// neither does one so far ahead that it counts as an old one.
func (g *IDs) After(id string) *IDs {
	_, rest, _ := strings.Cut(id, "_")
	if len(rest) != idTimeHex+idTailLen {
		return g
	}
	at, err := strconv.ParseInt(rest[:idTimeHex], 16, 64)
	if err != nil {
		return g
	}
	now := g.now().UnixMilli() * 4096
	ahead := (at - now) & (1<<48 - 1) // the time wraps
	if ahead >= 1<<47 {
		return g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if now+ahead <= g.floor {
		return g
	}
	return &IDs{now: g.now, rand: g.rand, floor: now + ahead}
}

func (g *IDs) tail() string {
	var raw [idTailLen]byte
	if _, err := io.ReadFull(g.rand, raw[:]); err != nil {
		panic(fmt.Sprintf("lathe: no randomness for an identifier: %v", err))
	}
	for i, b := range raw {
		raw[i] = idAlphabet[int(b)%len(idAlphabet)]
	}
	return string(raw[:])
}

func formatIDTime(n int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return hex.EncodeToString(b[2:])
}

// CheckID reports what is wrong with an identifier that came from outside, or
// nil. Only the prefix and the characters are checked; clients may choose the rest.
func CheckID(id, prefix string) error {
	rest, ok := strings.CutPrefix(id, prefix+"_")
	if !ok || rest == "" {
		return fmt.Errorf("identifier %q does not start with %q", id, prefix+"_")
	}
	if len(id) > 64 {
		return fmt.Errorf("identifier of %d bytes is longer than 64", len(id))
	}
	for _, r := range rest {
		if !strings.ContainsRune(idAlphabet, r) && r != '_' && r != '-' {
			return fmt.Errorf("identifier %q contains %q", id, r)
		}
	}
	return nil
}
