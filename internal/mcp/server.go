package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lathe/internal/config"
	"lathe/internal/shell"
)

// State is how far a server has come.
type State string

// States of a server.
const (
	Waiting           State = "waiting" // it starts with its first call
	Starting          State = "starting"
	Connected         State = "connected"
	Failed            State = "failed" // it is tried again when it is needed
	Disabled          State = "disabled"
	NeedsAuth         State = "needs_auth"
	NeedsRegistration State = "needs_client_registration"
)

// Status is what a person is shown of a server. It holds no secrets.
type Status struct {
	Name   string
	Remote bool
	Where  string // the command, or the address
	State  State
	Why    string // why it failed, or what to do
	Known  *Known // what it offers, if that is known; nil: it never ran
	OAuth  bool   // it can be logged in to
	Free   bool   // its program is not confined
	Memory int64  // bytes that its processes have; 0: it does not run, or runs elsewhere
}

const (
	startTime = 30 * time.Second // to connect and to list, unless configured otherwise
	// leastListTime keeps servers with a short timeout from being started twice.
	leastListTime = 5 * time.Second
	firstRetry    = time.Second
	longestWait   = time.Minute // between two starts
	patience      = 2 * time.Second
)

// server is one configured server.
type server struct {
	set  *Servers
	conf config.MCP

	mu       sync.Mutex
	on       bool
	closed   bool
	upkeep   bool // something starts it again whenever it ends
	state    State
	why      error
	live     *conn
	starting chan struct{} // closed when the start in progress is over; nil if none is
	cancel   context.CancelCauseFunc
	failures int       // in a row
	retry    time.Time // not before
	memo     *Known
	looked   bool // the cache was searched for memo
}

func newServer(set *Servers, c config.MCP) *server {
	return &server{set: set, conf: c, on: c.Enabled == nil || *c.Enabled, state: Waiting}
}

func (s *server) enabled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.on && !s.closed
}

// untried reports whether nobody tried to start it in this process.
func (s *server) untried() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == Waiting && s.starting == nil
}

// known returns what it offers, from the cache if it does not run; nil if that is not
// known.
func (s *server) known() *Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked {
		s.looked, s.memo = true, s.set.cache.get(s.conf)
	}
	return s.memo
}

// memory returns how many bytes the processes of the server have.
func (s *server) memory() int64 {
	s.mu.Lock()
	c := s.live
	s.mu.Unlock()
	if c == nil || c.proc == nil {
		return 0
	}
	return shell.Resident(c.proc.service.PIDs())
}

func (s *server) status() Status {
	known := s.known()
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Status{
		Name: s.conf.Name, Remote: s.conf.Type == "remote", Where: Where(s.conf), State: s.state, Known: known,
		OAuth: s.conf.Type == "remote" && !s.conf.OAuth.Off,
	}
	if free := s.set.o.Unconfined; free != nil && s.conf.Type == "local" {
		st.Free = free(s.conf.Name)
	}
	if s.why != nil && s.state != Connected {
		st.Why = clean(s.hide(s.why.Error()), 500)
	}
	if !s.on {
		st.State, st.Why = Disabled, ""
	}
	return st
}

// BusyError means that a server ended recently and is not started again yet.
type BusyError struct {
	Name string
	Wait time.Duration
	Why  error
}

// Error says when it is tried again.
func (e *BusyError) Error() string {
	return fmt.Sprintf("MCP server %q ended (%v); it is started again in %s at the earliest", e.Name, e.Why, e.Wait.Round(time.Second))
}

// connect returns the connection to a server starting it first if it is not
// running. Concurrent callers wait for the same start, which continues when they
// leave. With now it does not mind how lately the server ended.
func (s *server) connect(ctx context.Context, now bool) (*conn, error) {
	for {
		s.mu.Lock()
		switch {
		case s.closed:
			s.mu.Unlock()
			return nil, ErrClosed
		case !s.on:
			s.mu.Unlock()
			return nil, fmt.Errorf("MCP server %q is switched off", s.conf.Name)
		case s.live != nil:
			c := s.live
			s.mu.Unlock()
			return c, nil
		}
		if s.starting == nil {
			if wait := s.retry.Sub(s.set.o.Now()); wait > patience && !now {
				err := &BusyError{s.conf.Name, wait, s.why}
				s.mu.Unlock()
				return nil, err
			}
			s.begin(now)
		}
		started := s.starting
		s.mu.Unlock()
		select {
		case <-started:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		s.mu.Lock()
		c, why := s.live, s.why
		s.mu.Unlock()
		if c != nil || why != nil {
			return c, why
		}
	}
}

// begin starts the server in the background. The caller holds mu.
func (s *server) begin(now bool) {
	s.starting, s.state, s.why = make(chan struct{}), Starting, nil
	ctx, cancel := context.WithCancelCause(s.set.ctx)
	s.cancel = cancel
	wait := s.retry.Sub(s.set.o.Now())
	if now {
		wait = 0
	}
	s.set.wg.Go(func() {
		defer cancel(nil)
		s.start(ctx, wait)
	})
}

// startBeside starts the server in the background, unless it is running or starting.
func (s *server) startBeside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on && !s.closed && s.live == nil && s.starting == nil {
		s.begin(false)
	}
}

// awaitStart waits for a running start.
func (s *server) awaitStart(ctx context.Context) {
	s.mu.Lock()
	started := s.starting
	s.mu.Unlock()
	if started == nil {
		return
	}
	select {
	case <-started:
	case <-ctx.Done():
	}
}

