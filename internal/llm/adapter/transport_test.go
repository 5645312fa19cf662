package adapter

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"lathe/internal/llm"
	"lathe/internal/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a protocol of plain words: "done" finishes.
type echo struct{ text *Block }

func (d *echo) Event(a *Answer, ev sse.Event) error {
	switch string(ev.Data) {
	case "done":
		a.Finish(llm.FinishStop, "done", llm.Usage{})
	case "error":
		return StreamError([]byte(`{"error":{"type":"overloaded_error","message":"busy"}}`))
	default:
		if d.text == nil {
			d.text = a.Text()
		}
		d.text.Append(string(ev.Data))
	}
	return nil
}

func (d *echo) Whole(a *Answer, body []byte) error { return nil }
func (d *echo) End(*Answer)                        {}

const key = "sk-very-secret"

func run(ctx context.Context, e Endpoint, url string) (text string, err error) {
	e.Key = key
	call := Call{Request: &llm.Request{}, URL: url, Header: map[string]string{"x-api-key": key}, Decoder: &echo{}}
	for ev, e := range NewTransport(e).Stream(ctx, call) {
		if d, ok := ev.(llm.TextDelta); ok {
			text += d.Text
		}
		err = e
	}
	return text, err
}

func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, Endpoint) {
	srv := httptest.NewServer(h)
	client := NewClient()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		srv.Close()
	})
	return srv, Endpoint{Client: client}
}

