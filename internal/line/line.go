package line

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"lathe"
)

// ErrNotFound means that the host has no such terminal.
var ErrNotFound = errors.New("no such terminal")

// Send has the host answer a letter.
type Send func(ctx context.Context, letter []byte) ([]byte, error)

// Line is a terminal of another process. Close it.
type Line struct {
	send   Send
	id     string
	cancel context.CancelFunc
	wg     sync.WaitGroup
	pieces chan []byte // what is shown; closed at the end

	shown, typed *sealer

	mu      sync.Mutex
	waiting []byte        // typed, and not sent yet
	more    chan struct{} // there is something waiting
	room    chan struct{} // there is room for more
	word    string        // why it ended
}

// maxWaiting is how much may be typed ahead of what the host has taken.
const maxWaiting = 64 << 10

// Dial attaches to a terminal of the host at the end of send.
func Dial(ctx context.Context, send Send, terminal string) (*Line, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	l := &Line{send: send, pieces: make(chan []byte), more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	asked := key.PublicKey().Bytes()
	got, err := l.ask(ctx, letter{Do: attach, Terminal: terminal, Key: asked})
	switch {
	case err != nil:
		return nil, err
	case got.State == full:
		return nil, lathe.Errorf(lathe.CodeLimit, "leave one first", "%d terminals are followed from elsewhere", mostLines)
	case got.State == leaving:
		return nil, lathe.Errorf(lathe.CodeUnavailable, "open another terminal", "the worker stops, and its terminals with it")
	case got.State != open:
		return nil, fmt.Errorf("%w: %q", ErrNotFound, terminal)
	}
	if l.typed, l.shown, err = agree(key, got.Key, asked); err != nil {
		return nil, err
	}
	l.id = got.Line
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel = cancel
	l.wg.Go(func() { l.read(run) })
	l.wg.Go(func() { l.write(run) })
	return l, nil
}

// ask sends a letter and returns the answer.
func (l *Line) ask(ctx context.Context, in letter) (out reply, err error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	if raw, err = l.send(ctx, raw); err != nil {
		return out, err
	}
	return out, json.Unmarshal(raw, &out)
}

// read asks for what is shown until the line ends.
func (l *Line) read(ctx context.Context) {
	defer l.cancel()
	defer close(l.pieces)
	for {
		got, err := l.ask(ctx, letter{Do: read, Line: l.id})
		var data []byte
		if err == nil && len(got.Sealed) > 0 {
			data, err = l.shown.open(got.Sealed)
		}
		if err != nil || got.State != open {
			l.end(got.State, err)
			return
		}
		if len(data) == 0 {
			continue
		}
		select {
		case l.pieces <- data:
		case <-ctx.Done():
			return
		}
	}
}

// end notes why the line ended, unless that is known.
func (l *Line) end(state string, err error) {
	word := "the terminal was not heard of for too long"
	switch {
	case err != nil:
		word = err.Error()
	case state == ended:
		word = ""
	case state == behind:
		word = "it printed more than could be shown"
	case state == leaving:
		word = "the worker stops, and its terminals with it"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.word == "" {
		l.word = word
	}
}

// write sends what is typed, in its order, until the line ends.
func (l *Line) write(ctx context.Context) {
	for {
		select {
		case <-l.more:
		case <-ctx.Done():
			return
		}
		l.mu.Lock()
		data := l.waiting
		l.waiting = nil
		l.mu.Unlock()
		signal(l.room)
		got, err := l.ask(ctx, letter{Do: write, Line: l.id, Sealed: l.typed.seal(data)})
		if err != nil || got.State != open {
			if ctx.Err() == nil {
				l.end(got.State, err)
			}
			l.cancel()
			return
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Write types into the terminal. It waits while too much is on its way. One at a time may
// write, and none after Close.
func (l *Line) Write(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		l.mu.Lock()
		n := min(len(data), maxWaiting-len(l.waiting))
		l.waiting = append(l.waiting, data[:n]...)
		l.mu.Unlock()
		data = data[n:]
		signal(l.more)
		if len(data) == 0 {
			break
		}
		select {
		case <-l.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Next waits for output and returns it; false after the end, or when cancel is closed.
func (l *Line) Next(cancel <-chan struct{}) ([]byte, bool) {
	select {
	case data, ok := <-l.pieces:
		return data, ok
	case <-cancel:
		return nil, false
	}
}

// Word says why the line ended; "" if the program did.
func (l *Line) Word() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.word
}

// farewell bounds the last letter; a host that does not get it closes the line by itself.
const farewell = 2 * time.Second

// Close leaves the terminal, which goes on.
func (l *Line) Close() {
	l.cancel()
	l.wg.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_, _ = l.ask(ctx, letter{Do: hangUp, Line: l.id})
}
