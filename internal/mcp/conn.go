package mcp

//lint:file-ignore SA1019 Roots, sampling and logging are deprecated in the newest protocol; servers of today use them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe"
)

// conn is a connection to a running server.
type conn struct {
	server  *server
	session *mcp.ClientSession
	since   time.Time
	proc    *process           // nil if the server runs elsewhere
	cancel  context.CancelFunc // ends what the connection depends on; nil: nothing
	opened  chan struct{}      // closed when session is there and it is known what the server has
	done    chan struct{}      // closed when the connection has ended
	once    sync.Once

	mu     sync.Mutex
	why    error
	calls  []*inflight // oldest first
	tokens int64

	relearn atomic.Bool // what it offers has changed and is being read again
}

// legacy is the newest version of the protocol that begins with "initialize".
const legacy = "2025-11-25"

// discoverTime is how long a server may take to say whether it knows the newest
// version of the protocol. Old ones may never answer a request that they do not
// know.
const discoverTime = 3 * time.Second

// dial connects to the server and asks it what it has. If that fails, it ends what
// it began.
func (s *server) dial(ctx context.Context) (*conn, *Known, error) {
	version := ""
	if k := s.known(); k != nil {
		version = k.Protocol
	}
	c, known, err := s.dialWith(ctx, version)
	if err == nil || ctx.Err() != nil || s.conf.Type != "local" || isLogin(err) {
		return c, known, err
	}
	if errors.Is(err, errMute) {
		s.set.o.Log.Warn("an MCP server stopped answering while it was asked what it has; it is started anew", "server", s.conf.Name)
		return s.dialWith(ctx, legacy)
	}
	if version != legacy && lost(err) {
		return s.dialWith(ctx, legacy) // some crash on a request that they do not know
	}
	return c, known, err
}

// errMute means that a local server answered at first and then no longer.
var errMute = errors.New("it stopped answering")

func isLogin(err error) bool {
	_, ok := errors.AsType[*LoginError](err)
	return ok
}

// lost reports whether an error only says that the other end is gone. Which form it
// takes depends on whether reading or writing noticed it first.
func lost(err error) bool {
	for _, face := range []error{mcp.ErrConnectionClosed, io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE} {
		if errors.Is(err, face) {
			return true
		}
	}
	return false
}

func (s *server) dialWith(ctx context.Context, version string) (*conn, *Known, error) {
	if s.conf.Type == "local" {
		return s.dialLocal(ctx, version)
	}
	return s.dialRemote(ctx, version)
}

// open makes a connection over a transport. What begins with it is ended by end.
func (s *server) open(ctx context.Context, t mcp.Transport, version string, proc *process) (*conn, *Known, error) {
	c := &conn{server: s, since: s.set.o.Now(), proc: proc, opened: make(chan struct{}), done: make(chan struct{})}
	limit, stop := context.WithTimeoutCause(ctx, s.timeout(), fmt.Errorf("it did not answer within %s", s.timeout()))
	defer stop()
	if l, ok := t.(*lasting); ok {
		c.cancel = l.end
	}
	client := c.client()
	session, err := client.Connect(limit, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		c.end()
		return nil, nil, c.because(limit, "connect", err)
	}
	c.session = session
	known, err := c.learnFirst(limit, version)
	if err != nil {
		c.end()
		return nil, nil, c.because(limit, "Failed to get tools", err)
	}
	close(c.opened)
	return c, known, nil
}

// learnFirst is learn for a connection that was just made. A local server that does not
// answer for long is given up early, with errMute, so that it can be started anew.
func (c *conn) learnFirst(ctx context.Context, version string) (*Known, error) {
	if c.proc == nil || version == legacy {
		return c.learn(ctx)
	}
	short, stop := context.WithTimeoutCause(ctx, c.server.listTime(), errMute)
	defer stop()
	known, err := c.learn(short)
	if err != nil && ctx.Err() == nil && short.Err() != nil {
		return nil, errMute
	}
	return known, err
}

// because says why a start failed.
func (c *conn) because(ctx context.Context, doing string, err error) error {
	if isLogin(err) {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	if told := c.told(); told != "" && lost(err) {
		return &startError{doing + ": " + told, err}
	}
	return &startError{doing + ": " + plain(err), err}
}

// plain leaves out of an error what only says how the protocol's library works.
func plain(err error) string {
	text := err.Error()
	for _, noise := range []string{`calling "`, `sending "`} {
		for {
			_, rest, ok := strings.Cut(text, noise)
			_, after, closed := strings.Cut(rest, `": `)
			if !ok || !closed {
				break
			}
			text = after
		}
	}
	return strings.TrimPrefix(text, "rejected by transport: ")
}

// startError says why a server could not be started in the words of its process.
type startError struct {
	text  string
	cause error
}

func (e *startError) Error() string { return e.text }
func (e *startError) Unwrap() error { return e.cause }

// client returns lathe's protocol client for this server alone.
func (c *conn) client() *mcp.Client {
	o := c.server.set.o
	client := mcp.NewClient(&mcp.Implementation{Name: "lathe", Title: "lathe", Version: lathe.Version}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler:          c.elicit,
		CreateMessageHandler:        c.sample,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.learnAgain() },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { c.learnAgain() },
		ResourceListChangedHandler:  func(context.Context, *mcp.ResourceListChangedRequest) { c.learnAgain() },
		LoggingMessageHandler:       c.log,
		ProgressNotificationHandler: c.progress,
	})
	client.AddRoots(&mcp.Root{URI: fileURL(o.Dir), Name: "project"})
	client.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "server/discover" {
				return next(ctx, method, req)
			}
			short, stop := context.WithTimeout(ctx, discoverTime)
			defer stop()
			return next(short, method, req)
		}
	})
	return client
}

// end ends the connection and what was started for it, and waits for that.
func (c *conn) end() { c.endWith(nil) }

// endWith also tells the running calls why.
func (c *conn) endWith(why error) {
	c.once.Do(func() {
		c.mu.Lock()
		if c.why == nil {
			c.why = why
		}
		c.mu.Unlock()
		c.cancelCalls()
		if c.session != nil {
			closed := make(chan struct{})
			c.server.set.wg.Go(func() { // this waits for what a server may never answer
				defer close(closed)
				_ = c.session.Close()
			})
			waitFor(closed, time.Second)
		}
		if c.cancel != nil {
			c.cancel()
		}
		if c.proc != nil {
			c.proc.stop()
		}
		close(c.done)
	})
	<-c.done
}

func waitFor(done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// wait returns when the connection has ended, with the reason.
func (c *conn) wait() error {
	err := c.session.Wait()
	c.mu.Lock()
	why := c.why
	c.mu.Unlock()
	c.end()
	if told := c.told(); told != "" && why == nil {
		why = errors.New(told)
	}
	if why == nil && err != nil {
		why = errors.New(strings.TrimSpace(err.Error()))
	}
	if why == nil {
		why = errors.New("it closed the connection")
	}
	c.mu.Lock()
	c.why = why
	c.mu.Unlock()
	return why
}

// told returns what the server's process said about its end, once it has ended.
func (c *conn) told() string {
	if c.proc == nil {
		return ""
	}
	return c.proc.ending()
}

// log passes a server's log messages on.
func (c *conn) log(_ context.Context, req *mcp.LoggingMessageRequest) {
	c.server.set.o.Log.Debug("an MCP server says", "server", c.server.conf.Name, "level", clean(string(req.Params.Level), 20),
		"text", clean(c.server.hide(fmt.Sprint(req.Params.Data)), 2000))
}
