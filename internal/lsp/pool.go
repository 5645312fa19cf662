package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/order"
	"lathe/internal/shell"
)

// Limits of servers, unless configured otherwise.
const (
	DefaultIdle   = 10 * time.Minute
	DefaultMemory = 4 << 30
	brokenFor     = 5 * time.Minute // until a server that could not be started is tried again
	mostCrashes   = 3               // within brokenFor
	lookAfter     = 20 * time.Second
)

// PoolOptions set up a [Pool].
type PoolOptions struct {
	Now func() time.Time // optional
	// Memory returns the resident size of processes in bytes; nil: as the system reports
	// it, if it does.
	Memory func(pids []int) int64
}

// Pool owns the language servers of a process. It is safe for concurrent use.
type Pool struct {
	opts PoolOptions

	mu      sync.Mutex
	all     []*entry
	closed  bool
	looking *time.Timer // runs while there are servers
	wg      sync.WaitGroup
}

// NewPool returns an empty pool.
func NewPool(o PoolOptions) *Pool {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Memory == nil {
		o.Memory = shell.Resident
	}
	return &Pool{opts: o}
}

// entry is a server: one that starts, runs, or could not be started.
type entry struct {
	pool  *Pool
	base  string // what users must have in common to share the server
	spec  *Spec
	ready chan struct{} // closed when client or err is set

	// The pool's mutex guards what follows.
	client  *client
	err     error
	until   time.Time // time from which it may be started again
	crashes []time.Time
	late    bool // somebody gave up waiting for its start
	used    time.Time
	users   map[*Servers][]string // roots
	reach   *Reach                // of the process; nil: everything
	heavy   time.Time             // when it was stopped for its memory
	cancel  context.CancelCauseFunc
}

// state of an entry, for people.
func (e *entry) state() string {
	switch {
	case e.err != nil:
		return "error"
	case e.client == nil:
		return "starting"
	}
	return "connected"
}

// wanted describes the server that a directory wants for a root.
type wanted struct {
	spec *Spec
	prog program
	root string
	by   *Servers
}

// kind says whether the server is confined: one that the repository brings always is.
func (w wanted) kind() shell.Kind {
	if w.spec.unconfined && !w.prog.own {
		return shell.KindFreeHelper
	}
	return shell.KindLSP
}

// base is what requests must have in common to be served by one server.
func (w wanted) base() string {
	options, _ := json.Marshal(w.by.place.options(w.spec, w.root)) // made of JSON
	return strings.Join(slices.Concat([]string{w.spec.ID, w.by.repository, fmt.Sprint(w.by.place.Trusted), string(w.kind()), string(options)}, w.prog.args, w.by.env(w.spec)), "\x00")
}

// get returns the server for a root. It starts one if there is none, and waits for
// nothing; see [entry.await].
func (p *Pool) get(w wanted) (*entry, error) {
	base := w.base()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errEnded
	}
	for _, e := range p.all {
		if e.base != base {
			continue
		}
		switch {
		case e.err != nil && p.opts.Now().Before(e.until):
			return nil, e.err
		case e.err != nil:
			p.restart(e, w)
			return e, nil
		case !e.reach.has(w):
			continue // it was started before the root was there, or for somebody else
		case e.client != nil && e.client.add(w.root), e.client == nil && slices.Contains(e.users[w.by], w.root):
			p.use(e, w)
			return e, nil
		case e.client == nil: // it gets the root as soon as it runs, or another one is started
			return e, nil
		}
	}
	e := &entry{pool: p, base: base, spec: w.spec, users: map[*Servers][]string{}}
	p.all = append(p.all, e)
	p.restart(e, w)
	return e, nil
}

func (p *Pool) use(e *entry, w wanted) {
	e.used = p.opts.Now()
	if !slices.Contains(e.users[w.by], w.root) {
		e.users[w.by] = append(e.users[w.by], w.root)
	}
}

