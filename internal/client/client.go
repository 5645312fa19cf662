// Package client calls lathe's HTTP interface: over TCP, over a unix socket, or
// within the process through the server's handler. It speaks the vocabulary of
// package lathe; the wire form is that of internal/opencode/wire. Every face of
// lathe's own works through it, local or attached.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lathe"
	"lathe/internal/opencode/wire"
)

// answerLimit bounds an answer, eventLimit one event.
const (
	answerLimit = 256 << 20
	eventLimit  = 64 << 20
)

// Options say which server to call, and how.
type Options struct {
	// URL is http://host:port, https://… or unix:/path, or several of them with commas between:
	// servers that share a store, of which one is called until it is gone.
	URL string
	// Find, when set, names the server again for each connection; see [Running].
	Find func(ctx context.Context) (Running, error)
	// Transport replaces the connection that URL names; see [InProcess].
	Transport http.RoundTripper
	// Source, if the server is in the same process, passes events, messages and outcomes on directly.
	Source         Source
	User, Password string // for a server that asks for them
	Dir            string // directory that requests are about; empty: the server's own
	// Resend is how long a prompt is sent again while the server is not reached; 10 s
	// when zero, not at all when negative.
	Resend time.Duration
}

// Client calls a server. Its calls are those of the groups that it is made of. It is
// safe for concurrent use.
type Client struct {
	*conn
	sessions
	turns
	asks
	jobs
	servers
	directory
	logins
	plugins
	trust
	worktrees
}

func newClient(c *conn) *Client {
	return &Client{c, sessions{c}, turns{c}, asks{c}, jobs{c}, servers{c}, directory{c}, logins{c}, plugins{c}, trust{c}, worktrees{c}}
}

type (
	// sessions are the calls about sessions, one or all of them.
	sessions struct{ *conn }
	// turns are the calls about what a session does and says.
	turns struct{ *conn }
	// asks are the calls about what waits for a person, and what a person allowed.
	asks struct{ *conn }
	// jobs are the calls about processes that live on.
	jobs struct{ *conn }
	// servers are the calls about MCP servers.
	servers struct{ *conn }
	// directory are the calls about what a directory is equipped with.
	directory struct{ *conn }
	// logins are the calls about keys, tokens and other ways into providers.
	logins struct{ *conn }
	// plugins are the calls about plugins, custom tools and hooks.
	plugins struct{ *conn }
	// trust are the calls about which repositories may steer lathe.
	trust struct{ *conn }
	// worktrees are the calls about the worktrees that lathe made.
	worktrees struct{ *conn }
)

// conn is the way to a server, for requests about one directory.
type conn struct {
	base, user, password, dir string
	transport                 http.RoundTripper
	source                    Source
	patience                  time.Duration // without a sign of life
	resend                    time.Duration
	prompts                   *prompts
}

// New returns a client. It connects with the first call.
func New(o Options) (*Client, error) {
	c := &conn{user: o.User, password: o.Password, dir: o.Dir, transport: o.Transport, source: o.Source, patience: silence, prompts: newPrompts(), resend: cmp.Or(o.Resend, resend)}
	if c.user == "" {
		c.user = "opencode"
	}
	if o.Find != nil {
		c.base, c.transport = "http://localhost", wandering(o.Find)
		return newClient(c), nil
	}
	if list := SplitAddresses(o.URL); len(list) > 1 && o.Transport == nil {
		s, err := newSeveral(list)
		if err != nil {
			return nil, err
		}
		c.base, c.transport = "http://localhost", s
		return newClient(c), nil
	}
	if path, ok := strings.CutPrefix(o.URL, "unix:"); ok {
		c.base = "http://localhost"
		if o.Transport == nil {
			c.transport = socket(path)
		}
		return newClient(c), nil
	}
	u, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	if u.User != nil {
		c.user = u.User.Username()
		c.password, _ = u.User.Password()
		u.User = nil
	}
	c.base = strings.TrimRight(u.String(), "/")
	if o.Transport == nil {
		c.transport = &http.Transport{Proxy: nil, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	}
	return newClient(c), nil
}

// Shown returns an address, or several, without the passwords that they may hold.
func Shown(address string) string {
	if list := SplitAddresses(address); len(list) > 1 {
		for i, one := range list {
			list[i] = Shown(one)
		}
		return strings.Join(list, ",")
	}
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	scheme, _, ok := strings.Cut(address, "://")
	if !ok {
		return "…" + address[at:]
	}
	return scheme + "://…" + address[at:]
}

// socket connects to a unix socket, if it is one of the same user.
func socket(path string) http.RoundTripper {
	return &http.Transport{
		IdleConnTimeout: time.Minute,
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dialSocket(ctx, path) },
	}
}

func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if !samePeer(conn) {
		return nil, errors.Join(fmt.Errorf("socket %s belongs to another user", path), conn.Close())
	}
	return conn, nil
}

// wandering connects to a server that may be another one each time.
func wandering(find func(context.Context) (Running, error)) http.RoundTripper {
	return &http.Transport{
		IdleConnTimeout: time.Minute,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			r, err := find(ctx)
			if err != nil {
				return nil, err
			}
			if r.Socket != "" {
				return dialSocket(ctx, r.Socket)
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(r.URL, "http://"))
		},
	}
}

// Dir returns the directory that requests are about; empty is the server's own.
func (c *conn) Dir() string { return c.dir }

// In returns the client for requests about another directory.
func (c *Client) In(dir string) *Client {
	other := *c.conn
	other.dir = dir
	return newClient(&other)
}

