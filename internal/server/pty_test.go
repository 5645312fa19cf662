package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// masked returns a short text frame of a client.
func masked(text string) []byte {
	key := [4]byte{7, 1, 9, 3}
	out := append([]byte{0x81, 0x80 | byte(len(text))}, key[:]...)
	for i := range len(text) {
		out = append(out, text[i]^key[i%4])
	}
	return out
}

// A terminal is typed into and read over a WebSocket, which closes with 1000
// when its program ends.
func TestTerminalOverWebSocket(t *testing.T) {
	r := newRig(t)
	id := r.ok("POST", "/pty", `{"command":"/bin/sh","title":"t"}`).(map[string]any)["id"].(string)
	c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET /pty/%s/connect HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", id)
	br := bufio.NewReader(c)
	resp, err := http.ReadResponse(br, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("handshake: %v %v", resp, err)
	}
	_, _ = c.Write(masked("echo wor''ks\n"))
	_, _ = c.Write(masked("exit\n"))
	got, err := io.ReadAll(br)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got, []byte("works")) || !bytes.HasSuffix(got, []byte("\x88\x02\x03\xe8")) {
		t.Errorf("frames %q", got)
	}
	if res := r.do("GET", "/pty/pty_none/connect", ""); res.status != 404 {
		t.Errorf("unknown terminal: %d", res.status)
	}
}
