package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/tool"
)

// inflight is a call that a server works on.
type inflight struct {
	token  string
	call   *tool.Call // nil if no model made it
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	limit time.Duration
	held  int // how many times the clock was stopped

	showing sync.Mutex // held while progress is shown
	ended   bool       // nothing may be shown any more
}

// show shows progress, unless the call has ended.
func (f *inflight) show(title string, meta map[string]any) {
	f.showing.Lock()
	defer f.showing.Unlock()
	if !f.ended {
		f.call.Progress(title, meta)
	}
}

// end returns when nothing is being shown, and nothing will be.
func (f *inflight) end() {
	f.showing.Lock()
	defer f.showing.Unlock()
	f.ended = true
}

// errTimeout ends a call that takes too long. Clients know this text.
var errTimeout = errors.New("MCP error -32001: Request timed out")

// begin notes a call. Its context ends with the connection, or when the server says
// nothing about it for as long as it may take.
func (c *conn) begin(ctx context.Context, call *tool.Call) (context.Context, *inflight) {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &inflight{call: call, cancel: cancel, limit: c.server.callTimeout()}
	f.timer = time.AfterFunc(f.limit, func() { cancel(errTimeout) })
	c.mu.Lock()
	c.tokens++
	f.token = fmt.Sprintf("lathe-%d", c.tokens)
	c.calls = append(c.calls, f)
	c.mu.Unlock()
	return ctx, f
}

func (c *conn) over(f *inflight) {
	f.timer.Stop()
	c.mu.Lock()
	c.calls = slices.DeleteFunc(c.calls, func(o *inflight) bool { return o == f })
	c.mu.Unlock()
	f.cancel(nil)
	f.end() // a notification may have found the call before it was taken from the list
}

// cancelCalls ends the calls that are still running.
func (c *conn) cancelCalls() {
	c.mu.Lock()
	defer c.mu.Unlock()
	why := c.why
	if why == nil {
		why = mcp.ErrConnectionClosed
	}
	for _, f := range c.calls {
		f.cancel(why)
	}
}

// newest returns the call that a server most likely means when it asks something: the
// newest; nil if none is running.
func (c *conn) newest() *inflight {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range slices.Backward(c.calls) {
		if f.call != nil {
			return f
		}
	}
	return nil
}

// hold stops the clock of a call while a person or a model answers the server. The
// returned function lets it go on.
func (f *inflight) hold() func() {
	f.mu.Lock()
	f.held++
	f.timer.Stop()
	f.mu.Unlock()
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.held--; f.held == 0 {
			f.timer.Reset(f.limit)
		}
	}
}

// heard restarts a call's time.
func (f *inflight) heard() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == 0 && f.timer.Stop() {
		f.timer.Reset(f.limit)
	}
}

// progress shows a call's progress and restarts its time.
func (c *conn) progress(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
	p := req.Params
	c.mu.Lock()
	i := slices.IndexFunc(c.calls, func(f *inflight) bool { return f.token == fmt.Sprint(p.ProgressToken) })
	var f *inflight
	if i >= 0 {
		f = c.calls[i]
	}
	c.mu.Unlock()
	if f == nil {
		return
	}
	f.heard()
	if f.call == nil || f.call.Progress == nil {
		return
	}
	title := clean(p.Message, 200)
	switch {
	case p.Total > 0:
		title = fmt.Sprintf("%.0f%% %s", 100*min(1, max(0, p.Progress/p.Total)), title)
	case title == "":
		title = fmt.Sprintf("%g", p.Progress)
	}
	f.show(title, map[string]any{"progress": p.Progress, "total": p.Total, "server": c.server.conf.Name})
}

// call makes a call of a tool and starts the server if it is not running.
func (s *server) call(ctx context.Context, name string, args json.RawMessage, call *tool.Call) (tool.Result, error) {
	res, err := s.callOnce(ctx, name, args, call)
	if errors.Is(err, mcp.ErrSessionMissing) { // the server forgot the session: nothing was done
		s.restart()
		res, err = s.callOnce(ctx, name, args, call)
	}
	if err != nil || ctx.Err() != nil {
		return s.refusal(ctx, err)
	}
	return result(res), nil
}

// refusal is the result of a call that could not be made, or the error if it was ended from outside.
func (s *server) refusal(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	return tool.Failf("%s", clean(s.hide(s.word(err)), 2000)), nil
}

func (s *server) callOnce(ctx context.Context, name string, args json.RawMessage, call *tool.Call) (*mcp.CallToolResult, error) {
	c, err := s.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	within, f := c.begin(ctx, call)
	defer c.over(f)
	params := &mcp.CallToolParams{Name: name, Arguments: args}
	params.SetProgressToken(f.token)
	res, err := c.session.CallTool(within, params)
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	if within.Err() != nil {
		err = context.Cause(within)
	}
	if errors.Is(err, mcp.ErrSessionMissing) {
		return nil, err
	}
	if lost(err) {
		waitFor(c.done, patience)
		if told := c.told(); told != "" {
			return nil, fmt.Errorf("MCP server %q ended during the call: %s", s.conf.Name, told)
		}
		return nil, fmt.Errorf("MCP server %q closed the connection during the call; it is started again by the next call", s.conf.Name)
	}
	return nil, err
}

// word says what went wrong, as a model should read it.
func (s *server) word(err error) string {
	if e, ok := errors.AsType[*LoginError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Sprintf("MCP error %d: %s", e.Code, e.Message)
	}
	return plain(err)
}
