package adapter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"lathe/internal/llm"
	"lathe/internal/sse"
)

const (
	maxEvent  = maxArguments + 1<<20 // one server-sent event, or one document in place of a stream
	maxAnswer = 256 << 20            // one answer as it comes over the wire
	maxBody   = 64 << 10             // body of an Error
	// drainTime is how long a finished answer waits for the end of its body, so
	// that the connection can be used again.
	drainTime = 100 * time.Millisecond
	// settleTime is how long a settled answer waits for its usage and end mark.
	settleTime = 5 * time.Second
)

// NewClient returns a client with proxies from the environment and no time
// limits of its own: [Timeouts] are kept by the [Transport]. Share one per
// process, so that connections are used again; its CloseIdleConnections ends
// the idle ones.
func NewClient() *http.Client {
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // some proxies hold a compressed stream back
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 20 * time.Second, PingTimeout: 15 * time.Second},
	}}
}

// Transport sends the requests of one endpoint and reads the answers. It is
// safe for concurrent use and retries nothing.
type Transport struct {
	client   *http.Client
	endpoint Endpoint
	timeouts Timeouts
}

// NewTransport returns the transport of an endpoint.
func NewTransport(e Endpoint) *Transport {
	client := e.Client
	if client == nil {
		client = NewClient()
	}
	c := *client
	c.CheckRedirect = checkRedirect
	if e.Reached == nil {
		e.Reached = new(atomic.Bool)
	}
	return &Transport{client: &c, endpoint: e, timeouts: e.Timeouts.withDefaults()}
}

func (t Timeouts) withDefaults() Timeouts {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	set(&t.Connect, 30*time.Second)
	set(&t.Header, 5*time.Minute)
	set(&t.Idle, 5*time.Minute)
	return t
}

// checkRedirect follows a redirect only within the same origin and only when it
// keeps the method: the credential in the headers must not reach another host.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1]
	if len(via) > 5 || req.Method != from.Method || req.URL.Scheme != from.URL.Scheme || req.URL.Host != from.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// Call is one request of an adapter, ready to be sent.
type Call struct {
	Request *llm.Request
	URL     string
	Header  map[string]string // of the protocol; the endpoint's and the request's come on top
	Body    []byte
	Decoder Decoder
}

// Decoder reads the answer of one protocol. Its errors are *[llm.Error] values.
type Decoder interface {
	// Event takes one server-sent event; ev.Data is only valid during the call.
	Event(a *Answer, ev sse.Event) error
	// Whole takes an answer that came as one JSON document.
	Whole(a *Answer, body []byte) error
	// End is called if the stream ended without Finish, for whatever reason. It
	// calls Finish if the answer is complete anyway.
	End(a *Answer)
}

// Stream sends the call and yields what the decoder makes of the answer, as
// [llm.Model] promises.
func (t *Transport) Stream(ctx context.Context, c Call) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := NewAnswer(c.Request, yield)
		err := t.exchange(ctx, c, a)
		switch {
		case a.Done():
		case ctx.Err() != nil:
			yield(nil, context.Cause(ctx))
		default:
			yield(nil, t.redact(err, c))
		}
	}
}

// exchange returns nil only when the answer is done.
func (t *Transport) exchange(ctx context.Context, c Call, a *Answer) error {
	w, ctx := watchRequest(ctx, t.timeouts)
	defer w.stop()
	resp, err := t.send(ctx, c, w)
	if err != nil {
		return networkError(ctx, err, t.endpoint.Reached.Load())
	}
	t.endpoint.Reached.Store(true)
	defer resp.Body.Close()
	body := &watchedBody{ctx: ctx, r: resp.Body, w: w, a: a, left: maxAnswer}
	plain, err := decompress(resp.Header.Get("Content-Encoding"), body)
	switch refused := resp.StatusCode != http.StatusOK; {
	case refused && err != nil: // the status says enough
		return StatusError(resp.StatusCode, resp.Header, nil)
	case refused:
		return StatusError(resp.StatusCode, resp.Header, readError(plain))
	case err != nil:
		return err
	}
	if err := t.read(c.Decoder, a, plain, w, resp); err != nil {
		return err
	}
	if a.finished {
		body.drain()
	}
	return nil
}

