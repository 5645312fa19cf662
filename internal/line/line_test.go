package line

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
)

// echo is a terminal that shows what is typed, and ends with "exit".
type echo struct {
	mu    sync.Mutex
	data  []byte
	over  bool
	woken chan struct{}
}

func newEcho() *echo { return &echo{woken: make(chan struct{}, 1)} }

func (e *echo) Write(data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.data = append(e.data, data...)
	e.over = e.over || bytes.HasSuffix(data, []byte("exit"))
	signal(e.woken)
	return nil
}

func (e *echo) Next(cancel <-chan struct{}) ([]byte, bool) {
	for {
		e.mu.Lock()
		data, over := e.data, e.over
		e.data = nil
		e.mu.Unlock()
		if len(data) > 0 || over {
			return data, len(data) > 0
		}
		select {
		case <-e.woken:
		case <-cancel:
			return nil, false
		}
	}
}

func (e *echo) Behind() bool { return false }
func (e *echo) Close()       {}

// What is typed comes back in its order, however long it is, and no letter tells it.
func TestLineCarriesSealed(t *testing.T) {
	e := newEcho()
	h := &Host{Attach: func(id string) (Terminal, bool) { return e, id == "pty_1" }}
	var mu sync.Mutex
	var letters bytes.Buffer
	send := func(ctx context.Context, letter []byte) ([]byte, error) {
		answer, err := h.Handle(ctx, letter)
		mu.Lock()
		defer mu.Unlock()
		letters.Write(letter)
		letters.Write(answer)
		return answer, err
	}
	if _, err := Dial(t.Context(), send, "pty_2"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no such terminal: %v", err)
	}
	l, err := Dial(t.Context(), send, "pty_1")
	if err != nil {
		t.Fatal(err)
	}
	typed := "hunter2 " + strings.Repeat("0123456789abcdef", 20_000) + "exit"
	var typing sync.WaitGroup
	typing.Go(func() {
		if err := l.Write(t.Context(), []byte(typed)); err != nil {
			t.Error(err)
		}
	})
	var got strings.Builder
	for {
		data, ok := l.Next(t.Context().Done())
		if !ok {
			break
		}
		got.Write(data)
	}
	typing.Wait()
	if got.String() != typed || l.Word() != "" {
		t.Errorf("%d of %d bytes came back, %q", got.Len(), len(typed), l.Word())
	}
	l.Close()
	mu.Lock()
	defer mu.Unlock()
	if bytes.Contains(letters.Bytes(), []byte("hunter2")) || bytes.Contains(letters.Bytes(), []byte("aHVudGVyMi")) {
		t.Error("a letter tells what was typed")
	}
}

// A host that stops, and one that is not reached any more, end a line with a word.
func TestLineEndsWithAWord(t *testing.T) {
	gone := errors.New("the worker is not heard of any more")
	for want, err := range map[string]error{"the worker stops, and its terminals with it": nil, gone.Error(): gone} {
		t.Run(want, func(t *testing.T) {
			stopping, stop := context.WithCancel(t.Context())
			h := &Host{Attach: func(string) (Terminal, bool) { return newEcho(), true }}
			send := func(_ context.Context, letter []byte) ([]byte, error) {
				if err != nil && bytes.Contains(letter, []byte(`"read"`)) {
					return nil, err
				}
				return h.Handle(stopping, letter)
			}
			l, err := Dial(t.Context(), send, "pty_1")
			if err != nil {
				t.Fatal(err)
			}
			stop()
			if _, ok := l.Next(t.Context().Done()); ok || l.Word() != want {
				t.Errorf("it ended with %q, want %q", l.Word(), want)
			}
			l.Close()
		})
	}
}

// A server that waits for nothing when the host stops is told with its next letter, and the
// host waits for that; who asks for a line after that is told, too.
func TestHostLeavesWithAWord(t *testing.T) {
	h := &Host{Attach: func(string) (Terminal, bool) { return newEcho(), true }}
	running, stop := context.WithCancel(t.Context())
	handle := func(in letter) (out reply) {
		t.Helper()
		raw, err := json.Marshal(in)
		if err == nil {
			raw, err = h.Handle(running, raw)
		}
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	asked := letter{Do: attach, Terminal: "pty_1", Key: key.PublicKey().Bytes()}
	l := handle(asked)
	stop()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	h.Leave(over) // nobody asks: it does not wait for ever
	left := make(chan struct{})
	go func() { defer close(left); h.Leave(t.Context()) }()
	select {
	case <-left:
		t.Error("the host left before it was asked")
	default:
	}
	var got []string
	for _, in := range []letter{{Do: read, Line: l.Line}, {Do: read, Line: l.Line}, asked} {
		got = append(got, handle(in).State)
	}
	if want := []string{leaving, leaving, leaving}; !slices.Equal(got, want) {
		t.Errorf("the answers are %q, want %q", got, want)
	}
	<-left
}
