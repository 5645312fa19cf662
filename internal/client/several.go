package client

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"lathe"
)

// nextAddress is where another address begins in a list.
var nextAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`,\s*(?:https?://|unix:)`) })

// SplitAddresses returns the addresses of a list: http://a:4096,http://b:4096.
func SplitAddresses(list string) (all []string) {
	for {
		at := nextAddress().FindStringIndex(list)
		if at == nil {
			return append(all, list)
		}
		all, list = append(all, list[:at[0]]), strings.TrimSpace(list[at[0]+1:])
	}
}

// several is the way to servers that share a store, one at a time. When one is gone, or takes
// nothing, the next one is tried. It may be used concurrently.
type several struct {
	places []*place

	mu sync.Mutex
	at int
}

// place is one of the servers.
type place struct {
	name           string // as it is shown
	base           *url.URL
	user, password string // those of the address; "": the same for all
	transport      http.RoundTripper
}

// dialTime is how long a server may take to take a connection before the next one is tried.
const dialTime = 5 * time.Second

func newSeveral(addresses []string) (*several, error) {
	s := &several{}
	for _, address := range addresses {
		dialer := &net.Dialer{Timeout: dialTime}
		p := &place{name: Shown(address), base: &url.URL{Scheme: "http", Host: "localhost"}}
		if path, ok := strings.CutPrefix(address, "unix:"); ok {
			p.transport = socket(path)
			s.places = append(s.places, p)
			continue
		}
		u, err := parse(address)
		if err != nil {
			return nil, err
		}
		p.user = u.User.Username()
		p.password, _ = u.User.Password()
		u.User = nil
		p.base = u
		p.transport = &http.Transport{Proxy: nil, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, DialContext: dialer.DialContext}
		s.places = append(s.places, p)
	}
	return s, nil
}

// parse reads the address of a server that is reached over TCP.
func parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "it looks like http://127.0.0.1:4096 or unix:/path", "%q is not the address of a server", Shown(address))
	}
	return u, nil
}

// current returns the place that is called now, and its number.
func (s *several) current() (int, *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at, s.places[s.at]
}

// Server returns the address that is called now, as it is shown.
func (s *several) Server() string {
	_, p := s.current()
	return p.name
}

// leave goes on to the next place, unless somebody has already.
func (s *several) leave(from int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == from {
		s.at = (s.at + 1) % len(s.places)
	}
}

// Leave goes on to the next place: the one that is called now says nothing any more.
func (s *several) Leave() {
	at, p := s.current()
	p.close()
	s.leave(at)
}

func (p *place) close() {
	if t, ok := p.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// CloseIdleConnections ends those of all places.
func (s *several) CloseIdleConnections() {
	for _, p := range s.places {
		p.close()
	}
}

// RoundTrip implements [http.RoundTripper]. What a server may have begun is not asked of
// another one: the caller decides about that.
func (s *several) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	for range s.places {
		at, p := s.current()
		if resp != nil {
			_ = resp.Body.Close()
		}
		out, err2 := p.request(r)
		if err2 != nil {
			return nil, err2
		}
		resp, err = p.transport.RoundTrip(out)
		switch {
		case r.Context().Err() != nil, err == nil && !refuses(r, resp):
			return resp, err
		}
		s.leave(at)
		if err != nil && !harmless(r, err) {
			return nil, err
		}
	}
	return resp, err
}

// request returns a request as it is sent to a place.
func (p *place) request(r *http.Request) (*http.Request, error) {
	out := r.Clone(r.Context())
	u := *r.URL
	u.Scheme, u.Host = p.base.Scheme, p.base.Host
	if prefix := strings.TrimRight(p.base.Path, "/"); prefix != "" {
		u.Path, u.RawPath = prefix+u.Path, ""
		if r.URL.RawPath != "" {
			u.RawPath = strings.TrimRight(p.base.EscapedPath(), "/") + r.URL.RawPath
		}
	}
	out.URL, out.Host = &u, ""
	if p.password != "" {
		out.SetBasicAuth(p.user, p.password)
	}
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	return out, nil
}

// refuses reports whether an answer is that of a server that takes nothing at the moment, or of
// a proxy without one.
func refuses(r *http.Request, resp *http.Response) bool {
	return resp.StatusCode == http.StatusServiceUnavailable || byProxy(resp) && reads(r)
}

// harmless reports whether a request that failed can have done nothing.
func harmless(r *http.Request, err error) bool {
	op, dialing := errors.AsType[*net.OpError](err)
	return reads(r) || dialing && op.Op == "dial"
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// server returns where the next request goes, as it is shown; "" if there is one place only.
func (c *conn) server() string {
	if s, ok := c.transport.(*several); ok {
		return s.Server()
	}
	return ""
}

// silent is told that a server says nothing any more, so that the next request goes elsewhere.
func (c *conn) silent() {
	if s, ok := c.transport.(*several); ok {
		s.Leave()
		return
	}
	c.Close()
}