func TestStatusErrors(t *testing.T) {
	tests := []struct {
		name   string
		status int
		header map[string]string
		body   string
		want   llm.Error
	}{
		{"auth", 401, nil, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			llm.Error{Kind: llm.KindAuth, Message: "invalid x-api-key", Code: "authentication_error", RetryAfter: -1}},
		{"key in the message", 401, nil, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`,
			llm.Error{Kind: llm.KindAuth, Message: "Incorrect API key provided: [key]", RetryAfter: -1}},
		{"rate limit", 429, map[string]string{"Retry-After": "1.5"}, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`,
			llm.Error{Kind: llm.KindRateLimit, Message: "slow down", Code: "rate_limit_exceeded", Retryable: true, RetryAfter: 1500 * time.Millisecond}},
		{"rate limit in ms", 429, map[string]string{"Retry-After-Ms": "20", "Retry-After": "7"}, `{}`,
			llm.Error{Kind: llm.KindRateLimit, Message: "the provider answered: too many requests", Retryable: true, RetryAfter: 20 * time.Millisecond}},
		{"rate limit until a date", 429, map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, `{}`,
			llm.Error{Kind: llm.KindRateLimit, Message: "the provider answered: too many requests", Retryable: true, RetryAfter: 30 * time.Second}},
		{"hostile delay", 429, map[string]string{"Retry-After": "1e300"}, `{}`,
			llm.Error{Kind: llm.KindRateLimit, Message: "the provider answered: too many requests", Retryable: true, RetryAfter: 24 * time.Hour}},
		{"negative delay", 503, map[string]string{"Retry-After": "-5"}, ``,
			llm.Error{Kind: llm.KindServer, Message: "the provider answered: service unavailable", Retryable: true, RetryAfter: 0}},
		{"NaN delay", 503, map[string]string{"Retry-After": "NaN"}, ``,
			llm.Error{Kind: llm.KindServer, Message: "the provider answered: service unavailable", Retryable: true, RetryAfter: 0}},
		{"no delay", 503, map[string]string{"Retry-After": "soon"}, ``,
			llm.Error{Kind: llm.KindServer, Message: "the provider answered: service unavailable", Retryable: true, RetryAfter: -1}},
		{"google", 429, nil, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"37s"}]}}`,
			llm.Error{Kind: llm.KindRateLimit, Message: "You exceeded your current quota", Code: "RESOURCE_EXHAUSTED", Retryable: true, RetryAfter: 37 * time.Second}},
		{"google key", 400, nil, `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`,
			llm.Error{Kind: llm.KindAuth, Message: "API key not valid", Code: "INVALID_ARGUMENT", RetryAfter: -1}},
		{"quota", 429, nil, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
			llm.Error{Kind: llm.KindQuota, Message: "You exceeded your current quota", Code: "insufficient_quota", RetryAfter: -1}},
		{"no credit", 400, nil, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}}`,
			llm.Error{Kind: llm.KindQuota, Message: "Your credit balance is too low to access the API", Code: "invalid_request_error", RetryAfter: -1}},
		{"overflow by code", 400, nil, `{"error":{"message":"too big","code":"context_length_exceeded"}}`,
			llm.Error{Kind: llm.KindOverflow, Message: "too big", Code: "context_length_exceeded", RetryAfter: -1}},
		{"overflow", 400, nil, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
			llm.Error{Kind: llm.KindOverflow, Message: "prompt is too long: 210000 tokens > 200000 maximum", Code: "invalid_request_error", RetryAfter: -1}},
		{"overflow by size", 413, nil, `<html>`, llm.Error{Kind: llm.KindOverflow, Message: "the address answered with a web page (request entity too large), which a gateway or proxy does; check the base URL or try again later", RetryAfter: -1}},
		{"invalid", 400, nil, `{"detail":[{"msg":"field required"}]}`, llm.Error{Kind: llm.KindInvalid, Message: "field required", RetryAfter: -1}},
		{"not found", 404, nil, `{"error":"model \"x\" not found"}`, llm.Error{Kind: llm.KindInvalid, Message: `model "x" not found`, RetryAfter: -1}},
		{"overloaded", 529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			llm.Error{Kind: llm.KindServer, Message: "Overloaded", Code: "overloaded_error", Retryable: true, RetryAfter: -1}},
		{"should not retry", 500, map[string]string{"X-Should-Retry": "false"}, `broken`, llm.Error{Kind: llm.KindServer, Message: "broken", RetryAfter: -1}},
		{"should retry", 400, map[string]string{"X-Should-Retry": "true"}, `odd`, llm.Error{Kind: llm.KindInvalid, Message: "odd", Retryable: true, RetryAfter: -1}},
		{"gateway", 403, nil, "<!DOCTYPE html><title>no</title>",
			llm.Error{Kind: llm.KindAuth, Message: "a gateway or proxy in front of the provider refused the request with a web page; check the network's proxy, the credential and the base URL", RetryAfter: -1}},
		{"another's key", 401, nil, `{"error":{"message":"key sk-proj-0123456789abcdefghij of postgres://me:hunter2@db is refused"}}`,
			llm.Error{Kind: llm.KindAuth, Message: "key [secret removed] of postgres://me:[secret removed]@db is refused", RetryAfter: -1}},
		{"filter", 400, nil, `{"error":{"message":"filtered","code":"content_filter"}}`, llm.Error{Kind: llm.KindFilter, Message: "filtered", Code: "content_filter", RetryAfter: -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.Header().Set("X-Echo", r.Header.Get("x-api-key"))
				w.Header().Set("Set-Cookie", "a=b")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			_, err := run(t.Context(), e, srv.URL)
			got, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			tt.want.Status = tt.status
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreFields(llm.Error{}, "Header", "Body", "Cause")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if shown := fmt.Sprintf("%+v", *got); strings.Contains(shown, key) || strings.Contains(shown, "a=b") || strings.Contains(shown, "hunter2") {
				t.Errorf("error shows a secret: %s", shown)
			}
		})
	}
}

