// Package client calls lathe's HTTP interface: over TCP, over a unix socket, or
// within the process through the server's handler. It speaks the vocabulary of
// package lathe; the wire form is that of internal/opencode/wire.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/sse"
)

// answerLimit bounds an answer, eventLimit one event.
const (
	answerLimit = 256 << 20
	eventLimit  = 64 << 20
)

// Options say which server to call, and how.
type Options struct {
	// URL is http://host:port, https://… or unix:/path.
	URL string
	// Transport replaces the connection that URL names; see [InProcess].
	Transport      http.RoundTripper
	User, Password string // for a server that asks for them
	Dir            string // directory that requests are about; empty: the server's own
}

// Client calls a server. It is safe for concurrent use.
type Client struct {
	base, user, password, dir string
	http                      *http.Client
}

// New returns a client. It connects with the first call.
func New(o Options) (*Client, error) {
	c := &Client{user: o.User, password: o.Password, dir: o.Dir, http: &http.Client{Transport: o.Transport}}
	if c.user == "" {
		c.user = "opencode"
	}
	if path, ok := strings.CutPrefix(o.URL, "unix:"); ok {
		c.base = "http://localhost"
		if o.Transport == nil {
			c.http.Transport = socket(path)
		}
		return c, nil
	}
	u, err := url.Parse(o.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, lathe.Errorf(lathe.CodeInvalid, "it looks like http://127.0.0.1:4096 or unix:/path", "%q is not the address of a server", o.URL)
	}
	if u.User != nil {
		c.user = u.User.Username()
		c.password, _ = u.User.Password()
		u.User = nil
	}
	c.base = strings.TrimRight(u.String(), "/")
	if o.Transport == nil {
		c.http.Transport = &http.Transport{Proxy: nil, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	}
	return c, nil
}

func socket(path string) http.RoundTripper {
	return &http.Transport{
		IdleConnTimeout: time.Minute,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request starts a call. The caller closes the body of the answer.
func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any, header ...string) (*http.Response, error) {
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
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &lathe.Error{Code: lathe.CodeInvalid, Msg: "the server cannot be reached", Hint: "is it running? start one with: lathe serve", Cause: err}
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, failed(resp)
	}
	return resp, nil
}

// failed turns a refusal into an error with the code it came from.
func failed(resp *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var in struct {
		Name string
		Data struct{ Message, Hint string }
	}
	code := lathe.CodeInternal
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusNotImplemented:
		code = lathe.CodeInvalid
	case http.StatusNotFound:
		code = lathe.CodeNotFound
	case http.StatusConflict:
		code = lathe.CodeBusy
	case http.StatusTooManyRequests:
		code = lathe.CodeLimit
	case http.StatusForbidden:
		code = lathe.CodePermission
	case http.StatusBadGateway:
		code = lathe.CodeProvider
	case http.StatusUnauthorized:
		return lathe.Errorf(lathe.CodeAuth, "set LATHE_SERVER_PASSWORD", "the server asks for a password")
	}
	if err := json.Unmarshal(raw, &in); err != nil || in.Data.Message == "" {
		return lathe.Errorf(code, "", "the server answers %s", resp.Status)
	}
	if in.Name == "MessageAbortedError" {
		code = lathe.CodeAborted
	}
	return &lathe.Error{Code: code, Msg: in.Data.Message, Hint: in.Data.Hint}
}

// call is request for an answer that is read whole.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body any) ([]byte, error) {
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
		return nil, fmt.Errorf("read the server's answer: %w", err)
	case len(raw) > answerLimit:
		return nil, fmt.Errorf("the server's answer is larger than %d bytes", answerLimit)
	}
	return raw, nil
}

func list[T any](raw []byte, decode func([]byte) (T, error)) ([]T, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
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

func sessionPath(id lathe.SessionID) string { return "/session/" + url.PathEscape(string(id)) }

// Health returns the version of the server.
func (c *Client) Health(ctx context.Context) (string, error) {
	raw, err := c.call(ctx, http.MethodGet, "/global/health", nil, nil)
	if err != nil {
		return "", err
	}
	var in struct{ Version string }
	if err := json.Unmarshal(raw, &in); err != nil {
		return "", fmt.Errorf("read the server's answer: %w", err)
	}
	return in.Version, nil
}

// Create makes a session.
func (c *Client) Create(ctx context.Context, in wire.SessionRequest) (lathe.Session, error) {
	raw, err := c.call(ctx, http.MethodPost, "/session", nil, wire.EncodeSessionRequest(in))
	if err != nil {
		return lathe.Session{}, err
	}
	return wire.DecodeSession(raw)
}

// Get returns a session.
func (c *Client) Get(ctx context.Context, id lathe.SessionID) (lathe.Session, error) {
	raw, err := c.call(ctx, http.MethodGet, sessionPath(id), nil, nil)
	if err != nil {
		return lathe.Session{}, err
	}
	return wire.DecodeSession(raw)
}

// List returns the newest sessions of the client's directory that have no parent.
func (c *Client) List(ctx context.Context, limit int) ([]lathe.Session, error) {
	q := url.Values{"roots": {"true"}}
	if limit > 0 {
		q.Set("limit", fmt.Sprint(limit))
	}
	if c.dir != "" {
		q.Set("directory", c.dir)
	}
	raw, err := c.call(ctx, http.MethodGet, "/session", q, nil)
	if err != nil {
		return nil, err
	}
	return list(raw, wire.DecodeSession)
}

// Delete removes a session and all that belongs to it.
func (c *Client) Delete(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodDelete, sessionPath(id), nil, nil)
	return err
}