// restart begins the start of a server. The caller holds mu.
func (p *Pool) restart(e *entry, w wanted) {
	p.use(e, w)
	e.ready, e.client, e.err, e.late, e.reach = make(chan struct{}), nil, nil, false, w.reach()
	ctx, cancel := context.WithCancelCause(context.Background())
	e.cancel = cancel
	p.wg.Go(func() {
		defer cancel(nil)
		c, err := connect(ctx, launch{
			spec: w.spec, args: w.prog.args, root: w.root, env: w.by.env(w.spec), options: w.by.place.options(w.spec, w.root),
			kind: w.kind(), open: w.by.opts.Open, told: func(path string) { p.told(e, path) }, now: p.opts.Now,
		})
		p.started(e, c, err)
	})
}

func (p *Pool) started(e *entry, c *client, err error) {
	p.mu.Lock()
	e.client, e.err = c, err
	switch {
	case err != nil:
		e.until = p.opts.Now().Add(brokenFor)
	case p.closed:
		e.client, e.err = nil, errEnded
	default:
		p.wg.Go(func() { p.watch(e, c) })
		if p.looking == nil {
			p.looking = time.AfterFunc(lookAfter, p.look)
		}
	}
	users := slices.Collect(maps.Keys(e.users))
	failure := e.err
	close(e.ready)
	closed := p.closed
	p.mu.Unlock()
	if closed && c != nil {
		c.close(endGrace)
	}
	for _, s := range users {
		s.changed(e.spec, failure)
	}
}

// watch notes the end of a server that was not asked to end.
func (p *Pool) watch(e *entry, c *client) {
	<-c.gone()
	p.mu.Lock()
	if e.client != c {
		p.mu.Unlock()
		return // lathe stopped it
	}
	c.rpc.Close()
	now := p.opts.Now()
	e.client, e.err, e.until = nil, c.why(), now
	e.crashes = slices.DeleteFunc(append(e.crashes, now), func(t time.Time) bool { return now.Sub(t) > brokenFor })
	if len(e.crashes) >= mostCrashes {
		e.until = now.Add(brokenFor)
	}
	users := slices.Collect(maps.Keys(e.users))
	p.mu.Unlock()
	c.close(0)
	for _, s := range users {
		s.changed(e.spec, c.why())
	}
}

// await waits until a server runs and has the root. It does not wait for one that
// somebody has already given up on.
func (e *entry) await(ctx context.Context, root string) (*client, error) {
	p := e.pool
	p.mu.Lock()
	ready, late := e.ready, e.late
	p.mu.Unlock()
	if late {
		select {
		case <-ready:
		default:
			return nil, errSlow
		}
	}
	select {
	case <-ready:
	case <-ctx.Done():
		p.mu.Lock()
		e.late = true
		p.mu.Unlock()
		return nil, errSlow
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.err != nil {
		return nil, e.err
	}
	if e.client == nil || !slices.ContainsFunc(slices.Collect(maps.Values(e.users)), func(roots []string) bool { return slices.Contains(roots, root) }) {
		return nil, errOther
	}
	e.used = p.opts.Now()
	return e.client, nil
}

// giveUp notes that somebody gave up waiting for a server's start.
func (p *Pool) giveUp(w wanted) {
	base := w.base()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.all {
		if e.base == base && e.client == nil {
			e.late = true
		}
	}
}

var (
	errSlow  = errors.New("it has not answered yet")
	errOther = errors.New("it serves another directory")
)

// told tells the directories that use the server that a file's diagnostics changed.
func (p *Pool) told(e *entry, path string) {
	p.mu.Lock()
	users := slices.Collect(maps.Keys(e.users))
	p.mu.Unlock()
	for _, s := range users {
		s.diagnosed(e.spec.ID, path)
	}
}

// release removes a directory from all servers, and ends those that nobody uses any
// more. It returns when they have ended.
func (p *Pool) release(s *Servers) {
	p.mu.Lock()
	var over []*entry
	for _, e := range p.all {
		roots, ok := e.users[s]
		if !ok {
			continue
		}
		delete(e.users, s)
		for _, root := range roots {
			if e.client != nil && !e.needs(root) {
				e.client.drop(root)
			}
		}
		if len(e.users) == 0 {
			over = append(over, e)
		}
	}
	p.mu.Unlock()
	p.end(over)
}

// needs reports whether a directory uses a root. The caller holds the pool's mutex.
func (e *entry) needs(root string) bool {
	for _, roots := range e.users {
		if slices.Contains(roots, root) {
			return true
		}
	}
	return false
}

// end stops servers and removes them from the pool.
func (p *Pool) end(list []*entry) {
	p.mu.Lock()
	p.all = slices.DeleteFunc(p.all, func(e *entry) bool { return slices.Contains(list, e) })
	var clients []*client
	for _, e := range list {
		e.cancel(errEnded)
		if e.client != nil {
			clients = append(clients, e.client)
			e.client = nil
		}
	}
	if len(p.all) == 0 && p.looking != nil {
		p.looking.Stop()
		p.looking = nil
	}
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() { c.close(endGrace) })
	}
	wg.Wait()
}