func TestOverflowWords(t *testing.T) {
	for _, message := range []string{
		"prompt is too long: 5 tokens", "request_too_large", "input is too long for requested model",
		"Your input exceeds the context window of this model", "This model's maximum context length is 8192 tokens.",
		"exceeds maximum context length", "The input token count (1196265) exceeds the maximum number of tokens allowed",
		"tokens in request more than max tokens allowed", "maximum prompt length is 131072",
		"Please reduce the length of the messages", "maximum allowed input length", "longer than the model's context length",
		"prompt token count of 200 exceeds the limit of 100", "exceeds the available context size", "greater than the context length",
		"context window exceeds limit", "Your request exceeded model token limit: 262144", "context length exceeded",
		"request entity too large", "context length is only 8192 tokens", "input length exceeds context length",
		"prompt too long; exceeded max context length", "too large for model with 4096 maximum",
		"prompt has 9,000 tokens, but the configured context size is 8,192", "model_context_window_exceeded",
		"too many tokens", "token limit exceeded",
	} {
		p := problem{message: message}
		if kind, retry := p.classify(400, false); kind != llm.KindOverflow || retry {
			t.Errorf("%q is %s, retryable %v", message, kind, retry)
		}
	}
	for _, message := range []string{"rate limit: too many tokens per minute", "max_tokens is too large", "bad schema"} {
		p := problem{message: message}
		if kind, _ := p.classify(400, false); kind == llm.KindOverflow {
			t.Errorf("%q is an overflow", message)
		}
	}
}

func kindOf(err error) (llm.Kind, bool) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return "", false
	}
	return e.Kind, e.Retryable
}

func TestBadAnswers(t *testing.T) {
	tests := []struct {
		name, kind, body string
		want             llm.Kind
		retryable        bool
	}{
		{"empty", "text/event-stream", "", llm.KindCut, true},
		{"cut", "text/event-stream", "data: a\n\ndata: b", llm.KindCut, true},
		{"error event", "text/event-stream", "data: a\n\ndata: error\n\n", llm.KindServer, true},
		{"web page", "text/html", "<html>sign in</html>", llm.KindProtocol, false},
		{"json error", "application/json", `{"error":{"code":"insufficient_quota","message":"no"}}`, llm.KindQuota, false},
		{"json error as a stream", "text/event-stream", `{"error":{"message":"no"}}`, llm.KindServer, true},
		{"plain text", "text/plain", "Ollama is running", llm.KindProtocol, false},
		{"plain text as a stream", "text/event-stream", "upstream error: no backend\nsee the log", llm.KindProtocol, false},
		{"cut in the first field", "", "dat", llm.KindCut, true},
		{"half a document", "application/json", `{"error":{"mess`, llm.KindProtocol, true},
		{"large event", "text/event-stream", "data: " + strings.Repeat("x", maxEvent+1) + "\n\n", llm.KindProtocol, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				_, _ = io.WriteString(w, tt.body)
			})
			_, err := run(t.Context(), e, srv.URL)
			if kind, retryable := kindOf(err); kind != tt.want || retryable != tt.retryable {
				t.Errorf("error %v is %q, retryable %v; want %q, %v", err, kind, retryable, tt.want, tt.retryable)
			}
		})
	}
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}