// Messages returns the newest messages of a session, oldest first; 0 means all.
func (c *Client) Messages(ctx context.Context, id lathe.SessionID, limit int) ([]lathe.Message, error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", fmt.Sprint(limit))
	}
	raw, err := c.call(ctx, http.MethodGet, sessionPath(id)+"/message", q, nil)
	if err != nil {
		return nil, err
	}
	return list(raw, wire.DecodeMessage)
}

// Prompt sends a prompt and returns when it is stored; events tell the rest.
func (c *Client) Prompt(ctx context.Context, id lathe.SessionID, p wire.PromptRequest) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/prompt_async", nil, wire.EncodePrompt(p))
	return err
}

// Abort ends the turn of a session and returns when that is recorded.
func (c *Client) Abort(ctx context.Context, id lathe.SessionID) error {
	_, err := c.call(ctx, http.MethodPost, sessionPath(id)+"/abort", nil, nil)
	return err
}

// Reply answers a permission ask.
func (c *Client) Reply(ctx context.Context, id lathe.AskID, r lathe.Reply) error {
	body := map[string]string{"reply": string(r.Kind)}
	if r.Message != "" {
		body["message"] = r.Message
	}
	_, err := c.call(ctx, http.MethodPost, "/permission/"+url.PathEscape(string(id))+"/reply", nil, body)
	return err
}

// Answer answers a question; nil dismisses it.
func (c *Client) Answer(ctx context.Context, id lathe.AskID, answers [][]string) error {
	path := "/question/" + url.PathEscape(string(id))
	if answers == nil {
		_, err := c.call(ctx, http.MethodPost, path+"/reject", nil, nil)
		return err
	}
	_, err := c.call(ctx, http.MethodPost, path+"/reply", nil, map[string]any{"answers": answers})
	return err
}

// Events yields the events of the client's directory from when the stream is
// open, which the first pair says: it has neither event nor error. A stream that
// breaks is resumed; when events were lost meanwhile that is [ErrLost].
func (c *Client) Events(ctx context.Context) iter.Seq2[lathe.Event, error] {
	return func(yield func(lathe.Event, error) bool) {
		last := ""
		for first := true; ; first = false {
			more, err := c.follow(ctx, first, &last, yield)
			switch {
			case !more:
				return
			case ctx.Err() != nil:
				yield(nil, context.Cause(ctx))
				return
			case err != nil || last == "":
				yield(nil, errors.Join(ErrLost, err))
				return
			}
		}
	}
}

// ErrLost means that the event stream broke and could not be resumed.
var ErrLost = errors.New("the server's events were lost: read the session again")

// follow reads one stream to its end. It reports false when the caller has
// enough.
func (c *Client) follow(ctx context.Context, first bool, last *string, yield func(lathe.Event, error) bool) (bool, error) {
	header := []string{}
	if *last != "" {
		header = []string{"Last-Event-ID", *last}
	}
	resp, err := c.request(ctx, http.MethodGet, "/event", url.Values{"parts": {"delta"}}, nil, header...)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	for ev, err := range sse.Read(resp.Body, eventLimit) {
		if err != nil {
			return true, nil // it broke; resume
		}
		if lost := bytes.HasPrefix(ev.Data, []byte(`{"type":"server.connected"`)); lost {
			if !first && bytes.Contains(ev.Data, []byte(`"resumed":false`)) {
				return true, ErrLost
			}
			if first && !yield(nil, nil) {
				return false, nil
			}
			continue
		}
		if ev.ID != "" {
			*last = ev.ID
		}
		e, err := wire.DecodeEvent(ev.Data)
		if errors.Is(err, wire.ErrUnknownEvent) {
			continue
		}
		if !yield(e, err) || err != nil {
			return false, nil
		}
	}
	return true, nil
}