// Close ends idle connections.
func (c *conn) Close() {
	if t, ok := c.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// ErrUnreachable means that no answer came: the server is not there, or the
// connection broke.
var ErrUnreachable = errors.New("the server cannot be reached")

// request starts a call. The caller closes the body of the answer.
func (c *conn) request(ctx context.Context, method, path string, query url.Values, body any, header ...string) (*http.Response, error) {
	var in io.Reader
	if body != nil {
		raw, err := wire.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(raw)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.dir != "" {
		req.Header.Set("X-Opencode-Directory", url.PathEscape(c.dir))
	}
	if c.password != "" {
		req.SetBasicAuth(c.user, c.password)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		var local *localError
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &local):
			return nil, local.error
		}
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		err := failed(resp)
		// Another server may be there in a moment, also where this one stops.
		if byProxy(resp) || resp.StatusCode == http.StatusServiceUnavailable && !cannotStore(lathe.CodeOf(err)) {
			err = c.unreachable(err)
		}
		return nil, err
	}
	return resp, nil
}

// byProxy reports whether an answer is that of a proxy whose server is gone: one of lathe's names
// its request.
func byProxy(resp *http.Response) bool {
	gone := resp.StatusCode == http.StatusBadGateway || resp.StatusCode == http.StatusGatewayTimeout
	return gone && resp.Header.Get("X-Request-Id") == ""
}

func (c *conn) unreachable(cause error) error {
	return &lathe.Error{
		Code: lathe.CodeInvalid, Msg: ErrUnreachable.Error(), Hint: "is it running? start one with: lathe serve",
		Cause: &unreachable{cause},
	}
}

// unreachable is an [ErrUnreachable] that says why.
type unreachable struct{ cause error }

func (u *unreachable) Error() string        { return u.cause.Error() }
func (u *unreachable) Unwrap() error        { return u.cause }
func (u *unreachable) Is(target error) bool { return target == ErrUnreachable }

// codes are the codes of errors by the name that the server gives them.
var codes = map[string]lathe.Code{
	"NotFoundError": lathe.CodeNotFound, "SessionBusyError": lathe.CodeBusy, "ProviderAuthError": lathe.CodeAuth,
	"APIError": lathe.CodeProvider, "PermissionDeniedError": lathe.CodePermission, "LimitError": lathe.CodeLimit,
	"MessageAbortedError": lathe.CodeAborted, "StorageFullError": lathe.CodeFull, "StorageReadOnlyError": lathe.CodeReadOnly,
	"StorageUnavailableError": lathe.CodeUnavailable,
}

// cannotStore reports whether a server that answers so is there and cannot store.
func cannotStore(code lathe.Code) bool {
	return code == lathe.CodeFull || code == lathe.CodeReadOnly || code == lathe.CodeUnavailable
}

// failed turns a refusal into an error with the code it came from.
func failed(resp *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var in struct {
		Name           string
		State, Message string // of its health
		Data           struct{ Message, Hint string }
	}
	code := lathe.CodeInternal
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusNotImplemented:
		code = lathe.CodeInvalid
	case http.StatusNotFound:
		code = lathe.CodeNotFound
	case http.StatusForbidden:
		code = lathe.CodePermission
	case http.StatusUnauthorized:
		return lathe.Errorf(lathe.CodeAuth, "set LATHE_SERVER_PASSWORD, or write the address as http://user:password@host", "the server asks for a password")
	}
	err := json.Unmarshal(raw, &in)
	if state := lathe.Code(in.State); err == nil && cannotStore(state) {
		return lathe.Errorf(state, "", "%s", in.Message)
	}
	if err != nil || in.Data.Message == "" {
		return lathe.Errorf(code, "", "the server answers %s", resp.Status)
	}
	if c, ok := codes[in.Name]; ok {
		code = c
	}
	return &lathe.Error{Code: code, Msg: in.Data.Message, Hint: in.Data.Hint}
}

// call is request for an answer that is read whole.
func (c *conn) call(ctx context.Context, method, path string, query url.Values, body any) ([]byte, error) {
	resp, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, c.unreachable(fmt.Errorf("read the server's answer: %w", err))
	case len(raw) > answerLimit:
		return nil, fmt.Errorf("the server's answer is larger than %d bytes", answerLimit)
	}
	return raw, nil
}

// get is call for an answer that is decoded.
func get[T any](ctx context.Context, c *conn, path string, query url.Values, decode func([]byte) (T, error)) (T, error) {
	raw, err := c.call(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		var none T
		return none, err
	}
	return decode(raw)
}

// post is get for a call that changes something.
func post[T any](ctx context.Context, c *conn, path string, body any, decode func([]byte) (T, error)) (T, error) {
	raw, err := c.call(ctx, http.MethodPost, path, nil, body)
	if err != nil {
		var none T
		return none, err
	}
	return decode(raw)
}

// plain decodes JSON whose names are those of the fields.
func plain[T any](raw []byte) (T, error) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("read the server's answer: %w", err)
	}
	return v, nil
}

func list[T any](decode func([]byte) (T, error)) func([]byte) ([]T, error) {
	return func(raw []byte) ([]T, error) {
		items, err := plain[[]json.RawMessage](raw)
		if err != nil {
			return nil, err
		}
		out := make([]T, 0, len(items))
		for _, item := range items {
			v, err := decode(item)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
}

func sessionPath(id lathe.SessionID) string { return "/session/" + url.PathEscape(string(id)) }

// Health returns the version of the server. A server that cannot store anything
// at the moment still counts as there: it shows what it has, but reports no
// version.
func (c *conn) Health(ctx context.Context) (string, error) {
	in, err := get(ctx, c, "/global/health", nil, plain[struct{ Version string }])
	if cannotStore(lathe.CodeOf(err)) {
		return "", nil
	}
	return in.Version, err
}
