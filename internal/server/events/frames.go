package events

import (
	"sync"

	"lathe"
	"lathe/internal/opencode/wire"
)

// keepFrames is how many encoded events are kept; streams are rarely further apart.
const keepFrames = 512

// frames shares encoded events between streams: with many streams, encoding each
// event once saves the most.
type frames struct {
	mu   sync.Mutex
	ring [keepFrames]encoded
}

type encoded struct {
	seq  uint64
	data []wire.Output
}

// of returns the frames of an event.
func (f *frames) of(env lathe.Envelope, id string) []wire.Output {
	slot := &f.ring[env.Seq%keepFrames]
	f.mu.Lock()
	if slot.seq == env.Seq {
		data := slot.data
		f.mu.Unlock()
		return data
	}
	f.mu.Unlock()
	data := wire.EncodeStream(env.Event, id, env.Time)
	if tooLarge(data) {
		return data
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*slot = encoded{env.Seq, data}
	return data
}

// tooLarge keeps what is kept small: 512 frames of 16 KiB.
func tooLarge(data []wire.Output) bool {
	n := 0
	for _, d := range data {
		n += d.Size()
	}
	return n > 16<<10
}
