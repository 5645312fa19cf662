package ws

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// mask returns a client's frame.
func mask(first byte, data string) []byte {
	out := []byte{first}
	switch n := len(data); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	key := [4]byte{1, 2, 3, 4}
	out = append(out, key[:]...)
	for i := range len(data) {
		out = append(out, data[i]^key[i%4])
	}
	return out
}

// pipe returns a connection that reads in and keeps what is written.
func pipe(in []byte) (*Conn, *bytes.Buffer) {
	var out bytes.Buffer
	return &Conn{conn: &half{out: &out}, r: bufio.NewReader(bytes.NewReader(in)), limit: 1 << 16}, &out
}

type half struct {
	net.Conn
	out *bytes.Buffer
}

func (h *half) Write(b []byte) (int, error)      { return h.out.Write(b) }
func (h *half) Close() error                     { return nil }
func (h *half) SetWriteDeadline(time.Time) error { return nil }

func TestRead(t *testing.T) {
	long := strings.Repeat("x", 70000)
	for _, tt := range []struct {
		name string
		in   []byte
		want string
		code int // of the violation, or of the close
	}{
		{"text", mask(0x81, "hello"), "hello", 0},
		{"empty", mask(0x81, ""), "", 0},
		{"126", mask(0x82, long[:126]), long[:126], 0},
		{"65535", mask(0x82, long[:65535]), long[:65535], 0},
		{"parts with a ping between", bytes.Join([][]byte{mask(0x01, "he"), mask(0x89, "p"), mask(0x80, "llo")}, nil), "hello", 0},
		{"too long", mask(0x82, long), "", TooBig},
		{"too long in parts", append(mask(0x02, long[:40000]), mask(0x80, long[:40000])...), "", TooBig},
		{"not masked", []byte{0x81, 1, 'x'}, "", Protocol},
		{"reserved bit", mask(0xc1, "x"), "", Protocol},
		{"unknown kind", mask(0x83, "x"), "", Protocol},
		{"split ping", mask(0x09, "x"), "", Protocol},
		{"long ping", mask(0x89, long[:126]), "", Protocol},
		{"continuation of nothing", mask(0x80, "x"), "", Protocol},
		{"message in a message", append(mask(0x01, "x"), mask(0x81, "y")...), "", Protocol},
		{"not UTF-8", mask(0x81, "\xff"), "", Invalid},
		{"half a code", mask(0x88, "x"), "", Protocol},
		{"bad code", mask(0x88, "\x03\xed"), "", Protocol},
		{"close", mask(0x88, "\x03\xe8bye"), "", 1000},
		{"close without code", mask(0x88, ""), "", 1005},
		{"huge length", []byte{0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, "", TooBig},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, out := pipe(tt.in)
			_, msg, err := c.Read()
			code := 0
			if v, ok := errors.AsType[*violation](err); ok {
				code = v.code
			} else if e, ok := errors.AsType[*CloseError](err); ok {
				code = e.Code
			} else if err != nil {
				t.Fatal(err)
			}
			if string(msg) != tt.want || code != tt.code {
				t.Errorf("got %.40q, code %d; want %.40q, code %d", msg, code, tt.want, tt.code)
			}
			if tt.code != 0 && (out.Len() < 4 || out.Bytes()[0] != 0x88) {
				t.Errorf("no close frame: %x", out.Bytes())
			}
		})
	}
}

func TestAccept(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, 1<<20)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		kind, msg, err := c.Read()
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Write(kind, msg)
		_ = c.Close(Normal, "done")
	}))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	_, _ = conn.Write(mask(0x81, "hi"))
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	// The accept value is the example of RFC 6455, section 1.3.
	if !bytes.Contains(got, []byte("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")) {
		t.Errorf("handshake: %q", got)
	}
	if !bytes.HasSuffix(got, []byte("\x81\x02hi\x88\x06\x03\xe8done")) {
		t.Errorf("frames: %q", got)
	}
}

func TestCheck(t *testing.T) {
	good := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-Websocket-Version": "13", "Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	request := func(change, to string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for k, v := range good {
			r.Header.Set(k, v)
		}
		if change != "" {
			r.Header.Set(change, to)
		}
		return r
	}
	if err := Check(request("", "")); err != nil {
		t.Error(err)
	}
	for name := range good {
		if err := Check(request(name, "x")); !errors.Is(err, ErrUpgrade) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// However the bytes are, reading ends, allocates no more than was sent, and
// answers with well-formed frames.
func FuzzRead(f *testing.F) {
	f.Add(mask(0x81, "hello"))
	f.Add(append(mask(0x01, "he"), mask(0x80, "llo")...))
	f.Add(mask(0x88, "\x03\xe8bye"))
	f.Add([]byte{0x82, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, in []byte) {
		c, out := pipe(in)
		for range 1000 {
			_, msg, err := c.Read()
			if err != nil {
				break
			}
			if len(msg) > len(in) {
				t.Fatalf("%d bytes from %d", len(msg), len(in))
			}
		}
		for b := out.Bytes(); len(b) > 0; {
			if len(b) < 2 || b[0]&0x70 != 0 || b[1] > maxControl || len(b) < 2+int(b[1]) {
				t.Fatalf("malformed answer %x", b)
			}
			b = b[2+int(b[1]):]
		}
	})
}
