package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/tool"
)

// Options configure [Serve]. Open, In and Out are needed.
type Options struct {
	// Open connects to the engine. It is called once, after the response to the
	// editor's first message; whoever provides it closes what it opens.
	Open func() (*client.Client, error)
	In   io.Reader // the editor's messages; its end ends Serve
	Out  io.Writer
	Log  *slog.Logger     // nil: none
	Now  func() time.Time // nil: time.Now
	// Leave says that turns continue when the editor goes away, because a server
	// runs them. Otherwise they are stopped, since nobody could answer their asks.
	Leave bool
	// Files makes a session's tools read and change the editor's unsaved text. It
	// returns a function that ends this. If nil, tools work on the disk.
	Files func(id lathe.SessionID, f tool.Files) (release func())
}

// Serve speaks the protocol until the editor closes its end or the context ends. It
// returns nil in both cases; an error means that the streams failed.
func Serve(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &agent{
		Options: o, ctx: ctx, talks: map[lathe.SessionID]*conversation{}, feeds: map[string]*feed{},
		requests: map[string]context.CancelFunc{}, stop: cancel, engine: sync.OnceValues(o.Open),
	}
	s := newStream(o.In, o.Out, o.Log)
	in := &input{stream: s}
	conn := jsonrpc2.NewConn(ctx, in, a, jsonrpc2.SetLogger(quiet{o.Log}))
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
	}
	a.end()
	cancel(nil)
	_ = conn.Close() // already closed unless the context ended
	a.work.Wait()
	return in.failure()
}

// input notes why reading ended.
type input struct {
	*stream
	mu  sync.Mutex
	err error
}

// ReadObject reads the next message.
func (i *input) ReadObject(v any) error {
	err := i.stream.ReadObject(v)
	if err != nil {
		i.mu.Lock()
		i.err = err
		i.mu.Unlock()
	}
	return err
}

func (i *input) failure() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err == nil || errors.Is(i.err, io.EOF) || errors.Is(i.err, io.ErrClosedPipe) {
		return nil
	}
	return fmt.Errorf("read from the editor: %w", i.err)
}

// quiet writes what the connection complains about to the log.
type quiet struct{ log *slog.Logger }

// Printf writes one complaint.
func (q quiet) Printf(format string, args ...any) {
	q.log.Debug("editor connection", "what", fmt.Sprintf(format, args...))
}

// agent is the connection to one editor and everything it has open.
type agent struct {
	Options
	ctx    context.Context // of the connection
	engine func() (*client.Client, error)
	conn   *jsonrpc2.Conn // set with the first message
	begun  sync.Once
	stop   context.CancelCauseFunc
	work   sync.WaitGroup
	calls  atomic.Uint64 // requests sent to the editor

	mu       sync.Mutex
	can      clientCapabilities
	talks    map[lathe.SessionID]*conversation
	feeds    map[string]*feed // by directory
	requests map[string]context.CancelFunc
	ended    bool
}

// method handles one request. The function it returns with the answer is called
// right after the answer was sent.
type method func(a *agent, ctx context.Context, raw json.RawMessage) (answer any, after func(), err error)

// methods are the requests that an editor may make.
var methods = map[string]method{
	"initialize":                followed((*agent).initialize),
	"authenticate":              with((*agent).authenticate),
	"session/new":               followed((*agent).newSession),
	"session/load":              followed((*agent).loadSession),
	"session/resume":            followed((*agent).resumeSession),
	"session/fork":              followed((*agent).forkSession),
	"session/list":              with((*agent).listSessions),
	"session/close":             with((*agent).closeSession),
	"session/delete":            with((*agent).deleteSession),
	"session/prompt":            with((*agent).prompt),
	"session/set_mode":          with((*agent).setMode),
	"session/set_config_option": with((*agent).setOption),
}

func with[P, R any](do func(*agent, context.Context, P) (R, error)) method {
	return followed(func(a *agent, ctx context.Context, p P) (R, func(), error) {
		r, err := do(a, ctx, p)
		return r, nil, err
	})
}

func followed[P, R any](do func(*agent, context.Context, P) (R, func(), error)) method {
	return func(a *agent, ctx context.Context, raw json.RawMessage) (any, func(), error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, invalid("%v", err)
		}
		return do(a, ctx, p)
	}
}

// invalid is the error of a request that makes no sense.
func invalid(format string, args ...any) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// Handle takes one message. Requests run at the same time, notifications in order.
func (a *agent) Handle(_ context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	a.begun.Do(func() { a.conn = conn })
	raw := json.RawMessage("{}")
	if req.Params != nil && string(*req.Params) != "null" {
		raw = *req.Params
	}
	if req.Notif {
		a.notified(req.Method, raw)
		return
	}
	ctx, cancel := context.WithCancel(a.ctx)
	id := req.ID.String()
	a.mu.Lock()
	over := a.ended
	a.requests[id] = cancel
	if !over {
		a.work.Add(1)
	}
	a.mu.Unlock()
	if over {
		cancel()
		return
	}
	go func() { // ends with the request; end cancels it
		defer a.work.Done()
		defer func() {
			a.mu.Lock()
			delete(a.requests, id)
			a.mu.Unlock()
			cancel()
		}()
		a.answer(ctx, conn, req, raw)
	}()
}

