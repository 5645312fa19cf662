package oidc

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// maxDocument bounds what is read of an answer of the issuer.
const maxDocument = 1 << 20

// bounded makes the requests to an issuer: none of its documents is longer than it should be,
// and each is fetched at most every few seconds, whatever keys the tokens name that come in.
type bounded struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	last map[string]time.Time
}

// RoundTrip implements [http.RoundTripper].
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && !b.due(r.URL.String()) {
		return nil, errors.New("the issuer was asked for this a moment ago")
	}
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = &cutBody{res.Body, maxDocument}
	}
	return res, err
}

// due reports whether a document may be fetched again, and notes that it is.
func (b *bounded) due(url string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if last, ok := b.last[url]; ok && now.Sub(last) < rest {
		return false
	}
	b.last[url] = now // the issuer has a few documents, whose addresses no token chooses
	return true
}

// cutBody fails where a body is too long.
type cutBody struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (c *cutBody) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errors.New("the issuer's answer is too long")
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.ReadCloser.Read(p)
	c.left -= int64(n)
	return n, err
}
