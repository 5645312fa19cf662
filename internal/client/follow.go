package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/sse"
)

const (
	// silence is how long a stream may say nothing: heartbeats come every 10 s.
	silence = 35 * time.Second
	// A stream that broke is opened again after a moment, later and later.
	firstRetry, lastRetry = 200 * time.Millisecond, 5 * time.Second
)

// Update is an event, or a change in the state of the stream.
type Update struct {
	lathe.Envelope       // without an Event: the state of the stream
	Open           bool  // the stream is open
	Lost           bool  // with Open: events were missed, so what was read is out of date
	Err            error // why it is not open
	Retry          time.Duration
	// Server is where the stream comes from, or is looked for first, as it is shown; "" where
	// there is one server only.
	Server string
}

// Source is a server in the same process; *server.Server is one. It passes on
// directly what can be large.
type Source interface {
	Follow(ctx context.Context, dir string, after uint64) iter.Seq2[lathe.Envelope, error]
	History(ctx context.Context, id lathe.SessionID, before int64, limit int) ([]lathe.Message, error)
	Outcome(ctx context.Context, m lathe.MessageID) (api.Outcome, error)
}

// Follow yields the events of the client's directory. First the stream opens;
// then whatever happens is yielded. If it breaks, that is reported and it is
// opened again after a moment, any number of times; it continues where it was, or
// says that events were lost. An error ends it: the cause of the context, or a
// refusal.
func (c turns) Follow(ctx context.Context) iter.Seq2[Update, error] {
	if c.source != nil {
		return c.followLocal(ctx)
	}
	return func(yield func(Update, error) bool) {
		f := &follower{c: c.conn, yield: yield, wait: firstRetry}
		for {
			err := f.stream(ctx)
			switch {
			case f.over:
				return
			case ctx.Err() != nil:
				yield(Update{}, context.Cause(ctx))
				return
			case refusal(err):
				yield(Update{}, err)
				return
			case !yield(Update{Err: err, Retry: f.wait, Server: f.c.server()}, nil):
				return
			}
			if err := sleep(ctx, f.wait); err != nil {
				yield(Update{}, err)
				return
			}
			f.wait = min(2*f.wait, lastRetry)
		}
	}
}

// followLocal reads the bus itself. A reader that is too slow has lost events.
func (c turns) followLocal(ctx context.Context) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		for first := true; ; first = false {
			var end error
			for env, err := range c.source.Follow(ctx, c.dir, 0) {
				if err != nil {
					end = err
					break
				}
				if !yield(Update{Envelope: env, Open: env.Event == nil, Lost: env.Event == nil && !first}, nil) {
					return
				}
			}
			if !errors.Is(end, api.ErrLost) {
				yield(Update{}, end)
				return
			}
		}
	}
}

// refusal reports an answer that will not change by asking again.
func refusal(err error) bool {
	if e, ok := errors.AsType[*lathe.Error](err); ok && !errors.Is(err, ErrUnreachable) {
		return e.Code != lathe.CodeInternal && e.Code != lathe.CodeBusy && e.Code != lathe.CodeUnavailable
	}
	return false
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// follower is where a reader of events is.
type follower struct {
	c      *conn
	yield  func(Update, error) bool
	last   string // id of the newest event
	opened bool   // it was open before
	over   bool   // the caller has enough
	wait   time.Duration
}

var errSilent = errors.New("the server has not answered for a while")

// stream reads one connection to its end.
func (f *follower) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dead := time.AfterFunc(f.c.patience, func() { cancel(errSilent) })
	defer dead.Stop()
	var header []string
	if f.last != "" {
		header = []string{"Last-Event-ID", f.last}
	}
	resp, err := f.c.request(ctx, http.MethodGet, "/lathe/event", nil, nil, header...)
	if err != nil && ctx.Err() != nil {
		return f.cut(ctx)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for ev, err := range sse.Read(resp.Body, eventLimit) {
		switch {
		case err != nil && ctx.Err() != nil:
			return f.cut(ctx)
		case err != nil:
			return fmt.Errorf("read events: %w", err)
		}
		dead.Reset(f.c.patience)
		if f.take(ev); f.over {
			return nil
		}
	}
	return errors.New("the server ended the stream")
}

// cut returns why a stream ends whose context has ended.
func (f *follower) cut(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, errSilent) {
		f.c.silent()
	}
	return err
}

// take hands one frame on.
func (f *follower) take(ev sse.Event) {
	seq := number(ev.ID)
	env, err := wire.DecodeOwnEvent(ev.Data)
	if errors.Is(err, wire.ErrUnknownEvent) {
		var in struct {
			Type       string
			Properties struct{ Resumed bool }
		}
		if json.Unmarshal(ev.Data, &in) == nil && in.Type == "server.connected" {
			f.last, f.wait = ev.ID, firstRetry
			f.over = !f.yield(Update{Envelope: lathe.Envelope{Seq: seq}, Open: true, Lost: f.opened && !in.Properties.Resumed, Server: f.c.server()}, nil)
			f.opened = true
		}
		return
	}
	if ev.ID != "" {
		f.last = ev.ID
	}
	if err != nil { // for instance from a newer server: its effect shows when it is read
		f.over = !f.yield(Update{Envelope: lathe.Envelope{Seq: seq}, Open: true, Lost: true}, nil)
		return
	}
	env.Seq = seq
	if m, ok := env.Event.(lathe.MessageUpdated); ok {
		f.c.prompts.seen(m.Message.SessionID, m.Message.ID)
	}
	f.over = !f.yield(Update{Envelope: env}, nil)
}

// number returns the number of an event from the id of its frame.
func number(id string) uint64 {
	n, _ := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	return n
}
