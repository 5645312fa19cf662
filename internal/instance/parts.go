package instance

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Part is something that an instance starts when it is first needed, and that closes
// with it: a tool server, a language server, a plugin. Its methods may be called by
// any number of callers.
type Part interface {
	// Name is unique within an instance.
	Name() string
	// Start makes it ready, or says why that failed. It is called again only after
	// a failure. Changed may be called from then on, whenever what the part offers
	// has changed; it does not wait. Ctx is for the start only and ends when Start
	// returns.
	Start(ctx context.Context, changed func()) error
	// Status says in a few words how a started part is doing; empty means that
	// all is well.
	Status() string
	// Close ends it and waits until it has ended. It is called once, and only if
	// Start was called.
	Close() error
}

// State is the stage that a [Part] has reached.
type State string

// States of a part.
const (
	Waiting  State = "waiting" // nothing needed it yet
	Starting State = "starting"
	Ready    State = "ready"
	Failed   State = "failed" // it can be started again
	Closed   State = "closed"
)

// PartStatus is what a person is told of a part.
type PartStatus struct {
	Name   string
	State  State
	Detail string // why it failed, or how it is doing
}

// ErrClosed means that the instance is closed, and its parts with it.
var ErrClosed = errors.New("the directory's instance is closed")

// Parts are the parts of an instance. One that fails does not harm the others. The
// zero value is ready.
type Parts struct {
	mu        sync.Mutex
	all       []*heldPart
	listeners []func(name string)
	closed    bool
}

type heldPart struct {
	part    Part
	began   bool // Start was called
	state   State
	why     error
	started chan struct{} // closed when the running start is over; nil: none runs
	cancel  context.CancelCauseFunc
}

// Add adds a part. Nothing of it runs before [Parts.Start]. A name that is taken is
// refused.
func (p *Parts) Add(part Part) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.find(part.Name()) != nil {
		return fmt.Errorf("there is a part %q already", part.Name())
	}
	p.all = append(p.all, &heldPart{part: part, state: Waiting})
	return nil
}

// find returns a part by name, or nil. The caller holds mu.
func (p *Parts) find(name string) *heldPart {
	for _, h := range p.all {
		if h.part.Name() == name {
			return h
		}
	}
	return nil
}

// OnChange registers a function to call whenever what a part offers has changed.
func (p *Parts) OnChange(f func(name string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listeners = append(p.listeners, f)
}

// Start makes a part ready and returns when it is, or why it is not. Callers that arrive in
// the meantime wait for the same start. A ready part stays ready; a failed one is tried again.
// The end of ctx ends the waiting and, for the first caller, the start.
func (p *Parts) Start(ctx context.Context, name string) error {
	for {
		p.mu.Lock()
		h := p.find(name)
		switch {
		case h == nil:
			p.mu.Unlock()
			return fmt.Errorf("there is no part %q", name)
		case p.closed:
			p.mu.Unlock()
			return ErrClosed
		case h.state == Ready:
			p.mu.Unlock()
			return nil
		case h.started == nil:
			h.began, h.state, h.started = true, Starting, make(chan struct{})
			ctx, cancel := context.WithCancelCause(ctx)
			h.cancel = cancel
			p.mu.Unlock()
			defer cancel(nil)
			return p.run(ctx, h)
		}
		started := h.started
		p.mu.Unlock()
		select {
		case <-started:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		p.mu.Lock()
		state, why := h.state, h.why
		p.mu.Unlock()
		if state == Failed {
			return why
		}
	}
}

func (p *Parts) run(ctx context.Context, h *heldPart) error {
	name := h.part.Name()
	err := guard(name, func() error { return h.part.Start(ctx, func() { p.changed(name) }) })
	p.mu.Lock()
	defer p.mu.Unlock()
	h.state, h.why = Ready, err
	if err != nil {
		h.state = Failed
	}
	close(h.started)
	h.started = nil
	return err
}

func (p *Parts) changed(name string) {
	p.mu.Lock()
	listeners := p.listeners
	p.mu.Unlock()
	for _, f := range listeners {
		f(name)
	}
}

// Status returns how all parts are doing, in the order they were added.
func (p *Parts) Status() []PartStatus {
	p.mu.Lock()
	held := make([]heldPart, len(p.all))
	for n, h := range p.all {
		held[n] = *h
	}
	p.mu.Unlock()
	out := make([]PartStatus, 0, len(held))
	for _, h := range held {
		s := PartStatus{Name: h.part.Name(), State: h.state}
		switch h.state {
		case Failed:
			s.Detail = h.why.Error()
		case Ready:
			s.Detail = h.part.Status()
		}
		out = append(out, s)
	}
	return out
}

// Close ends all parts in parallel and returns when they have ended. A start in
// progress is cancelled and waited for. Closing twice does nothing.
func (p *Parts) Close() error {
	p.mu.Lock()
	p.closed = true
	all := p.all
	p.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for n, h := range all {
		wg.Go(func() { errs[n] = p.end(h) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (p *Parts) end(h *heldPart) error {
	p.mu.Lock()
	started, cancel := h.started, h.cancel
	p.mu.Unlock()
	if started != nil {
		cancel(ErrClosed)
		<-started
	}
	p.mu.Lock()
	skip := h.state == Closed || !h.began
	h.state = Closed
	p.mu.Unlock()
	if skip {
		return nil
	}
	if err := guard(h.part.Name(), h.part.Close); err != nil {
		return fmt.Errorf("close %s: %w", h.part.Name(), err)
	}
	return nil
}

// guard runs a part's own code: a panic in it becomes an error of the part.
func guard(name string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("part %q panicked: %v", name, r)
		}
	}()
	return f()
}
