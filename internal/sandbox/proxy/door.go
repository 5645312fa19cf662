package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"lathe/internal/netguard"
)

// Attempt is what a command wants to reach.
type Attempt struct {
	Target
	// Kind is the host's kind as far as its name shows, or that of Leads.
	Kind netguard.Kind
	// Leads is the address that the name leads to, if that is not on the open internet
	// although the name did not show it; otherwise none.
	Leads netip.Addr
	// Sent is how many bytes the command has sent to all hosts so far.
	Sent int64
}

// Judge says whether an attempt is allowed, nil if it is; it may wait for a person's
// answer. The error's text is sent to the command and kept by the door. It is asked
// once for each host of a door; ctx ends with the door.
type Judge func(ctx context.Context, a Attempt) error

// ErrQuiet is wrapped by a judge's error that only the command is told.
var ErrQuiet = errors.New("it is not allowed")

// Refused is an attempt that was not allowed.
type Refused struct {
	Target
	Why string
}

// Error says what was refused, and why.
func (r *Refused) Error() string { return r.Label() + " was not reached: " + r.Why }

// Traffic is what passed between a command and one host.
type Traffic struct {
	Host           string // see [Target.Label]
	Sent, Received int64  // bytes
}

// Door is the way out of one command. It is safe for concurrent use.
type Door struct {
	p     *Proxy
	judge Judge
	ctx   context.Context
	close context.CancelCauseFunc
	user  string // user name by which it is known at the proxy's own listener; see Local

	mu      sync.Mutex
	answers map[string]*answer
	traffic []*Traffic // in the order of the first connection
	refused []Refused
	conns   map[net.Conn]struct{}
	listen  []net.Listener
	pooled  http.RoundTripper // for plain requests; see forward
	asking  int
	since   time.Time     // when asking last rose above 0
	waited  time.Duration // total before since
}

type answer struct {
	done chan struct{}
	err  error
}

// Open returns a door that asks judge. Close it when the command has ended.
func (p *Proxy) Open(judge Judge) *Door {
	d := &Door{p: p, judge: judge, answers: map[string]*answer{}, conns: map[net.Conn]struct{}{}}
	d.ctx, d.close = context.WithCancelCause(p.ctx)
	return d
}

var errDoor = errors.New("the command has ended")

// Close ends the door's connections and pending asks. It may be called twice.
func (d *Door) Close() {
	d.close(errDoor)
	d.p.forget(d)
	d.mu.Lock()
	open, listen := slices.Collect(maps.Keys(d.conns)), d.listen
	d.mu.Unlock()
	for _, l := range listen {
		l.Close()
	}
	for _, c := range open {
		c.Close()
	}
}

// Serve accepts connections for this door alone from a listener; see [Proxy.Serve].
func (d *Door) Serve(l net.Listener) error {
	d.mu.Lock()
	d.listen = append(d.listen, l)
	ended := d.ctx.Err() != nil
	d.mu.Unlock()
	if ended {
		l.Close()
	}
	return d.p.Serve(l, func(string) *Door { return d })
}

// Offer serves the door on a listener in the background, and returns the address for the
// command. The listener is closed with the door.
func (d *Door) Offer(l net.Listener) *url.URL {
	d.p.wg.Go(func() { _ = d.Serve(l) })
	return &url.URL{Scheme: "http", Host: l.Addr().String()}
}

// Traffic returns what passed so far, for each host in the order they were reached.
func (d *Door) Traffic() []Traffic {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Traffic, len(d.traffic))
	for i, t := range d.traffic {
		out[i] = *t
	}
	return out
}

// Refused returns what was not allowed, each host once, in order.
func (d *Door) Refused() []Refused {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.refused)
}

// Waited is how long the command has waited for the judge's answers so far.
func (d *Door) Waited() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking == 0 {
		return d.waited
	}
	return d.waited + time.Since(d.since)
}

// may asks the judge, once for each host however many connections want it.
func (d *Door) may(ctx context.Context, a Attempt) error {
	key := fmt.Sprint(a.Label(), a.Leads)
	d.mu.Lock()
	known := d.answers[key]
	if known == nil {
		known = &answer{done: make(chan struct{})}
		d.answers[key] = known
		a.Sent = d.sent()
		d.begin()
		d.p.wg.Go(func() { d.ask(a, known) }) // it outlives a client that gives up and tries again
	}
	d.mu.Unlock()
	select {
	case <-known.done:
		return known.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *Door) ask(a Attempt, to *answer) {
	err := d.judge(d.ctx, a)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking--; d.asking == 0 {
		d.waited += time.Since(d.since)
	}
	switch {
	case errors.Is(err, ErrQuiet):
		to.err = &Refused{a.Target, err.Error()}
	case err != nil:
		to.err = d.refuse(a.Target, err.Error())
	}
	close(to.done)
}

// begin notes that an answer is awaited. The caller holds mu.
func (d *Door) begin() {
	if d.asking++; d.asking == 1 {
		d.since = time.Now()
	}
}

// refuse notes a refusal. The caller holds mu.
func (d *Door) refuse(t Target, why string) error {
	r := Refused{t, why}
	if !slices.ContainsFunc(d.refused, func(o Refused) bool { return o.Label() == t.Label() && o.Why == why }) && len(d.refused) < maxDoor {
		d.refused = append(d.refused, r)
	}
	return &r
}

// deny is refuse for a caller that does not hold mu.
func (d *Door) deny(t Target, why string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refuse(t, why)
}

// sent is the sum over all hosts. The caller holds mu.
func (d *Door) sent() (n int64) {
	for _, t := range d.traffic {
		n += t.Sent
	}
	return n
}

// to returns the account of a host.
func (d *Door) to(t Target) *Traffic {
	d.mu.Lock()
	defer d.mu.Unlock()
	label := t.Label()
	if i := slices.IndexFunc(d.traffic, func(o *Traffic) bool { return o.Host == label }); i >= 0 {
		return d.traffic[i]
	}
	one := &Traffic{Host: label}
	d.traffic = append(d.traffic, one)
	return one
}

// enter notes a connection to a host, and counts its bytes.
func (d *Door) enter(c net.Conn, t Target) (net.Conn, error) {
	account := d.to(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil || len(d.conns) >= maxDoor {
		c.Close()
		return nil, cmp.Or(context.Cause(d.ctx), errMany)
	}
	counted := &counted{Conn: c, door: d, account: account}
	d.conns[counted] = struct{}{}
	return counted, nil
}

var errMany = errors.New("the command has too many connections open")

// counted is a connection to a host.
type counted struct {
	net.Conn
	door    *Door
	account *Traffic
}

func (c *counted) count(to *int64, n int) {
	c.door.mu.Lock()
	*to += int64(n)
	c.door.mu.Unlock()
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.count(&c.account.Received, n)
	return n, err
}

// Write counts before it writes, so that whoever has a response finds the request counted.
func (c *counted) Write(b []byte) (int, error) {
	c.count(&c.account.Sent, len(b))
	n, err := c.Conn.Write(b)
	c.count(&c.account.Sent, n-len(b))
	return n, err
}

// CloseWrite says that nothing more will be written.
func (c *counted) CloseWrite() error { return closeWrite(c.Conn) }

// Close ends the connection.
func (c *counted) Close() error {
	c.door.mu.Lock()
	delete(c.door.conns, c)
	c.door.mu.Unlock()
	return c.Conn.Close()
}
