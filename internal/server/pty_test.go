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

	"github.com/coder/websocket"
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

// A client that breaks the rules of WebSockets, or says too much at once, is told
// so with the code for it; what it typed before counts.
func TestTerminalClosesBadClients(t *testing.T) {
	r := newRig(t)
	for name, tt := range map[string]struct {
		kind websocket.MessageType
		data []byte
		want websocket.StatusCode
	}{
		"too large":   {websocket.MessageBinary, make([]byte, ptyMessage+1), websocket.StatusMessageTooBig},
		"not text":    {websocket.MessageText, []byte("\xff\xfe"), websocket.StatusInvalidFramePayloadData},
		"the program": {websocket.MessageBinary, []byte("exit\n"), websocket.StatusNormalClosure},
	} {
		t.Run(name, func(t *testing.T) {
			id := r.ok("POST", "/pty", `{"command":"/bin/sh"}`).(map[string]any)["id"].(string)
			conn, _, err := websocket.Dial(t.Context(), r.url+"/pty/"+id+"/connect", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			if err := conn.Write(t.Context(), tt.kind, tt.data); err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, _, err = conn.Read(t.Context())
			}
			if got := websocket.CloseStatus(err); got != tt.want {
				t.Errorf("closed with %v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

// A server that ends says so to those who have a terminal open, however it ends.
func TestTerminalWhenTheServerLeaves(t *testing.T) {
	for name, leave := range map[string]func(*rig) error{
		"closed":  func(r *rig) error { return r.srv.Close() },
		"stopped": func(r *rig) error { return r.srv.Stop(t.Context(), &http.Server{}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			id := r.ok("POST", "/pty", `{"command":"/bin/sh"}`).(map[string]any)["id"].(string)
			conn, _, err := websocket.Dial(t.Context(), r.url+"/pty/"+id+"/connect", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.CloseNow()
			left := make(chan error, 1)
			go func() { left <- leave(r) }()
			for err == nil {
				_, _, err = conn.Read(t.Context())
			}
			if got := websocket.CloseStatus(err); got != websocket.StatusGoingAway {
				t.Errorf("closed with %v (%v), want 1001", got, err)
			}
			if err := <-left; err != nil {
				t.Error(err)
			}
		})
	}
}
