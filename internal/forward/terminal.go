package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"lathe"
	"lathe/internal/line"
	"lathe/internal/people"
	"lathe/internal/store"
)

// A terminal is on the server that has its directory, which is the one that was asked for it or
// a worker. Whichever server a client asks about it later finds it by its identifier: it asks
// the others.

// terminalOf returns the terminal that a request is about, or "". A connection is no letter: see
// [Forwarder.Terminal].
func terminalOf(r *http.Request) string {
	path, own := segments(r)
	if own || len(path) != 2 || path[0] != "pty" || lathe.CheckID(path[1], lathe.PrefixPTY) != nil {
		return ""
	}
	return path[1]
}

// terminal has a request done by the server that has its terminal.
func (f *Forwarder) terminal(x *exchange, id string) (done bool, err error) {
	if _, ok := f.placeOf(id); ok || x.r.Method == http.MethodOptions {
		return false, nil
	}
	at, err := f.find(x.r, "/pty/"+url.PathEscape(id), x.may)
	if errors.Is(err, line.ErrNotFound) {
		return false, nil // the route says so
	}
	if err != nil {
		return true, err
	}
	return true, f.pass(x, at)
}

// Terminal attaches to a terminal of another server, if the caller may use its directory.
func (f *Forwarder) Terminal(r *http.Request, id string, may func(dir string) error) (*line.Line, error) {
	if lathe.CheckID(id, lathe.PrefixPTY) != nil {
		return nil, line.ErrNotFound
	}
	at, err := f.find(r, "/pty/"+url.PathEscape(id), may)
	if err != nil {
		return nil, err
	}
	person := people.From(r.Context())
	return line.Dial(r.Context(), func(ctx context.Context, letter []byte) ([]byte, error) {
		a, err := f.send(ctx, at, request{Line: letter, Person: person})
		if errors.Is(err, store.ErrAway) {
			err = lathe.Errorf(lathe.CodeUnavailable, "open another terminal", "%s is not heard of any more", at.Name)
		}
		return a.Body, err
	}, id)
}

// find asks the other servers which of them has a terminal or a job: that one answers its path.
// The caller has to be allowed to use its directory. The error is [line.ErrNotFound] only if each
// has said that it is not there.
func (f *Forwarder) find(r *http.Request, path string, may func(dir string) error) (at store.Owner, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), gatherTime)
	defer cancel()
	others, err := f.o.Store.Mail.Others(ctx)
	if err != nil {
		return at, err
	}
	look := request{Method: http.MethodGet, URI: path, Person: people.From(r.Context())}
	var mu sync.Mutex
	var dir string
	silent := false // one of them
	var wg sync.WaitGroup
	for _, to := range others {
		wg.Go(func() {
			a, err := f.send(ctx, to, look)
			found := a.Header.Get(directoryHeader)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				silent = silent || !errors.Is(err, store.ErrAway)
			case a.Status == http.StatusOK && found != "":
				at, dir = to, found
				cancel() // nobody else has it
			}
		})
	}
	wg.Wait()
	switch {
	case at.ID == "" && silent:
		return at, lathe.Errorf(lathe.CodeUnavailable, "try again", "not every server says whether it has it")
	case at.ID == "":
		return at, fmt.Errorf("%w: %s", line.ErrNotFound, path)
	}
	return at, may(dir)
}

// directoryHeader names the directory of a terminal or a job in an answer to another server.
const directoryHeader = "X-Lathe-Directory"

// attach follows a terminal of this process.
func (f *Forwarder) attach(id string) (line.Terminal, bool) {
	if t, err := f.o.Terminals.Get(id); err == nil {
		return attached{t.Attach(), t}, true
	}
	if j, err := f.o.Jobs.Terminal(id); err == nil {
		return attached{j.Attach(), j}, true
	}
	return nil, false
}

// placeOf returns the directory of a terminal of this process.
func (f *Forwarder) placeOf(id string) (dir string, ok bool) {
	if t, err := f.o.Terminals.Get(id); err == nil {
		return t.Info().Directory, true
	}
	j, err := f.o.Jobs.Terminal(id)
	if err != nil {
		return "", false
	}
	return j.Brief().Directory, true
}

// leaveTime bounds how long a server that stops waits for those that follow its terminals.
const leaveTime = 2 * time.Second

// leave tells those that follow terminals of this process that it stops, and then stops what
// receives their letters.
func (f *Forwarder) leave(stop context.CancelFunc) {
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	f.lines.Leave(ctx)
}

// attached is a terminal of this process that another server follows.
type attached struct {
	follower
	t interface{ Write(data []byte) error }
}

type follower interface {
	Next(cancel <-chan struct{}) ([]byte, bool)
	Behind() bool
	Close()
}

func (a attached) Write(data []byte) error { return a.t.Write(data) }

// look answers which directory a terminal or a job of this process belongs to, for another
// server.
func (f *Forwarder) look(in request, a *answer) {
	r, err := http.NewRequest(in.Method, in.URI, http.NoBody)
	if err != nil {
		return
	}
	if id := jobOf(r); id != "" {
		if j, err := f.o.Jobs.Get("", id); err == nil {
			a.Header.Set(directoryHeader, j.Brief().Directory)
		}
		return
	}
	if id := terminalOf(r); id != "" {
		if dir, ok := f.placeOf(id); ok {
			a.Header.Set(directoryHeader, dir)
		}
	}
}