func (t *Transport) send(ctx context.Context, c Call, w *watch) (*http.Response, error) {
	req, err := http.NewRequestWithContext(w.trace(ctx), http.MethodPost, c.URL, bytes.NewReader(c.Body))
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalid, Message: "the provider's base URL is no address: " + err.Error(), RetryAfter: -1, Cause: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	for _, header := range []map[string]string{c.Header, t.endpoint.Header, c.Request.Headers} {
		for name, value := range header {
			if value == "" {
				req.Header.Del(name)
				continue
			}
			req.Header.Set(name, value)
		}
	}
	return t.client.Do(req)
}

// read recognises what arrived by how it begins: some proxies answer a streaming
// request with one JSON document, or with a web page or a sentence, under any
// content type.
func (t *Transport) read(d Decoder, a *Answer, body io.Reader, w *watch, resp *http.Response) error {
	head, body, err := begin(body)
	if err != nil {
		return cutError(err)
	}
	rest := io.MultiReader(bytes.NewReader(head), body)
	events := beginsWithField(head)
	switch begun := bytes.TrimLeft(head, blanks)[0]; {
	case begun == '{', begun == '[':
		return readWhole(d, a, rest)
	case begun == '<':
		return notAnAnswer("a web page", rest, resp)
	case !events && !claimsEvents(resp.Header):
		return notAnAnswer("plain text", rest, resp)
	}
	a.Start()
	told := a.content
	err = readEvents(d, a, rest, w)
	if !a.Done() {
		d.End(a)
	}
	switch {
	case a.Done():
		return nil
	case !events && a.content == told:
		return notAnAnswer("plain text", bytes.NewReader(head), resp)
	}
	return err
}

// maxQuoted is how much of something that is not an answer an error quotes.
const maxQuoted = 200

// notAnAnswer says what arrived instead of a model's answer, and how it begins.
func notAnAnswer(what string, r io.Reader, resp *http.Response) error {
	data, _ := io.ReadAll(io.LimitReader(r, maxBody))
	message := fmt.Sprintf("%s answered with %s instead of a model's answer; check the provider's base URL", resp.Request.URL.Host, what)
	if what == "plain text" {
		message = fmt.Sprintf("%s answered with %s instead of a model's answer: %q; check the provider's base URL",
			resp.Request.URL.Host, what, shorten(firstLine(string(data)), maxQuoted))
	}
	return &llm.Error{Kind: llm.KindProtocol, Status: resp.StatusCode, RetryAfter: -1, Header: safeHeader(resp.Header), Body: clip(string(data)), Message: message}
}

func readEvents(d Decoder, a *Answer, r io.Reader, w *watch) error {
	for ev, err := range sse.Read(r, maxEvent) {
		if errors.Is(err, sse.ErrTooLarge) {
			return &llm.Error{Kind: llm.KindProtocol, RetryAfter: -1, Message: fmt.Sprintf("the provider sent an event of more than %d MiB", maxEvent>>20), Cause: err}
		}
		if err != nil {
			return cutError(err)
		}
		if err := cmp.Or(d.Event(a, ev), a.err()); err != nil {
			return err
		}
		if a.Done() {
			return nil
		}
		if a.settled {
			w.settle()
		}
	}
	return cutError(io.ErrUnexpectedEOF)
}

func readWhole(d Decoder, a *Answer, r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxEvent+1))
	if err != nil {
		return cutError(err)
	}
	if len(data) > maxEvent {
		return &llm.Error{Kind: llm.KindProtocol, RetryAfter: -1, Message: fmt.Sprintf("the provider answered with a document of more than %d MiB", maxEvent>>20)}
	}
	var doc struct {
		Error any `json:"error"`
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		if err := Decode(data, &doc); err != nil {
			return err
		}
	}
	if doc.Error != nil {
		return StreamError(data)
	}
	if err := cmp.Or(d.Whole(a, data), a.err()); err != nil {
		return err
	}
	if !a.Done() {
		d.End(a)
	}
	if !a.Done() {
		return cutError(io.ErrUnexpectedEOF)
	}
	return nil
}

// JoinURL returns the address of a protocol's path below a base URL, or the
// public one when base is empty.
func JoinURL(base, public, path string) string {
	if base == "" {
		base = public
	}
	u, err := url.Parse(base)
	if err != nil || u.RawQuery == "" {
		return strings.TrimRight(base, "/") + path
	}
	rest, query, _ := strings.Cut(path, "?") // keep api-version and the like
	u.Path = strings.TrimRight(u.Path, "/") + rest
	if query != "" {
		u.RawQuery += "&" + query
	}
	return u.String()
}