func (a *agent) answer(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request, raw json.RawMessage) {
	m, ok := methods[req.Method]
	if !ok {
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "there is no method " + req.Method})
		return
	}
	answer, after, err := m(a, ctx, raw)
	if err != nil {
		_ = conn.ReplyWithError(ctx, req.ID, a.failure(err))
		return
	}
	if conn.Reply(ctx, req.ID, answer) == nil && after != nil {
		after()
	}
}

// failure puts an error into the protocol's form.
func (a *agent) failure(err error) *jsonrpc2.Error {
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*lathe.AuthFailure](err); ok {
		return &jsonrpc2.Error{Code: codeAuthRequired, Message: e.Error()}
	}
	out := &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
	if e, ok := errors.AsType[*lathe.Error](err); ok {
		switch e.Code {
		case lathe.CodeInvalid, lathe.CodeNotFound:
			out.Code = jsonrpc2.CodeInvalidParams
		}
		if e.Hint != "" {
			out.Message += ". " + e.Hint
		}
	}
	return out
}

// notified handles a notification. Unknown ones are ignored.
func (a *agent) notified(name string, raw json.RawMessage) {
	switch name {
	case "session/cancel":
		var p struct {
			SessionID lathe.SessionID `json:"sessionId"`
		}
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		if t := a.talk(p.SessionID); t != nil {
			t.cancel()
		}
	case "$/cancel_request":
		var p struct {
			RequestID jsonrpc2.ID `json:"requestId"`
		}
		if json.Unmarshal(raw, &p) != nil {
			return
		}
		a.mu.Lock()
		cancel := a.requests[p.RequestID.String()]
		a.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
}

// notify tells the editor something about a session.
func (a *agent) notify(id lathe.SessionID, update any) {
	if err := a.conn.Notify(a.ctx, "session/update", notification{string(id), update}); err != nil {
		a.Log.Debug("the editor was not told", "session", id, "err", err)
	}
}

// able returns what the editor can do.
func (a *agent) able() clientCapabilities {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.can
}

// in returns the engine's client for a directory.
func (a *agent) in(dir string) (*client.Client, error) {
	c, err := a.engine()
	if err != nil {
		return nil, err
	}
	return c.In(dir), nil
}

// talk returns a conversation that is open, or nil.
func (a *agent) talk(id lathe.SessionID) *conversation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.talks[id]
}

// opened returns a conversation that is open, or the error of a request that names
// another.
func (a *agent) opened(id string) (*conversation, error) {
	if t := a.talk(lathe.SessionID(id)); t != nil {
		return t, nil
	}
	return nil, invalid("the session %q is not open: session/load or session/resume opens it", id)
}

// end closes what is open; no further request can begin.
func (a *agent) end() {
	a.mu.Lock()
	a.ended = true
	talks := make([]*conversation, 0, len(a.talks))
	for _, t := range a.talks {
		talks = append(talks, t)
	}
	a.mu.Unlock()
	for _, t := range talks {
		t.close(!a.Leave)
	}
}

// initialize says what lathe can do. The engine is opened while the editor reads that: nothing
// of the data, the repository or the configuration is looked at before.
func (a *agent) initialize(_ context.Context, p initializeRequest) (initializeResponse, func(), error) {
	a.mu.Lock()
	a.can = p.Capabilities
	a.mu.Unlock()
	out := initializeResponse{
		ProtocolVersion: protocolVersion,
		Info:            implementation{Name: "lathe", Title: "lathe", Version: lathe.Version},
		AuthMethods:     []authMethod{{ID: "lathe-login", Name: "Connect a provider", Description: "Run `lathe auth login` in a terminal, or set a key such as ANTHROPIC_API_KEY"}},
	}
	if p.Capabilities.Auth.Terminal {
		out.AuthMethods = append(out.AuthMethods, authMethod{ID: "lathe-terminal", Type: "terminal", Name: "Connect a provider in a terminal", Args: []string{"auth", "login"}})
	}
	out.Capabilities.LoadSession = true
	out.Capabilities.MCP.HTTP, out.Capabilities.MCP.SSE = true, true
	out.Capabilities.Prompt.Image, out.Capabilities.Prompt.EmbeddedContext = true, true
	open := func() { a.work.Go(func() { _, _ = a.engine() }) } // whoever needs it gets the error
	return out, open, nil
}

// authenticate has nothing to do: lathe reads its keys when they are needed, and
// without one the offline guide answers.
func (a *agent) authenticate(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
