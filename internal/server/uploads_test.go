package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Half-sent bodies of one client are bounded in number: the oldest makes room, and
// whole requests are answered meanwhile.
func TestHalfSentBodies(t *testing.T) {
	r, _, addr := patient(t, patience{time.Hour, time.Hour, time.Hour, time.Hour})
	var half []net.Conn
	for range mostUploads + 1 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		half = append(half, c)
		waitFor(t, func() bool { // until the server reads it
			r.srv.uploads.mu.Lock()
			defer r.srv.uploads.mu.Unlock()
			return len(r.srv.uploads.by["127.0.0.1"]) >= min(len(half), mostUploads)
		})
	}
	got, err := io.ReadAll(half[0])
	if err != nil && !strings.Contains(err.Error(), "reset") || !strings.Contains(string(got), " 400 ") {
		t.Errorf("the oldest: %q %v", got, err)
	}
	for range 3 {
		if res := r.do("POST", "/session", `{"title":"whole"}`); res.status != http.StatusOK {
			t.Errorf("a whole request: %d %s", res.status, res.body)
		}
	}
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
