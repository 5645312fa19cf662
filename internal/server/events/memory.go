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
)

// memory gives memory back to the system when a turn has ended that took much.
type memory struct {
	soon atomic.Bool // it is about to be given back
}

// idle is called when a turn has ended, with the total length of its texts.
func (m *memory) idle(texts int) {
	if texts <= giveBack && spare() <= giveBackSpare || !m.soon.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(giveBackAfter, func() {
		m.soon.Store(false)
		debug.FreeOSMemory()
	})
}

// spare returns how many bytes the heap takes from the system beyond what was alive
// at the last collection.
func spare() int64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	n := int64(0)
	for i := range s {
		if s[i].Value.Kind() == metrics.KindUint64 {
			v := int64(s[i].Value.Uint64())
			if i == len(s)-1 {
				v = -v
			}
			n += v
		}
	}
	return n
}
