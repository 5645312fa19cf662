package events

import (
	"testing"
	"testing/synctest"
	"time"
)

// What a client reads late, when a large turn has ended for a while, is given back as well.
func TestMemoryOfLateReadersIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memory
		late := make([][]byte, 64)
		for i := range late {
			late[i] = make([]byte, 1<<20)
		}
		m.idle(giveBack + 1)
		time.Sleep(giveBackAfter + time.Second) // it was given back once
		if n := heap(); n < int64(len(late))<<20 {
			t.Fatalf("a heap of %d bytes before the last of it is read", n)
		}
		clear(late)
		time.Sleep(2 * giveBackAfter)
		if n := heap(); n > giveBackHeap {
			t.Errorf("a heap of %d bytes", n)
		}
	})
}
