package server

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostUploads is how many bodies of one client may be on their way at once. One
	// more takes the place of the oldest: who sends whole bodies is not kept waiting
	// by who sends halves.
	mostUploads = 64
	// leftover is how long what no handler read of a body is waited for.
	leftover = time.Second
)

// uploads are the bodies that are being received, by client, the oldest first.
type uploads struct {
	mu sync.Mutex
	by map[string][]*upload
}

// upload is a body on its way. Reading from it gives up when nothing comes for a
// while, when the whole takes too long, or when it was cut off.
type upload struct {
	io.Reader
	deadline func(time.Time)
	patience patience
	until    time.Time

	mu  sync.Mutex
	cut bool
}

// Read waits for the next piece.
func (u *upload) Read(b []byte) (int, error) {
	u.wait()
	return u.Reader.Read(b)
}

func (u *upload) wait() {
	u.mu.Lock()
	defer u.mu.Unlock()
	next := time.Now().Add(u.patience.stall)
	switch {
	case u.cut:
		next = time.Unix(1, 0)
	case next.After(u.until):
		next = u.until
	}
	u.deadline(next)
}

// end cuts it off.
func (u *upload) end() {
	u.mu.Lock()
	u.cut = true
	u.mu.Unlock()
	u.wait()
}

// receive returns the body of a request, and what is to be called once it is read.
func (s *Server) receive(w http.ResponseWriter, r *http.Request, limit int64) (u *upload, done func()) {
	rc := http.NewResponseController(w)
	u = &upload{
		Reader: http.MaxBytesReader(w, r.Body, limit), patience: s.patience, until: time.Now().Add(s.patience.body),
		deadline: func(t time.Time) { _ = rc.SetReadDeadline(t) },
	}
	client := clientOf(r.RemoteAddr)
	if oldest := s.uploads.add(client, u); oldest != nil {
		oldest.end()
	}
	return u, func() { s.uploads.remove(client, u) }
}

// add notes a body and returns the one that has to make room for it.
func (l *uploads) add(client string, u *upload) (oldest *upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string][]*upload{}
	}
	list := append(l.by[client], u)
	if len(list) > mostUploads {
		oldest = list[0]
		list = slices.Delete(list, 0, 1)
	}
	l.by[client] = list
	return oldest
}

func (l *uploads) remove(client string, u *upload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.by[client]
	if i := slices.Index(list, u); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if l.by[client] = list; len(list) == 0 {
		delete(l.by, client)
	}
}
