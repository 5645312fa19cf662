package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe"
	"lathe/internal/store"
)

// Under says how to get at a store under test.
type Under struct {
	// New returns a place for a store that is new and empty.
	New func(t testing.TB) Place
	// Living returns a living owner of leases, other than this process, and a function
	// that ends it.
	Living func(t testing.TB) (o store.Owner, end func())
	// Unseen returns an owner that the store cannot check; nil if it can check all.
	Unseen func() store.Owner
	// Old returns places as earlier versions left them, by name.
	Old func(t testing.TB) map[string]Old
	// Crash runs [Crashing] in a process of its own, which is ended before the nth write,
	// or ends by itself if there are fewer. It returns what was reported. Nil if a store
	// has no such test.
	Crash func(t testing.TB, at Place, n int) (told []string, struck bool)
}

// Place is where a store keeps its data, such as a directory or a schema.
type Place interface {
	// Open opens the store there, as a process does. It may be open already.
	Open(t testing.TB, o Options) (*Opened, error)
}

// Old is a place with what is stored there.
type Old struct {
	Place
	Session  lathe.SessionID
	Messages int // each with one text, which is Text of its number
	Text     func(i int) string
}

// Options are for one opening of a store.
type Options struct {
	Now   func() time.Time
	Fault func() error // called before each commit; an error it returns fails the commit
}

// Opened is an open store whose writes are transactions of their own.
type Opened struct {
	Store
	Self  store.Owner // of this process
	Whole func(t testing.TB)
	Close func() error // the suite calls it once
}

var epoch = time.UnixMilli(1795182093288).UTC()

// large is a body that stores keep outside rows, if they do so.
const large = 100_000

// Run tests that a store keeps the contract.
func Run(t *testing.T, u Under) {
	for name, test := range map[string]func(*testing.T, Under){
		"Sessions": testSessions, "DeleteSession": testDeleteSession, "Batch": testBatch, "Recover": testRecover,
		"Messages": testMessages, "Boundary": testBoundary, "PutPart": testPutPart, "TurnTail": testTurnTail, "Beside": testBeside,
		"AppendText": testAppendText, "ProgressSurvives": testProgressSurvives, "ReadWhileStreaming": testReadWhileStreaming,
		"Rest": testRest, "Value": testValue, "ProjectSettings": testProjectSettings, "SpentStaysCounted": testSpentStaysCounted, "SpentBeside": testSpentBeside, "ToolUses": testToolUses, "Search": testSearch,
		"Leases": testLeases, "LeaseIsLost": testLeaseIsLost, "OneOwnerAtATime": testOneOwnerAtATime,
		"Order": testOrder, "Fault": testFault, "Old": testOld, "Crash": testCrash,
	} {
		t.Run(name, func(t *testing.T) { test(t, u) })
	}
}

// place is one that opens with the clock of the suite.
type place struct{ Place }

func (p place) open(t testing.TB) *Opened { return p.openWith(t, Options{}) }

func (p place) openWith(t testing.TB, o Options) *Opened {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return epoch }
	}
	s, err := p.Open(t, o)
	must(t, err)
	end, closed := s.Close, false
	s.Close = func() error {
		if closed {
			return nil
		}
		closed = true
		return end()
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (u Under) at(t testing.TB) place { return place{u.New(t)} }

func (u Under) open(t testing.TB) *Opened { return u.at(t).open(t) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// nothingLeft fails the test if something is stored that nothing refers to.
func nothingLeft(t testing.TB, s *Opened) {
	t.Helper()
	left, err := s.Sweep(t.Context())
	must(t, err)
	equal(t, store.Swept{}, left)
}

func busy(err error) bool { return errors.Is(err, store.ErrBusy) }

func seed(t testing.TB, s *Opened, id string) lathe.SessionID {
	t.Helper()
	must(t, s.CreateSession(t.Context(), Session(id)))
	return lathe.SessionID(id)
}

// openText is a text that is not finished.
func openText(ses lathe.SessionID, msg, id string) *lathe.Part {
	return &lathe.Part{
		ID: lathe.PartID(id), SessionID: ses, MessageID: lathe.MessageID(msg), Body: &lathe.Text{Time: lathe.Span{Start: epoch}},
	}
}

// runningCall is a call of a tool that shows something.
func runningCall(ses lathe.SessionID, id, title string, meta map[string]any) *lathe.Part {
	return &lathe.Part{ID: lathe.PartID(id), SessionID: ses, MessageID: "msg_1", Body: &lathe.ToolCall{
		CallID: "c", Tool: "bash", State: &lathe.ToolRunning{Input: []byte(`{}`), Title: title, Metadata: meta, Start: epoch},
	}}
}