// Nobody asked for compression; a gateway that compresses all the same is
// understood where that is possible, and named where it is not.
func TestCompressedAnswers(t *testing.T) {
	const stream, refusal = "data: a\n\ndata: done\n\n", `{"error":{"type":"authentication_error","message":"no such key"}}`
	for _, tt := range []struct {
		name, encoding, body string
		status               int
		text, want           string
	}{
		{"gzip", "gzip", zipped(stream), 200, "a", ""},
		{"gzip, not told", "", zipped(stream), 200, "a", ""},
		{"a refusal", "gzip", zipped(refusal), 401, "", "no such key"},
		{"a refusal, not told", "", zipped(refusal), 401, "", "no such key"},
		{"identity", "identity", stream, 200, "a", ""},
		{"brotli", "br", "\x8b\x03\x80", 200, "", `compressed as "br"`},
		{"a refusal in brotli", "br", "\x8b\x03\x80", 401, "", "the provider answered: unauthorized"},
		{"cut", "gzip", zipped(stream)[:20], 200, "a", "cut off"},
		{"plain text", "gzip", zipped("hello"), 200, "", `answered with plain text instead of a model's answer: "hello"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			text, err := run(t.Context(), e, srv.URL)
			if text != tt.text || (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("text %q, error %v", text, err)
			}
		})
	}
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	l.Close()
	plain, e := serve(t, func(http.ResponseWriter, *http.Request) {})
	resetting, e2 := serve(t, func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) })
	tests := []struct {
		name, url string
		e         Endpoint
		want      llm.Kind
		retryable bool
		message   string
	}{
		{"refused", closed, e, llm.KindNetwork, true, "refused the connection"},
		{"not tls", strings.Replace(plain.URL, "http:", "https:", 1), e, llm.KindNetwork, false, "no secure connection"},
		{"closed", resetting.URL, e2, llm.KindNetwork, true, "without an answer"},
		{"bad url", "http://[::1", e, llm.KindInvalid, false, ""},
		{"bad scheme", "gopher://x", e, llm.KindInvalid, false, "unsupported protocol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t.Context(), tt.e, tt.url)
			if kind, retryable := kindOf(err); kind != tt.want || retryable != tt.retryable || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v is %q, retryable %v", err, kind, retryable)
			}
		})
	}
}

// The key goes to the host that it is meant for and to no other.
func TestRedirects(t *testing.T) {
	var leaked string
	other, e := serve(t, func(w http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("x-api-key") + "?" })
	srv, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/other":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/same":
			http.Redirect(w, r, "/final", http.StatusPermanentRedirect)
		case "/get":
			http.Redirect(w, r, "/final", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case "/final":
			_, _ = io.WriteString(w, "data: "+r.Method+"\n\ndata: done\n\n")
		}
	})
	if _, err := run(t.Context(), e, srv.URL+"/other"); leaked != "" || err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("redirect to another host: leaked %q, error %v", leaked, err)
	}
	if text, err := run(t.Context(), e, srv.URL+"/same"); text != "POST" || err != nil {
		t.Errorf("redirect on the same host: %q, error %v", text, err)
	}
	for _, path := range []string{"/get", "/loop"} {
		if _, err := run(t.Context(), e, srv.URL+path); err == nil {
			t.Errorf("redirect %s is followed", path)
		}
	}
}

// silent is a server that says what it is given, drips what it is given for that,
// and then says nothing.
type silent struct {
	header chan struct{} // nil: answer at once
	say    string
	drip   string // a piece every 20 seconds; with "HTTP" the header, too
	chunk  int    // bytes of a piece; 0: one
}

func (s silent) write(w io.Writer) {
	_, _ = io.WriteString(w, s.say)
	for n := max(1, s.chunk); len(s.drip) >= n; s.drip = s.drip[n:] {
		time.Sleep(20 * time.Second)
		if _, err := io.WriteString(w, s.drip[:n]); err != nil {
			return
		}
	}
}

// dripHeader answers over a connection, so that the client waits for the header.
func (s silent) dripHeader(r *http.Request) (*http.Response, error) {
	client, server := net.Pipe()
	context.AfterFunc(r.Context(), func() { server.Close() })
	go func() { _, _ = io.Copy(io.Discard, server) }()
	go s.write(server)
	t := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return client, nil }, DisableKeepAlives: true}
	return t.RoundTrip(r)
}

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(s.drip, "HTTP") {
		return s.dripHeader(r)
	}
	if s.header != nil {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	pr, pw := io.Pipe()
	context.AfterFunc(r.Context(), func() { pw.CloseWithError(r.Context().Err()) })
	go s.write(pw)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr, Request: r}, nil
}

func TestTimeouts(t *testing.T) {
	tests := []struct {
		name   string
		server silent
		limits Timeouts
		want   string
		after  time.Duration
	}{
		{"header", silent{header: make(chan struct{})}, Timeouts{}, "did not answer within 5m0s", 5 * time.Minute},
		{"first byte", silent{}, Timeouts{Header: time.Minute}, "did not answer within 1m0s", time.Minute},
		{"idle", silent{say: "data: a\n\n"}, Timeouts{Idle: 40 * time.Second}, "stalled: it sent nothing for 40s", 40 * time.Second},
		{"slow header", silent{drip: "HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("x", 1000)}, Timeouts{}, "did not answer within 5m0s", 5 * time.Minute},
		{"slow bytes", silent{say: "data: a\n\n", drip: strings.Repeat("x", 1000)}, Timeouts{}, "stalled: for 5m0s it sent bytes, but nothing", 5 * time.Minute},
		{"comments", silent{say: "data: a\n\n", drip: strings.Repeat(": keep-alive\n\n", 100), chunk: 14}, Timeouts{}, "stalled: for 5m0s it sent bytes, but nothing", 5 * time.Minute},
		{"empty pieces", silent{drip: strings.Repeat("data:\n\n", 100), chunk: 7}, Timeouts{Idle: time.Minute}, "stalled: for 1m0s it sent bytes, but nothing", 80 * time.Second},
		{"a slow answer", silent{drip: strings.Repeat("data: a\n\n", 30), chunk: 9}, Timeouts{Idle: time.Minute}, "stalled: it sent nothing for 1m0s", 11 * time.Minute},
		{"total", silent{say: "data: a\n\n"}, Timeouts{Idle: -1, Header: -1, Total: time.Hour}, "longer than 1h0m0s", time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, err := run(t.Context(), Endpoint{Client: &http.Client{Transport: tt.server}, Timeouts: tt.limits}, "http://x")
				if kind, retryable := kindOf(err); kind != llm.KindTimeout || !retryable || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("error %v (%q, retryable %v)", err, kind, retryable)
				}
				if took := time.Since(start); took != tt.after {
					t.Errorf("took %s, want %s", took, tt.after)
				}
				time.Sleep(20 * time.Second) // in the bubble's time: the server sees that nobody reads
			})
		})
	}
}

func TestCancel(t *testing.T) {
	stop := errors.New("stopped by the user")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(stop) })
		text, err := run(ctx, Endpoint{Client: &http.Client{Transport: silent{say: "data: a\n\n"}}}, "http://x")
		if text != "a" || err != stop {
			t.Errorf("text %q, error %v; want the cause", text, err)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if _, err := run(ctx, Endpoint{Client: &http.Client{Transport: silent{}}}, "http://x"); err != stop {
		t.Errorf("error %v, want the cause", err)
	}
}

// Leaving the loop closes the connection.
// What reads an answer is free when it has ended: the runtime keeps stopped timers, such as the
// one that waits for an idle provider, for as long as they would have run.
func TestEndedRequestsHoldNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // all timers are in one heap,
	for range 64 {                                  // of which few are stopped
		defer time.AfterFunc(time.Hour, func() {}).Stop()
	}
	srv, e := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\n")
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, "data: done\n\n")
	})
	held := func() weak.Pointer[bytes.Buffer] {
		var said bytes.Buffer
		for ev := range NewTransport(e).Stream(t.Context(), Call{Request: &llm.Request{}, URL: srv.URL, Decoder: &echo{}}) {
			fmt.Fprintf(&said, "%v", ev)
		}
		return weak.Make(&said)
	}()
	for range 2 {
		runtime.GC()
	}
	if held.Value() != nil {
		t.Error("what read the answer is held")
	}
}

func TestBreak(t *testing.T) {
	gone := make(chan struct{})
	srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "data: a\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	for ev := range NewTransport(e).Stream(t.Context(), Call{Request: &llm.Request{}, URL: srv.URL, Decoder: &echo{}}) {
		if _, ok := ev.(llm.TextDelta); ok {
			break
		}
	}
	<-gone
}

// A finished answer leaves its connection for the next request.
func TestConnectionReuse(t *testing.T) {
	addrs := map[string]bool{}
	srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) {
		addrs[r.RemoteAddr] = true
		_, _ = io.WriteString(w, "data: a\n\ndata: done\n\n")
	})
	for range 5 {
		if _, err := run(t.Context(), e, srv.URL); err != nil {
			t.Fatal(err)
		}
	}
	if len(addrs) != 1 {
		t.Errorf("%d connections for 5 requests", len(addrs))
	}
}

func TestHeaders(t *testing.T) {
	var got http.Header
	srv, e := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	e.Header = map[string]string{"X-Api-Key": "", "X-A": "endpoint", "X-B": "endpoint"}
	call := Call{Request: &llm.Request{Headers: map[string]string{"X-B": "request"}}, URL: srv.URL, Header: map[string]string{"x-api-key": key, "x-a": "call"}, Decoder: &echo{}}
	for range NewTransport(e).Stream(t.Context(), call) {
	}
	if got.Get("X-Api-Key") != "" || got.Get("X-A") != "endpoint" || got.Get("X-B") != "request" {
		t.Errorf("headers %v", got)
	}
}

func TestJoinURL(t *testing.T) {
	for _, tt := range [][4]string{
		{"", "https://p/v1", "/messages", "https://p/v1/messages"},
		{"http://h/v1/", "", "/messages", "http://h/v1/messages"},
		{"http://h/x?api-version=1", "", "/m:go?alt=sse", "http://h/x/m:go?api-version=1&alt=sse"},
	} {
		if got := JoinURL(tt[0], tt[1], tt[2]); got != tt[3] {
			t.Errorf("JoinURL(%q, %q, %q) = %q, want %q", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

func FuzzStatusError(f *testing.F) {
	f.Add(400, `{"error":{"message":"x","code":400,"details":[{"retryDelay":"1e99s"}]}}`, "1e400")
	f.Add(200, `[[[[[[{"error":[{"error":"x"}]}]]]]]]`, "Wed, 21 Oct 9999 07:28:00 GMT")
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		e := StatusError(status, http.Header{"Retry-After": {after}}, []byte(body))
		if e.Message == "" || e.Kind == "" || e.RetryAfter > maxDelay || e.RetryAfter < -1 {
			t.Errorf("%+v", e)
		}
		if s := StreamError([]byte(body)); s.Message == "" || s.Kind == "" || s.RetryAfter > maxDelay {
			t.Errorf("%+v", s)
		}
	})
}

// A proxy that refuses is not the provider that does.
func TestProxyRefuses(t *testing.T) {
	cause := &url.Error{Op: "Post", URL: "https://api.example.com/v1", Err: &net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED}}
	err := networkError(t.Context(), cause, false)
	want := "the proxy on the way to api.example.com cannot be reached: proxyconnect tcp: connection refused; check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	if kind, retryable := kindOf(err); kind != llm.KindNetwork || !retryable || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v is %q, retryable %v", err, kind, retryable)
	}
}

// lookup fails to find a name, as often as it is asked and not told otherwise.
type lookup struct{ found *bool }

func (l lookup) RoundTrip(r *http.Request) (*http.Response, error) {
	if *l.found {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("data: done\n\n")), Request: r}, nil
	}
	return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: r.URL.Hostname(), Err: "no such host", IsNotFound: true}}
}

// A name that does not exist is a typing error and told at once. One that was
// found before is a network that changes, and one that could not be looked up may
// be found next time.
func TestNameThatDoesNotExist(t *testing.T) {
	found := false
	e := Endpoint{Client: &http.Client{Transport: lookup{&found}}, Reached: new(atomic.Bool)}
	ask := func(retryable bool) {
		t.Helper()
		_, err := run(t.Context(), e, "http://api.exmaple.com/v1")
		const want = `the name "api.exmaple.com" cannot be resolved; check the network and the base URL`
		if kind, again := kindOf(err); kind != llm.KindNetwork || again != retryable || err.Error() != want {
			t.Errorf("error %v is %q, retryable %v", err, kind, again)
		}
	}
	ask(false)
	found = true
	if _, err := run(t.Context(), e, "http://api.exmaple.com/v1"); err != nil {
		t.Error(err)
	}
	found = false
	ask(true)
	err := networkError(t.Context(), &net.DNSError{Name: "x", Err: "server misbehaving", IsTemporary: true}, false)
	if _, again := kindOf(err); !again {
		t.Errorf("error %v is not repeated", err)
	}
}
