package line

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"
)

// Terminal is what a line leads to.
type Terminal interface {
	// Next waits for output and returns it; false after the end, or when cancel is closed.
	Next(cancel <-chan struct{}) ([]byte, bool)
	// Behind reports whether it printed more than was taken.
	Behind() bool
	Write(data []byte) error
	// Close stops following; the terminal goes on.
	Close()
}

const (
	// mostLines bounds what is attached from elsewhere at once.
	mostLines = 256
	// patience is how long a read waits for output.
	patience = 20 * time.Second
	// forgotten is after how long a line is closed whose server asks nothing any more.
	forgotten = time.Minute
)

// Host answers what other servers ask about the terminals of this process. It is safe for
// concurrent use.
type Host struct {
	// Attach follows a terminal; false if there is none.
	Attach func(id string) (Terminal, bool)

	mu    sync.Mutex
	lines map[string]*hosted
}

// hosted is a line that leads here.
type hosted struct {
	terminal Terminal
	idle     *time.Timer

	told chan struct{} // closed once its server is told that it ended, or does not ask any more

	reads  sync.Mutex // one at a time
	shown  *sealer
	rest   []byte // what did not fit
	writes sync.Mutex
	typed  *sealer
}

// Handle answers a letter. A read waits until there is output, for a while, or ctx ends, which
// means that the terminals end.
func (h *Host) Handle(ctx context.Context, raw []byte) ([]byte, error) {
	var in letter
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, err
	}
	return json.Marshal(h.answer(ctx, in))
}

func (h *Host) answer(ctx context.Context, in letter) reply {
	if in.Do == attach {
		return h.attach(ctx, in)
	}
	h.mu.Lock()
	l := h.lines[in.Line]
	h.mu.Unlock()
	switch {
	case l == nil && ctx.Err() != nil:
		return reply{State: leaving}
	case l == nil:
		return reply{State: unknown}
	}
	l.idle.Reset(forgotten)
	var out reply
	switch in.Do {
	case read:
		out = l.read(ctx)
	case write:
		out = l.write(in.Sealed)
	default:
		out.State = ended
	}
	if out.State != open {
		h.drop(in.Line)
	}
	return out
}

// Leave waits until the servers of all lines are told that the host stops, or ctx ends. What
// Handle is called with has to have ended before, and Handle to be called further on: a server
// that does not wait for output just now is told with its next letter.
func (h *Host) Leave(ctx context.Context) {
	h.mu.Lock()
	lines := slices.Collect(maps.Values(h.lines))
	h.mu.Unlock()
	for _, l := range lines {
		select {
		case <-l.told:
		case <-ctx.Done():
			return
		}
	}
}

func (h *Host) attach(ctx context.Context, in letter) reply {
	key, err := newKey()
	if err != nil {
		return reply{State: unknown}
	}
	typed, shown, err := agree(key, in.Key, in.Key)
	if err != nil {
		return reply{State: unknown}
	}
	t, ok := h.Attach(in.Terminal)
	if !ok {
		return reply{State: unknown}
	}
	id := rand.Text()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case ctx.Err() != nil: // Leave would not wait for it
		t.Close()
		return reply{State: leaving}
	case len(h.lines) >= mostLines:
		t.Close()
		return reply{State: full}
	}
	if h.lines == nil {
		h.lines = map[string]*hosted{}
	}
	h.lines[id] = &hosted{terminal: t, told: make(chan struct{}), typed: typed, shown: shown, idle: time.AfterFunc(forgotten, func() { h.drop(id) })}
	return reply{State: open, Line: id, Key: key.PublicKey().Bytes()}
}

// drop forgets a line. It may be called twice.
func (h *Host) drop(id string) {
	h.mu.Lock()
	l := h.lines[id]
	delete(h.lines, id)
	h.mu.Unlock()
	if l != nil {
		l.idle.Stop()
		l.terminal.Close()
		close(l.told)
	}
}

// maxPiece bounds what one letter carries.
const maxPiece = 128 << 10

func (l *hosted) read(ctx context.Context) reply {
	l.reads.Lock()
	defer l.reads.Unlock()
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, more := l.rest, true
	if len(data) == 0 {
		data, more = l.terminal.Next(wait.Done())
	}
	switch {
	case more:
		n := min(len(data), maxPiece)
		l.rest = data[n:]
		return reply{State: open, Sealed: l.shown.seal(data[:n])}
	case ctx.Err() != nil:
		return reply{State: leaving}
	case wait.Err() != nil:
		return reply{State: open}
	case l.terminal.Behind():
		return reply{State: behind}
	}
	return reply{State: ended}
}

func (l *hosted) write(sealed []byte) reply {
	l.writes.Lock()
	defer l.writes.Unlock()
	data, err := l.typed.open(sealed)
	if err != nil {
		return reply{State: unknown}
	}
	// A program that has ended is told of by what is read, after the last of what it printed.
	_ = l.terminal.Write(data)
	return reply{State: open}
}
