package adapter

import (
	"context"
	"fmt"
	"io"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"lathe/internal/llm"
)

// watch cancels a request when one of its phases takes too long.
type watch struct {
	// cancel is nil when the request has ended. The runtime keeps timers that were stopped, some
	// of them until they would have been due, and with them all that their functions know: these
	// must not know what reads the answer.
	cancel  atomic.Pointer[context.CancelCauseFunc]
	t       Timeouts
	phase   *time.Timer // to the first byte, then between pieces of the answer
	connect *time.Timer
	total   context.CancelFunc
	drips   atomic.Bool // bytes came since the last piece of the answer
}

func watchRequest(ctx context.Context, t Timeouts) (*watch, context.Context) {
	w := &watch{t: t, total: func() {}}
	ctx, cancel := context.WithCancelCause(ctx)
	w.cancel.Store(&cancel)
	if t.Total > 0 {
		ctx, w.total = context.WithTimeoutCause(ctx, t.Total, timeoutError("the provider's answer took longer than %s", t.Total))
	}
	w.phase = w.after(t.Header, "the provider did not answer within %s")
	return w, ctx
}

func (w *watch) after(d time.Duration, format string) *time.Timer {
	if d <= 0 {
		return nil
	}
	return time.AfterFunc(d, func() { w.end(timeoutError(format, d)) })
}

func timeoutError(format string, d time.Duration) *llm.Error {
	return &llm.Error{Kind: llm.KindTimeout, Message: fmt.Sprintf(format, d), Retryable: true, RetryAfter: -1}
}

// stalled ends the request of an idle provider.
func (w *watch) stalled(idle time.Duration) {
	if w.drips.Load() {
		w.end(timeoutError("the provider stalled: for %s it sent bytes, but nothing of an answer", idle))
		return
	}
	w.end(timeoutError("the provider stalled: it sent nothing for %s", idle))
}

// settle shortens the idle limit. It also works where there was none.
func (w *watch) settle() {
	if w.t.Idle > 0 && w.t.Idle <= settleTime {
		return
	}
	w.t.Idle = settleTime
	stopTimer(w.phase)
	w.phase = w.after(settleTime, "the provider sent no end of its answer for %s")
}

// trace bounds the time between asking for a connection and getting one.
func (w *watch) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(host string) {
			stopTimer(w.connect)
			w.connect = w.after(w.t.Connect, "no connection to "+strings.ReplaceAll(host, "%", "%%")+" within %s")
		},
		GotConn: func(httptrace.GotConnInfo) { stopTimer(w.connect) },
	})
}

func (w *watch) stop() {
	stopTimer(w.phase)
	stopTimer(w.connect)
	w.total()
	w.end(nil)
	w.cancel.Store(nil)
}

// end cancels the request, for a reason that those who wait for it are told.
func (w *watch) end(why error) {
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)(why)
	}
}

func stopTimer(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

// watchedBody reads a response body within the idle limit, which is the time
// without a piece of the answer: comments, pings and bytes that complete nothing
// do not count. The clock runs only while a read is waiting, so a slow consumer
// does not count as a silent provider.
type watchedBody struct {
	ctx   context.Context
	r     io.Reader
	w     *watch
	a     *Answer
	left  int64
	begun bool          // the first byte came
	told  int           // a.content when the idle clock was last set back
	quiet time.Duration // how long the provider may still be idle
}

func (b *watchedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &llm.Error{Kind: llm.KindProtocol, RetryAfter: -1, Message: fmt.Sprintf("the provider's answer is larger than %d MiB", maxAnswer>>20)}
	}
	start := time.Now()
	if b.begun && b.w.phase != nil { // before, the header limit still runs
		b.w.phase.Reset(b.idle())
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if b.begun {
		stopTimer(b.w.phase)
		b.quiet -= time.Since(start)
		b.w.drips.Store(b.w.drips.Load() || n > 0)
	} else if n > 0 {
		b.begun = true
		stopTimer(b.w.phase)
		b.w.phase, b.quiet = nil, b.w.t.Idle
		if b.w.t.Idle > 0 {
			w, idle := b.w, b.w.t.Idle
			b.w.phase = time.AfterFunc(idle, func() { w.stalled(idle) })
			b.w.phase.Stop()
		}
	}
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	return n, err
}

// idle returns how long the provider may still be idle; each piece of the
// answer resets it.
func (b *watchedBody) idle() time.Duration {
	if b.told != b.a.content {
		b.told, b.quiet = b.a.content, b.w.t.Idle
		b.w.drips.Store(false)
	}
	b.quiet = min(b.quiet, b.w.t.Idle) // which may have been shortened
	return max(b.quiet, time.Nanosecond)
}

// drain reads the few bytes that end a finished answer.
func (b *watchedBody) drain() {
	w := b.w
	defer stopTimer(time.AfterFunc(drainTime, func() { w.end(nil) }))
	_, _ = io.Copy(io.Discard, io.LimitReader(b.r, maxBody))
}
