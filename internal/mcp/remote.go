package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
)

// dialRemote reaches a server by Streamable HTTP, or by the older SSE if it does not
// know that.
func (s *server) dialRemote(ctx context.Context, version string) (*conn, *Known, error) {
	at, err := url.Parse(s.conf.URL)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
		return nil, nil, fmt.Errorf("the address %q is not one of http or https", Where(s.conf))
	}
	client := s.httpClient(at)
	streamable := &mcp.StreamableClientTransport{Endpoint: s.conf.URL, HTTPClient: client, MaxEventSize: maxMessage}
	if s.conf.OAuth.Off || s.set.o.Logins == nil {
		client.Transport.(*carrier).refuse = true
	} else {
		streamable.OAuthHandler = s.set.o.Logins.handler(s.conf)
	}
	c, known, err := s.open(ctx, streamable, version, nil)
	if err == nil || isLogin(err) || ctx.Err() != nil || !olderTransport(err) {
		return c, known, wordLogin(err)
	}
	old := &mcp.SSEClientTransport{Endpoint: s.conf.URL, HTTPClient: client, MaxEventSize: maxMessage}
	if streamable.OAuthHandler != nil {
		client.Transport.(*carrier).login(streamable.OAuthHandler)
	}
	c, known, again := s.open(ctx, newLasting(s.set.ctx, old), legacy, nil)
	if again != nil {
		return nil, nil, wordLogin(errors.Join(err, again))
	}
	return c, known, nil
}

// lasting wraps a transport whose connection would end with the context that it was
// made with, so that it lives on.
type lasting struct {
	mcp.Transport
	life context.Context
	end  context.CancelFunc
}

func newLasting(life context.Context, t mcp.Transport) *lasting {
	l := &lasting{Transport: t}
	l.life, l.end = context.WithCancel(life)
	return l
}

// Connect connects; the end of ctx ends only the attempt, not the connection.
func (l *lasting) Connect(ctx context.Context) (mcp.Connection, error) {
	stop := context.AfterFunc(ctx, l.end)
	defer stop()
	return l.Transport.Connect(l.life)
}

// olderTransport reports whether a failure may come from a server that knows only
// the older transport.
func olderTransport(err error) bool {
	text := err.Error()
	for _, status := range []string{"Not Found", "Method Not Allowed", "Bad Request", "Not Acceptable", "Unsupported Media Type", "405", "404", "400"} {
		if strings.Contains(text, status) {
			return true
		}
	}
	return false
}

// wordLogin turns a login error into a clear refusal, for a server that cannot be logged in to.
func wordLogin(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*LoginError](err); ok {
		return e
	}
	if e, ok := errors.AsType[*refusedError](err); ok {
		return e
	}
	return err
}

// refusedError means that a server refuses requests, and lathe cannot log in to it.
type refusedError struct{ status string }

func (e *refusedError) Error() string {
	return "the server refuses the request (" + e.status + "); check its headers in the configuration"
}

// httpClient returns the HTTP client for one server.
func (s *server) httpClient(at *url.URL) *http.Client {
	base := s.set.o.HTTP
	if base == nil {
		base = http.DefaultClient
	}
	next := base.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{Transport: &carrier{next: next, origin: at.Scheme + "://" + at.Host, headers: s.conf.Headers}}
}

// carrier adds the configured headers to requests to the configured address, and
// limits the size of responses.
type carrier struct {
	next    http.RoundTripper
	origin  string
	headers map[string]string
	refuse  bool // a login is not possible: say so if one is required
	tokens  tokenSource
}

// tokenSource gives the value of the Authorization header, or "".
type tokenSource func(ctx context.Context) (string, error)

// RoundTrip carries a request.
func (c *carrier) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme+"://"+req.URL.Host == c.origin {
		req = req.Clone(req.Context())
		req.Header.Set("User-Agent", "lathe/"+lathe.Version)
		for name, value := range c.headers {
			req.Header.Set(name, value)
		}
		if c.tokens != nil {
			token, err := c.tokens(req.Context())
			if err != nil {
				return nil, err
			}
			if token != "" {
				req.Header.Set("Authorization", token)
			}
		}
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if c.refuse && resp.StatusCode == http.StatusUnauthorized {
		_ = resp.Body.Close()
		return nil, &refusedError{resp.Status}
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = &bounded{resp.Body, maxMessage}
	}
	return resp, nil
}

// bounded is a body that ends in an error if it is too long. In event streams the
// limit applies to each event.
type bounded struct {
	io.ReadCloser
	left int
}

// Read reads the next piece.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