// Close ends all servers and returns when they have ended.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := slices.Clone(p.all)
	p.mu.Unlock()
	p.end(all)
	p.wg.Wait()
}

// look stops servers that were idle for long, and the largest ones while all together
// use too much memory. It runs from time to time while there are servers.
func (p *Pool) look() {
	p.mu.Lock()
	if p.closed || p.looking == nil {
		p.mu.Unlock()
		return
	}
	now := p.opts.Now()
	var idle []*entry
	for _, e := range p.all {
		if e.client != nil && now.Sub(e.used) >= e.idle() {
			idle = append(idle, e)
		}
	}
	p.looking.Reset(lookAfter)
	p.mu.Unlock()
	p.end(idle)
	for _, e := range idle {
		for s := range e.users {
			s.changed(e.spec, nil)
		}
	}
	p.bound()
}

// idle is how long the server may be unused: the longest time that any of its users
// set.
func (e *entry) idle() (d time.Duration) {
	for s := range e.users {
		d = max(d, s.idle)
	}
	return d
}

// weighed is a server and the memory that it has.
type weighed struct {
	e    *entry
	size int64
}

// weigh returns the running servers, the largest first, and what they have together.
func (p *Pool) weigh() (list []weighed, sum int64) {
	p.mu.Lock()
	type running struct {
		e    *entry
		pids []int
	}
	var all []running
	for _, e := range p.all {
		if e.client != nil {
			all = append(all, running{e, e.client.proc.PIDs()})
		}
	}
	p.mu.Unlock()
	for _, r := range all {
		size := p.opts.Memory(r.pids)
		list, sum = append(list, weighed{r.e, size}), sum+size
	}
	order.Stable(list, func(a, b weighed) int { return cmp.Compare(b.size, a.size) })
	return list, sum
}

// bound stops the largest servers while all have too much. One that is needed again is
// restarted, unless it was stopped just before.
func (p *Pool) bound() {
	list, sum := p.weigh()
	for _, w := range list {
		limit := w.e.memory()
		if limit <= 0 || sum <= limit {
			return
		}
		sum -= w.size
		p.stopHeavy(w, limit)
	}
}

func (p *Pool) stopHeavy(w weighed, limit int64) {
	p.mu.Lock()
	c, now := w.e.client, p.opts.Now()
	if c == nil {
		p.mu.Unlock()
		return
	}
	again := !w.e.heavy.IsZero() && now.Sub(w.e.heavy) < 2*brokenFor
	w.e.client, w.e.heavy, w.e.until = nil, now, now
	w.e.err = fmt.Errorf("it took %s of memory, and servers may have %s together (languages.memory)", size(w.size), size(limit))
	then := "it is started again when it is needed"
	if again {
		w.e.until, then = now.Add(2*brokenFor), "it stays off for ten minutes"
	}
	users, why := slices.Collect(maps.Keys(w.e.users)), w.e.err
	p.mu.Unlock()
	c.close(endGrace)
	for _, s := range users {
		s.changed(w.e.spec, why)
		s.notice("The language server " + w.e.spec.ID + " was stopped: " + why.Error() + "; " + then + ".")
	}
}

func (e *entry) memory() (limit int64) {
	e.pool.mu.Lock()
	defer e.pool.mu.Unlock()
	for s := range e.users {
		limit = max(limit, s.memory)
	}
	return limit
}

func size(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
