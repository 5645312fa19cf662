package events

import (
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// giveBack is how much text makes a turn's memory go back to the system soon
	// after it ends.
	giveBack = 8 << 20
	// giveBackSpare is how much memory that holds nothing goes back as well; less is
	// left to the runtime, which takes minutes.
	giveBackSpare = 8 << 20
	giveBackAfter = 2 * time.Second
	// giveBackFor bounds how long it is looked for afterwards: answers and events of the turn
	// may still be on their way to slow clients.
	giveBackFor = 32 * time.Second
	// giveBackHeap is how large a heap is looked through for that: what it held at the last
	// collection need not be in use any more, and a server at rest collects nothing.
	giveBackHeap = 16 << 20
)

// memory gives memory back to the system when a turn has ended that took much.
type memory struct {
	soon  atomic.Bool  // it is about to be given back
	turns atomic.Int64 // that ended so; with each, what an earlier one left is no longer looked for
}

// idle is called when a turn has ended, with the total length of its texts.
func (m *memory) idle(texts int) {
	if texts <= giveBack && spare() <= giveBackSpare || !m.soon.CompareAndSwap(false, true) {
		return
	}
	turn := m.turns.Add(1)
	time.AfterFunc(giveBackAfter, func() {
		m.soon.Store(false)
		debug.FreeOSMemory()
		m.again(turn, 2*giveBackAfter)
	})
}

// end has nothing looked for any more.
func (m *memory) end() { m.turns.Add(1) }

// again gives back what came to be garbage since, at ever longer intervals, until the next turn
// ends that took much.
func (m *memory) again(turn int64, after time.Duration) {
	if after > giveBackFor {
		return
	}
	time.AfterFunc(after, func() {
		if m.turns.Load() != turn {
			return
		}
		if heap() > giveBackHeap {
			debug.FreeOSMemory()
		}
		m.again(turn, 2*after)
	})
}

// spare returns how many bytes the heap takes from the system beyond what was alive
// at the last collection.
func spare() int64 {
	return heap() - read("/gc/heap/live:bytes")
}

// heap returns how many bytes the heap takes from the system.
func heap() int64 {
	return read("/memory/classes/heap/objects:bytes", "/memory/classes/heap/free:bytes", "/memory/classes/heap/unused:bytes")
}

// read adds up what the runtime measures.
func read(names ...string) (n int64) {
	s := make([]metrics.Sample, len(names))
	for i, name := range names {
		s[i].Name = name
	}
	metrics.Read(s)
	for _, m := range s {
		if m.Value.Kind() == metrics.KindUint64 {
			n += int64(m.Value.Uint64())
		}
	}
	return n
}