// start makes the connection and notes the outcome.
func (s *server) start(ctx context.Context, wait time.Duration) {
	err := pause(ctx, wait)
	var c *conn
	var known *Known
	if err == nil {
		c, known, err = s.dial(ctx)
	}
	if err != nil && s.set.ctx.Err() == nil {
		s.set.o.Log.Warn("an MCP server could not be started", "server", s.conf.Name, "err", s.hide(err.Error()))
	}
	s.mu.Lock()
	if err == nil && (s.closed || !s.on) {
		err = ErrClosed
	}
	started := s.starting
	s.starting = nil
	if err != nil {
		s.failed(err)
		s.mu.Unlock()
		if c != nil {
			c.end()
		}
		close(started)
		return
	}
	s.live, s.state, s.why = c, Connected, nil
	s.mu.Unlock()
	s.learned(known)
	close(started)
	s.set.wg.Go(func() { s.watch(c) })
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// failed notes why the server does not run. The caller holds mu.
func (s *server) failed(err error) {
	s.state, s.why = Failed, err
	if login, ok := errors.AsType[*LoginError](err); ok {
		s.state = NeedsAuth
		if login.Register {
			s.state = NeedsRegistration
		}
		return
	}
	wait := longestWait
	switch {
	case s.failures == 0: // once is not a pattern
		wait = 0
	case s.failures < 7:
		wait = min(wait, firstRetry<<(s.failures-1))
	}
	s.failures++
	s.retry = s.set.o.Now().Add(wait)
}

// watch waits for the end of a connection and notes it.
func (s *server) watch(c *conn) {
	why := c.wait()
	s.mu.Lock()
	if s.live == c {
		s.live = nil
		if s.set.o.Now().Sub(c.since) > longestWait {
			s.failures = 0
		}
		s.failed(why)
	}
	s.mu.Unlock()
	if s.set.ctx.Err() == nil && s.enabled() {
		s.set.o.Log.Warn("an MCP server ended", "server", s.conf.Name, "err", s.hide(why.Error()))
	}
}

// keepUp starts the server, and again whenever it has ended. The caller may hold the
// set's mu.
func (s *server) keepUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.upkeep {
		return
	}
	s.upkeep = true
	s.set.wg.Go(func() {
		for s.enabled() {
			s.mu.Lock()
			wait := s.retry.Sub(s.set.o.Now())
			s.mu.Unlock()
			_ = pause(s.set.ctx, wait) // connect notices when everything ends
			c, err := s.connect(s.set.ctx, true)
			if c != nil {
				<-c.done
			}
			if _, login := errors.AsType[*LoginError](err); login {
				break
			}
		}
		s.mu.Lock()
		s.upkeep = false
		s.mu.Unlock()
	})
}

// switchOn lets the server start, or ends it.
func (s *server) switchOn(on bool) {
	s.mu.Lock()
	changed := s.on != on
	s.on = on
	if on {
		s.retry = time.Time{}
		if s.state != Connected && s.state != Starting {
			s.state, s.why = Waiting, nil
		}
	}
	s.mu.Unlock()
	if !on {
		s.stop(fmt.Errorf("MCP server %q was switched off", s.conf.Name))
	}
	if changed {
		s.set.toolsChanged(s.conf.Name)
	}
}

// stop ends a running or starting server, and waits for that.
func (s *server) stop(why error) {
	s.mu.Lock()
	c, started := s.live, s.starting
	s.live = nil
	if started != nil {
		s.cancel(why)
	}
	s.mu.Unlock()
	if c != nil {
		c.endWith(why)
	}
	if started != nil {
		<-started
		s.mu.Lock()
		c = s.live
		s.live = nil
		s.mu.Unlock()
		if c != nil {
			c.endWith(why)
		}
	}
	s.mu.Lock()
	if s.live == nil && s.starting == nil {
		s.state, s.why = Waiting, nil
	}
	s.mu.Unlock()
}

// restart ends the running server; the next call starts it again.
func (s *server) restart() {
	s.stop(fmt.Errorf("MCP server %q is being restarted", s.conf.Name))
	s.mu.Lock()
	s.retry, s.failures = time.Time{}, 0
	s.mu.Unlock()
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(ErrClosed)
}

// learned keeps what the server offers.
func (s *server) learned(known *Known) {
	before := s.known()
	changed := known.compare(before)
	s.mu.Lock()
	s.memo = known
	s.mu.Unlock()
	if err := s.set.cache.put(s.conf, known); err != nil {
		s.set.o.Log.Warn("what an MCP server offers could not be kept", "server", s.conf.Name, "err", err)
	}
	if changed {
		s.set.toolsChanged(s.conf.Name)
	}
}

// timeout returns how long to wait for a connection and for lists.
func (s *server) timeout() time.Duration {
	if s.conf.Timeout > 0 {
		return time.Duration(s.conf.Timeout) * time.Millisecond
	}
	return startTime
}

// listTime returns how long a local server that has just connected may take to tell
// what it has before it is started anew, once, with its whole time.
func (s *server) listTime() time.Duration {
	if s.set.listTime > 0 {
		return s.set.listTime
	}
	return max(s.timeout()/3, leastListTime)
}

// callTimeout returns how long to wait for a result, or for progress.
func (s *server) callTimeout() time.Duration {
	switch {
	case s.conf.Timeout > 0:
		return time.Duration(s.conf.Timeout) * time.Millisecond
	case s.set.o.Timeout > 0:
		return s.set.o.Timeout
	}
	return time.Minute
}
