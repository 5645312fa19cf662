package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// join passes bytes between two connections until both ends are done or nothing passes
// for idleTime. It closes both.
func join(a, b net.Conn) {
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var wg sync.WaitGroup
	wg.Go(func() { pass(a, b, &last) })
	pass(b, a, &last)
	wg.Wait()
	a.Close()
	b.Close()
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// pass copies until its source ends, and tells its destination so. An error of either
// ends both ways.
func pass(dst, src net.Conn, last *atomic.Int64) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	for {
		_ = src.SetReadDeadline(time.Now().Add(idleTime))
		n, err := src.Read(buf[:])
		if n > 0 {
			last.Store(time.Now().UnixNano())
			if _, err := dst.Write(buf[:n]); err != nil {
				break
			}
		}
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) && time.Since(time.Unix(0, last.Load())) < idleTime {
			continue
		}
		if errors.Is(err, io.EOF) && closeWrite(dst) == nil {
			return
		}
		break
	}
	src.Close()
	dst.Close()
}

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// dialProxy connects to an HTTP proxy, over TLS if that is what it speaks.
func dialProxy(ctx context.Context, d *net.Dialer, via *url.URL) (net.Conn, error) {
	port := via.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[via.Scheme]
	}
	if port == "" {
		port = "80"
	}
	at := net.JoinHostPort(via.Hostname(), port)
	if via.Scheme == "https" {
		return (&tls.Dialer{NetDialer: d}).DialContext(ctx, "tcp", at)
	}
	return d.DialContext(ctx, "tcp", at)
}
