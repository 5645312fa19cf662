package gate

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Half-sent bodies of one client are bounded in number: the oldest makes room, and
// whole requests are answered meanwhile.
func TestHalfSentBodies(t *testing.T) {
	var uploads Uploads
	patience := Patience{time.Hour, time.Hour, time.Hour, time.Hour}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, done := uploads.Receive(w, r, 1<<20, patience)
		defer done()
		if _, err := io.ReadAll(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	defer srv.Close()
	defer srv.CloseClientConnections()
	var half []net.Conn
	for range mostUploads + 1 {
		c, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
		half = append(half, c)
		waitFor(t, func() bool { // until the server reads it
			uploads.mu.Lock()
			defer uploads.mu.Unlock()
			return len(uploads.by["127.0.0.1"]) >= min(len(half), mostUploads)
		})
	}
	first := make([]byte, 64)
	n, err := half[0].Read(first)
	if err != nil && !strings.Contains(err.Error(), "reset") || err == nil && !strings.Contains(string(first[:n]), " 400 ") {
		t.Errorf("the oldest: %q %v", first[:n], err)
	}
	for range 3 {
		res, err := http.Post(srv.URL, "text/plain", strings.NewReader("whole"))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("a whole request: %s", res.Status)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// waitFor polls for what another goroutine is about to do.
func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not happen")
		}
	}
}
