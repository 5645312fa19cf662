// Package llmtest is a scripted model server that speaks every protocol of
// lathe for real, over HTTP on loopback or as an [http.Handler]. It plays a
// [Script], records what it was asked, and refuses what a real provider would
// refuse.
package llmtest

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lathe/internal/llm"
)

// SideText answers requests without tools (titles, summaries) for which the
// script has no step.
const SideText = "A short text"

// Handler answers model requests from a script. It is safe for concurrent use.
type Handler struct {
	scripted bool
	lenient  bool
	answerer func(*Request) Step
	seed     uint64

	mu       sync.Mutex
	script   Script
	requests []Request
	issued   map[string]bool // signatures that the script gave out
	changed  chan struct{}   // closed when a request was recorded
}

// Option changes how a server behaves.
type Option func(*Handler)

// Scripted makes requests without tools take steps of the script as well.
func Scripted() Option { return func(h *Handler) { h.scripted = true } }

// Lenient answers requests that a real provider would refuse.
func Lenient() Option { return func(h *Handler) { h.lenient = true } }

// Answering has a function answer requests with tools in place of the script, one after
// the other in the order they come.
func Answering(f func(*Request) Step) Option { return func(h *Handler) { h.answerer = f } }

// Chunks sends bodies in pieces of random sizes, which may split a character.
func Chunks(seed uint64) Option { return func(h *Handler) { h.seed = seed } }

// NewHandler returns a handler that plays the script.
func NewHandler(script Script, opts ...Option) *Handler {
	h := &Handler{script: slices.Clone(script), issued: map[string]bool{}, changed: make(chan struct{})}
	for _, o := range opts {
		o(h)
	}
	for _, s := range script {
		for _, b := range s.Blocks {
			if r, ok := b.(Reasoning); ok && r.Signature != "" {
				h.issued[r.Signature] = true
			}
		}
	}
	return h
}

// Add appends steps to the script.
func (h *Handler) Add(steps ...Step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.script = append(h.script, steps...)
}

// Left returns how many steps were not used up.
func (h *Handler) Left() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.script)
}

// Requests returns what was asked so far, refused requests included.
func (h *Handler) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Wait returns when n requests came, or with the cause that ended ctx.
func (h *Handler) Wait(ctx context.Context, n int) error {
	for {
		h.mu.Lock()
		got, changed := len(h.requests), h.changed
		h.mu.Unlock()
		if got >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Server is a Handler that listens on loopback. URL has no path; protocols are
// served below it with and without "/v1".
type Server struct {
	*Handler
	URL    string
	server *http.Server
	done   chan struct{}
}

// Start serves the script on loopback. The caller closes the server.
func Start(script Script, opts ...Option) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model server: %w", err)
	}
	h := NewHandler(script, opts...)
	s := &Server{Handler: h, URL: "http://" + l.Addr().String(), server: &http.Server{Handler: h}, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l)
	}()
	return s, nil
}

// Close ends all connections and waits until the server stopped listening.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.done
}

