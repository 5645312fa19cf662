package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"lathe/internal/printable"
	"lathe/internal/shell"
)

const (
	initLimit = 45 * time.Second // for an answer to initialize
	callLimit = 10 * time.Second // for an answer to any other request
	endGrace  = 2 * time.Second  // from the wish to end to the kill
	maxStderr = 2000             // bytes of what a server complained of last
	logLines  = 20               // lines of it that are told
)

// process is a program that runs, as [shell.Service] is one.
type process interface {
	Done() <-chan struct{}
	Exit() (shell.Exit, error)
	Stop(grace time.Duration)
	PIDs() []int
}

// transport is a server's program and the connection to it. It is safe for concurrent use.
type transport struct {
	id         string // of the server
	proc       process
	rpc        *jsonrpc2.Conn
	complaints complaints

	wg   sync.WaitGroup // requests that nobody waits for
	live context.Context
	end  context.CancelCauseFunc
}

// attach connects to a program that was started. Close it.
func (t *transport) attach(proc process, stdout io.ReadCloser, stdin io.WriteCloser, h jsonrpc2.Handler) {
	t.live, t.end = context.WithCancelCause(context.Background())
	t.proc = proc
	t.rpc = jsonrpc2.NewConn(t.live, newStream(stdout, stdin), h, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	t.wg.Go(t.attend)
}

// attend ends the connection when the program has ended, and the other way round.
func (t *transport) attend() {
	select {
	case <-t.proc.Done():
		t.end(t.ended())
	case <-t.rpc.DisconnectNotify():
		over := time.NewTimer(endGrace) // the connection ends just before the program does
		defer over.Stop()
		select {
		case <-t.proc.Done():
			t.end(t.ended())
		case <-over.C:
			t.end(errors.New("it closed the connection"))
		case <-t.live.Done():
		}
	case <-t.live.Done():
	}
}

// ended says how the program ended.
func (t *transport) ended() error {
	exit, err := t.proc.Exit()
	said := t.complaints.last()
	if said != "" {
		said = ": " + said
	}
	switch {
	case err != nil:
		return err
	case exit.Signal != "":
		return fmt.Errorf("it was ended by a signal (%s)%s", exit.Signal, said)
	}
	return fmt.Errorf("it ended with exit code %d%s", exit.Code, said)
}

// gone is closed when the server can be used no more; why says the reason.
func (t *transport) gone() <-chan struct{} { return t.live.Done() }
func (t *transport) why() error            { return context.Cause(t.live) }

// call sends a request and waits for its answer: until ctx ends, and no longer than the
// server lives.
func (t *transport) call(ctx context.Context, method string, params, result any) error {
	call, err := t.rpc.DispatchCall(ctx, method, params)
	if err != nil {
		return t.failed(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.live, func() { cancel(t.why()) })()
	err = call.Wait(ctx, result)
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return t.failed(err)
}

// failed returns the reason behind an error of the connection.
func (t *transport) failed(err error) error {
	if errors.Is(err, jsonrpc2.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) {
		<-t.live.Done() // soon: the connection is closed
		return t.why()
	}
	return err
}

func (t *transport) notify(method string, params any) {
	_ = t.rpc.Notify(t.live, method, params) // a server that is gone is seen elsewhere
}

// request is a call with the usual limit.
func (t *transport) request(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, callLimit, fmt.Errorf("%s did not answer within %v", t.id, callLimit))
	defer cancel()
	return t.call(ctx, method, params, result)
}

// close asks the server to end, ends it, and waits until all of it is gone.
func (t *transport) close(grace time.Duration) {
	if grace > 0 && t.live.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		if t.call(ctx, "shutdown", nil, nil) == nil {
			t.notify("exit", nil)
			select {
			case <-t.proc.Done():
			case <-ctx.Done():
			}
		}
		cancel()
	}
	t.end(errEnded)
	t.rpc.Close()
	t.proc.Stop(grace / 4)
	t.wg.Wait()
}

// complaints are the end of what a server writes to its standard error.
type complaints struct {
	mu   sync.Mutex
	text []byte
}

func (c *complaints) add(chunk []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, chunk...)
	if n := len(c.text) - maxStderr; n > 0 {
		c.text = slices.Clone(c.text[n:])
	}
}

// lines returns the last lines, without what would steer a terminal; one of which only the end
// is kept is left out.
func (c *complaints) lines() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := strings.Split(strings.TrimSpace(string(c.text)), "\n")
	if len(c.text) == maxStderr && len(list) > 1 {
		list = list[1:]
	}
	for _, line := range list {
		if line = printable.Line(line); line != "" {
			out = append(out, line)
		}
	}
	return out[max(0, len(out)-logLines):]
}

// last returns the last line.
func (c *complaints) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.TrimSpace(string(c.text))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
