// Package events sends what happens to clients: OpenCode's streams of server-sent
// events, those of lathe's own faces, and the events that a face in the same process
// is handed as they are.
//
// # Shape
//
// A [Streams] reads the bus. What it knows about parts whose text grows is kept once
// for all clients (live.go, marks.go), and an event is encoded once (frames.go).
// Clients that asked for the same share a fanout, which encodes for all of them and
// lets each read at its own pace (fanout.go); one that comes back and missed
// something has a stream of its own until it has all (stream.go). own.go has the
// stream of lathe's faces, settle.go lets an answer wait until its events are on
// their way.
package events

import (
	"context"
	"errors"
	"sync"
	"time"

	"lathe"
	"lathe/internal/bus"
)

// Options configure [Streams]. All of it is needed but Journal.
type Options struct {
	Bus       *bus.Bus
	Heartbeat time.Duration
	Epoch     string  // of this process, in ids of events
	Journal   Journal // of the servers that share a store; nil where there is none
	// Project returns the project of a directory whose instance is open, else "".
	Project func(ctx context.Context, dir string) string
}

// Streams sends events to clients. It is safe for concurrent use.
type Streams struct {
	o      Options
	live   *live
	frames frames

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup // of those who encode

	fanouts fanouts

	mu     sync.Mutex
	places map[*place]struct{} // of clients that follow events
}

// New returns streams over a bus, of which nothing is missed from then on. Close
// them when no client is served any more.
func New(o Options) *Streams {
	s := &Streams{o: o, live: newLive(o.Bus), fanouts: fanouts{by: map[fankey]*fanout{}}, places: map[*place]struct{}{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends what is left of the streams and returns when it has ended.
func (s *Streams) Close() {
	s.stop()
	s.wg.Wait()
	s.live.close()
}

// Overlay adds the text streamed so far to the open parts of messages that were
// just read.
func (s *Streams) Overlay(messages []lathe.Message) { s.live.overlay(messages) }

// TooSlow reports whether a stream ended because its client did not read it.
func TooSlow(err error) bool { return errors.Is(err, bus.ErrSlow) }