// TB is the part of testing.TB that New needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// New serves the script until the test ends.
func New(t TB, script Script, opts ...Option) *Server {
	t.Helper()
	s, err := Start(script, opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(s.Close)
	return s
}

const maxRequest = 64 << 20

// ServeHTTP answers one request of any protocol.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := protocolOf(r.URL.Path)
	if !ok {
		http.Error(w, `{"error":{"message":"no such address: `+r.URL.Path+`"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	req := Request{Protocol: p.name, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	if err := p.decode(&req); err != nil {
		req.Rejected = err.Error()
	} else if err := h.check(&req); err != nil {
		req.Rejected = err.Error()
	}
	refused := req.Rejected != "" && !h.lenient
	step, n, found := h.take(req, refused)
	switch {
	case refused:
		writeError(w, p, Step{Status: http.StatusBadRequest, Message: req.Rejected})
	case !found:
		writeError(w, p, Step{Status: http.StatusBadRequest, Message: "the script has no step left for this request"})
	case step.Status != 0:
		writeError(w, p, step)
	default:
		h.answer(w, r, p, &req, step, n)
	}
}

// take records the request and finds its step.
func (h *Handler) take(req Request, refused bool) (step Step, n int, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, req)
	n = len(h.requests)
	close(h.changed)
	h.changed = make(chan struct{})
	if refused {
		return step, n, false
	}
	side := len(req.Tools) == 0 && !h.scripted
	if h.answerer != nil && !side {
		return h.answerer(&req), n, true
	}
	for i := range h.script {
		s := &h.script[i]
		if s.Side != side && !h.scripted || s.When != "" && !strings.Contains(req.LastText(), s.When) {
			continue
		}
		step = *s
		if s.Times--; s.Times < 1 {
			h.script = slices.Delete(h.script, i, i+1)
		}
		return step, n, true
	}
	if side {
		return Step{Blocks: []Block{Text(SideText)}}, n, true
	}
	return step, n, false
}

// answer streams the step.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, p protocol, req *Request, step Step, n int) {
	frames := p.frames(req, &step, n)
	contentType := "text/event-stream"
	switch {
	case step.Raw != "":
		frames = [][]byte{[]byte(step.Raw)}
	case step.Whole || !req.Stream:
		frames = [][]byte{p.whole(req, &step, n)}
		contentType = "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	out := &sender{w: w, flush: http.NewResponseController(w).Flush, left: -1}
	if step.Drop {
		out.left = step.DropAt
	}
	if h.seed != 0 {
		out.random = rand.New(rand.NewPCG(h.seed, uint64(n)))
	}
	_ = out.flush()
	for _, f := range frames {
		if step.Gate != nil {
			select {
			case <-step.Gate:
			case <-r.Context().Done():
				return
			}
		}
		if !out.send(f) {
			panic(http.ErrAbortHandler)
		}
	}
	if step.Stall {
		<-r.Context().Done()
	}
}

// sender writes a body in pieces and up to a limit.
type sender struct {
	w      io.Writer
	flush  func() error
	random *rand.Rand
	left   int // bytes until the connection is dropped; negative for no limit
}

// send returns false when the limit was reached.
func (s *sender) send(data []byte) bool {
	for len(data) > 0 {
		n := len(data)
		if s.random != nil {
			n = min(n, 1+s.random.IntN(40))
		}
		if s.left >= 0 {
			n = min(n, s.left)
			s.left -= n
		}
		_, _ = s.w.Write(data[:n])
		_ = s.flush()
		if s.left == 0 {
			return false
		}
		data = data[n:]
	}
	return s.left != 0
}

// Transcript returns the body of the streamed answer that a protocol gives to a
// step: "anthropic", "openai", "openaichat" or "google".
func Transcript(protocolName string, step Step) ([]byte, error) {
	for _, p := range protocols() {
		if p.name == protocolName {
			req := &Request{Protocol: protocolName, Model: "test", Stream: true}
			if step.Whole {
				return p.whole(req, &step, 1), nil
			}
			return slices.Concat(p.frames(req, &step, 1)...), nil
		}
	}
	return nil, fmt.Errorf("there is no protocol %q", protocolName)
}

// Request is one request as it came and as it was understood.
type Request struct {
	Protocol string // name of the adapter's package
	Path     string
	Header   http.Header
	Body     []byte

	Model     string
	Stream    bool
	MaxTokens int
	System    []string
	Messages  []llm.Message
	Tools     []llm.Tool
	// Rejected is why a real provider would refuse the request; empty if not.
	Rejected string

	thinking int // budget, or 0
}

// LastText returns the text of the last message, results included.
func (r *Request) LastText() string {
	if len(r.Messages) == 0 {
		return ""
	}
	var b strings.Builder
	for _, c := range r.Messages[len(r.Messages)-1].Content {
		switch c := c.(type) {
		case llm.Text:
			b.WriteString(c.Text + "\n")
		case llm.ToolResult:
			b.WriteString(c.Output + "\n")
		}
	}
	return b.String()
}
