// Package ws is the server side of WebSocket (RFC 6455), as much of it as a
// terminal needs: text and binary messages, pings, and an orderly close. There
// are no extensions and no subprotocols.
package ws

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Kinds of messages.
const (
	Text   = 1
	Binary = 2
)

// Codes of a close.
const (
	Normal   = 1000
	Leaving  = 1001
	Protocol = 1002
	Invalid  = 1007
	TooBig   = 1009
)

const (
	opContinue = 0
	opClose    = 8
	opPing     = 9
	opPong     = 10

	maxControl   = 125
	writeTimeout = 10 * time.Second
)

// ErrUpgrade means that a request does not ask for a WebSocket properly.
var ErrUpgrade = errors.New("the request is not a WebSocket upgrade")

// CloseError is how the other side ended the connection.
type CloseError struct {
	Code   int
	Reason string
}

// Error names the code.
func (e *CloseError) Error() string { return fmt.Sprintf("websocket closed with code %d", e.Code) }

// Conn is a connection. One goroutine may read while any number write.
type Conn struct {
	conn  net.Conn
	r     *bufio.Reader
	limit int

	mu     sync.Mutex
	closed bool
}

// Check reports why a request cannot become a WebSocket, or nil. The caller
// judges its origin first.
func Check(r *http.Request) error {
	key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-Websocket-Key"))
	switch {
	case r.Method != http.MethodGet,
		!hasToken(r.Header, "Connection", "upgrade"),
		!hasToken(r.Header, "Upgrade", "websocket"),
		r.Header.Get("Sec-Websocket-Version") != "13",
		err != nil, len(key) != 16:
		return ErrUpgrade
	}
	return nil
}

func hasToken(h http.Header, name, token string) bool {
	for _, v := range h.Values(name) {
		for t := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// Accept takes the connection of a request over. Messages of more than limit
// bytes are refused. The caller closes the connection.
func Accept(w http.ResponseWriter, r *http.Request, limit int) (*Conn, error) {
	if err := Check(r); err != nil {
		return nil, err
	}
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("take the connection over: %w", err)
	}
	_ = conn.SetDeadline(time.Time{})
	c := &Conn{conn: conn, r: rw.Reader, limit: limit}
	_ = conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		accept(r.Header.Get("Sec-Websocket-Key")))
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("answer the upgrade: %w", err)
	}
	return c, nil
}

func accept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// Read returns the next message. Pings are answered on the way. The error is a
// [*CloseError] when the other side closed properly.
func (c *Conn) Read() (kind int, msg []byte, err error) {
	for {
		f, err := readFrame(c.r, c.limit-len(msg))
		if err == nil {
			err = order(f, kind)
		}
		if err != nil {
			return 0, nil, c.fail(err)
		}
		switch f.op {
		case opPing:
			if err := c.write(opPong, f.data); err != nil {
				return 0, nil, err
			}
			continue
		case opPong:
			continue
		case opClose:
			return 0, nil, c.closing(f.data)
		case Text, Binary:
			kind = f.op
		}
		msg = append(msg, f.data...)
		if f.final {
			if kind == Text && !utf8.Valid(msg) {
				return 0, nil, c.fail(&violation{Invalid, "text that is not UTF-8"})
			}
			return kind, msg, nil
		}
	}
}

// order reports a frame that may not come now; kind is that of the message that
// is under way, or 0.
func order(f frame, kind int) error {
	switch {
	case f.op == opContinue && kind == 0:
		return &violation{Protocol, "a continuation of nothing"}
	case (f.op == Text || f.op == Binary) && kind != 0:
		return &violation{Protocol, "a message inside another"}
	}
	return nil
}

// violation is what the other side did wrong.
type violation struct {
	code int
	msg  string
}

func (v *violation) Error() string { return "websocket: " + v.msg }

// fail closes the connection with the code that fits the error.
func (c *Conn) fail(err error) error {
	if v, ok := errors.AsType[*violation](err); ok {
		_ = c.Close(v.code, v.msg)
	}
	return err
}

func (c *Conn) closing(data []byte) error {
	e := &CloseError{Code: 1005}
	switch {
	case len(data) == 1:
		return c.fail(&violation{Protocol, "half a close code"})
	case len(data) >= 2:
		e.Code, e.Reason = int(binary.BigEndian.Uint16(data)), string(data[2:])
		if !validCode(e.Code) || !utf8.ValidString(e.Reason) {
			return c.fail(&violation{Protocol, "a malformed close"})
		}
	}
	code := e.Code
	if code == 1005 {
		code = Normal
	}
	_ = c.Close(code, "")
	return e
}

func validCode(code int) bool {
	return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) || (code >= 3000 && code <= 4999)
}

// Write sends one message.
func (c *Conn) Write(kind int, msg []byte) error { return c.write(kind, msg) }

func (c *Conn) write(op int, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	head := append(make([]byte, 0, 10), byte(0x80|op))
	switch n := len(data); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	bufs := net.Buffers{head, data}
	_, err := bufs.WriteTo(c.conn)
	return err
}

// Close says why and closes the connection. Later calls do nothing.
func (c *Conn) Close(code int, reason string) error {
	if len(reason) > maxControl-2 {
		reason = strings.ToValidUTF8(reason[:maxControl-2], "")
	}
	werr := c.write(opClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return errors.Join(werr, c.conn.Close())
}

type frame struct {
	final bool
	op    int
	data  []byte
}

// readFrame reads one frame of a client, which masks what it sends. The data may
// take limit bytes.
func readFrame(r io.Reader, limit int) (frame, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{final: head[0]&0x80 != 0, op: int(head[0] & 0x0f)}
	n, err := frameLen(r, head[1]&0x7f)
	if err != nil {
		return f, err
	}
	switch {
	case head[0]&0x70 != 0:
		return f, &violation{Protocol, "reserved bits are set"}
	case f.op > Binary && f.op < opClose, f.op > opPong:
		return f, &violation{Protocol, "an unknown kind of frame"}
	case f.op >= opClose && (!f.final || n > maxControl):
		return f, &violation{Protocol, "a control frame that is split or too long"}
	case head[1]&0x80 == 0:
		return f, &violation{Protocol, "a frame that is not masked"}
	case f.op < opClose && n > uint64(max(limit, 0)):
		return f, &violation{TooBig, "a message over the limit"}
	}
	var mask [4]byte
	if _, err := io.ReadFull(r, mask[:]); err != nil {
		return f, err
	}
	f.data = make([]byte, n)
	if _, err := io.ReadFull(r, f.data); err != nil {
		return f, err
	}
	for i := range f.data {
		f.data[i] ^= mask[i%4]
	}
	return f, nil
}

func frameLen(r io.Reader, short byte) (uint64, error) {
	var ext [8]byte
	switch short {
	case 126:
		_, err := io.ReadFull(r, ext[6:])
		return binary.BigEndian.Uint64(ext[:]), err
	case 127:
		_, err := io.ReadFull(r, ext[:])
		return binary.BigEndian.Uint64(ext[:]), err
	}
	return uint64(short), nil
}
