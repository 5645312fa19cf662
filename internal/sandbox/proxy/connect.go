package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Connect is the program of ssh's ProxyCommand: it connects in and out to the host and
// port in args through the proxy that the environment names, and returns when one side
// has ended. It then closes in, if possible.
func Connect(ctx context.Context, args []string, get func(string) string, in io.Reader, out io.Writer) error {
	if len(args) != 2 {
		return errors.New("connect: a host and a port are needed")
	}
	t, err := ParseTarget(net.JoinHostPort(args[0], args[1]), 0)
	if err != nil {
		return err
	}
	via, err := url.Parse(get(Variable))
	if err != nil || via.Host == "" {
		return fmt.Errorf("connect to %s: %s names no proxy", t, Variable)
	}
	conn, err := dialProxy(ctx, &net.Dialer{}, via)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", t, err)
	}
	defer conn.Close()
	tunnel, why, err := open(conn, via, t)
	if err != nil {
		return fmt.Errorf("connect to %s: %w%s", t, err, why)
	}
	go func() {
		_, _ = io.Copy(tunnel, in)
		_ = closeWrite(tunnel)
	}()
	_, err = io.Copy(out, tunnel)
	return err
}

// open asks for a tunnel. why is what the proxy says if it refuses.
func open(conn net.Conn, via *url.URL, t Target) (tunnel net.Conn, why string, err error) {
	req := connectRequest(via, t)
	if err := req.Write(conn); err != nil {
		return nil, "", err
	}
	in := bufio.NewReaderSize(conn, 4<<10)
	res, err := http.ReadResponse(in, req)
	if err != nil {
		return nil, "", err
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		if text := strings.TrimSpace(string(text)); text != "" && res.Header.Get("X-Proxy") == "lathe" {
			why = ": " + text
		}
		return nil, why, errors.New(res.Status)
	}
	return &client{Conn: conn, in: in, end: func() { conn.Close() }}, "", nil
}
