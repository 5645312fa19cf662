package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// SOCKS5 is RFC 1928, with user names by RFC 1929.
const (
	socksVersion  = 5
	socksConnect  = 1
	socksOpen     = 0    // no credentials
	socksPassword = 2    // a user name and a password
	socksNone     = 0xff // no acceptable method
)

// Replies of SOCKS5.
const (
	socksOK byte = iota
	socksFailed
	socksRefused
	socksNoNetwork
	socksNoHost
	socksNoServer
	socksLate
	socksNoCommand
	socksNoAddress
)

// socks serves a connection that speaks SOCKS5.
func (p *Proxy) socks(c *client) {
	door, t, reply := hello(c, c, c.who)
	if reply != socksOK {
		if door != nil {
			_ = answerSOCKS(c, reply)
		}
		return
	}
	_ = c.SetDeadline(time.Time{})
	ctx := door.ctx
	to, err := door.admit(ctx, t, false)
	var out net.Conn
	if err == nil {
		out, err = door.connect(ctx, to)
	}
	if err != nil {
		_ = answerSOCKS(c, replyTo(err))
		return
	}
	if answerSOCKS(c, socksOK) != nil {
		out.Close()
		return
	}
	join(c, out)
}

// hello reads who a client is and what it wants. The door is nil if the client
// cannot be answered any further.
func hello(in io.Reader, out io.Writer, who func(string) *Door) (*Door, Target, byte) {
	door, err := greet(in, out, who)
	if err != nil || door == nil {
		return nil, Target{}, socksFailed
	}
	t, reply := readSOCKS(in)
	return door, t, reply
}

// greet agrees on how the client says who it is.
func greet(in io.Reader, out io.Writer, who func(string) *Door) (*Door, error) {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(in, methods); err != nil || head[0] != socksVersion {
		return nil, errors.Join(err, errTarget)
	}
	open := who("")
	switch {
	case open != nil && slices.Contains(methods, socksOpen):
		_, err := out.Write([]byte{socksVersion, socksOpen})
		return open, err
	case !slices.Contains(methods, socksPassword):
		_, err := out.Write([]byte{socksVersion, socksNone})
		return nil, err
	}
	if _, err := out.Write([]byte{socksVersion, socksPassword}); err != nil {
		return nil, err
	}
	name, err := readCredentials(in)
	if err != nil {
		return nil, err
	}
	door := who(name)
	if door == nil {
		_, err := out.Write([]byte{1, 1})
		return nil, err
	}
	_, err = out.Write([]byte{1, 0})
	return door, err
}

func readCredentials(in io.Reader) (name string, err error) {
	var version [1]byte
	if _, err := io.ReadFull(in, version[:]); err != nil {
		return "", err
	}
	user, err := readShort(in)
	if err != nil {
		return "", err
	}
	_, err = readShort(in) // the password: the name alone is the secret
	return string(user), err
}

// readShort reads a text of up to 255 bytes after its length.
func readShort(in io.Reader) ([]byte, error) {
	var n [1]byte
	if _, err := io.ReadFull(in, n[:]); err != nil {
		return nil, err
	}
	text := make([]byte, n[0])
	_, err := io.ReadFull(in, text)
	return text, err
}

// readSOCKS reads a request. Only connections are supported: a listener or UDP is refused.
func readSOCKS(in io.Reader) (Target, byte) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil || head[0] != socksVersion {
		return Target{}, socksFailed
	}
	host, err := readHost(in, head[3])
	if err != nil {
		if errors.Is(err, errTarget) {
			return Target{}, socksNoAddress
		}
		return Target{}, socksFailed
	}
	var port [2]byte
	if _, err := io.ReadFull(in, port[:]); err != nil {
		return Target{}, socksFailed
	}
	if head[1] != socksConnect {
		return Target{}, socksNoCommand
	}
	t, err := NewTarget(host, uint16(port[0])<<8|uint16(port[1]))
	if err != nil {
		return Target{}, socksNoAddress
	}
	return t, socksOK
}

func readHost(in io.Reader, kind byte) (string, error) {
	size := map[byte]int{1: 4, 4: 16}[kind]
	switch {
	case kind == 3:
		name, err := readShort(in)
		return string(name), err
	case size == 0:
		return "", fmt.Errorf("address of kind %d: %w", kind, errTarget)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(in, raw); err != nil {
		return "", err
	}
	ip, _ := netip.AddrFromSlice(raw)
	return ip.String(), nil
}

func answerSOCKS(out io.Writer, reply byte) error {
	_, err := out.Write([]byte{socksVersion, reply, 0, 1, 0, 0, 0, 0, 0, 0})
	return err
}

// replyTo is how SOCKS5 says why a target was not reached.
func replyTo(err error) byte {
	var timeout interface{ Timeout() bool }
	_, refused := errors.AsType[*Refused](err)
	switch {
	case refused:
		return socksRefused
	case errors.Is(err, syscall.ECONNREFUSED):
		return socksNoServer
	case errors.Is(err, syscall.ENETUNREACH):
		return socksNoNetwork
	case errors.As(err, &timeout) && timeout.Timeout():
		return socksLate
	}
	return socksNoHost
}
