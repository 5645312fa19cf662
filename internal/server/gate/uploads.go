package gate

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// mostUploads is how many bodies of one client may be on their way at once. One
	// more replaces the oldest: clients that send whole bodies are not held up by
	// those that send halves.
	mostUploads = 64
	// Leftover is how long to wait for the part of a body that no handler has read.
	Leftover = time.Second
)

// Patience is how long clients may take to send a header, to send a body, to say
// nothing between requests, and to send nothing in the midst of a body.
type Patience struct{ Header, Body, Idle, Stall time.Duration }

// Uploads are the bodies that are being received, by client, the oldest first.
type Uploads struct {
	mu sync.Mutex
	by map[string][]*upload
}

// upload is a body on its way. Reading from it gives up when nothing comes for a
// while, when the whole takes too long, or when it was cut off.
type upload struct {
	io.Reader
	deadline func(time.Time)
	patience Patience
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
	next := time.Now().Add(u.patience.Stall)
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

// Receive returns the body of a request, of at most limit bytes, and what must be
// called once it is read. Reading fails when the client is slower than patience has it,
// or when it sends too many bodies at once and this one is the oldest.
func (l *Uploads) Receive(w http.ResponseWriter, r *http.Request, limit int64, p Patience) (body io.Reader, done func()) {
	rc := http.NewResponseController(w)
	u := &upload{
		Reader: http.MaxBytesReader(w, r.Body, limit), patience: p, until: time.Now().Add(p.Body),
		deadline: func(t time.Time) { _ = rc.SetReadDeadline(t) },
	}
	client := clientOf(r.RemoteAddr)
	if oldest := l.add(client, u); oldest != nil {
		oldest.end()
	}
	return u, func() { l.remove(client, u) }
}

// add notes a body and returns the one that has to make room for it.
func (l *Uploads) add(client string, u *upload) (oldest *upload) {
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

func (l *Uploads) remove(client string, u *upload) {
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
