package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/bus"
	"lathe/internal/instance"
)

// listener is the part of an instance that hands the directory's events to plugins,
// until the instance is closed or the service ends.
type listener struct {
	s    *Service
	inst *instance.Instance

	missed  atomic.Int64 // how often plugins were too slow
	waiting context.Context
	cancel  context.CancelFunc // ends the waiting: what is queued by then is still handed over
	handing context.Context
	abandon context.CancelFunc // ends the handing over
	wg      sync.WaitGroup
}

// lastEvents is how long plugins may take over the events still waiting at the end,
// for instance that a session is idle.
const lastEvents = 3 * time.Second

// listen adds the listener to an instance whose plugins want events.
func listen(ctx context.Context, s *Service, inst *instance.Instance) error {
	if !inst.Hooks.Listens() {
		return nil
	}
	l := &listener{s: s, inst: inst}
	if err := inst.Parts.Add(l); err != nil {
		return err
	}
	return inst.Parts.Start(ctx, l.Name())
}

// Name returns "plugin events".
func (*listener) Name() string { return "plugin events" }

// Start subscribes; events published from then on are handed over.
func (l *listener) Start(context.Context, func()) error {
	l.waiting, l.cancel = context.WithCancel(context.Background())
	l.handing, l.abandon = context.WithCancel(context.Background())
	sub := l.subscribe()
	l.wg.Go(func() { l.follow(sub) })
	l.inst.BeforeClose(l.drain)
	return nil
}

func (l *listener) subscribe() *bus.Subscription {
	return l.s.opts.Bus.Subscribe(l.handing, bus.Filter{Directory: l.inst.Root.Dir}, bus.Limits{})
}

func (l *listener) follow(sub *bus.Subscription) {
	for {
		ev, err := sub.Next(l.waiting)
		switch {
		case err == nil && l.handing.Err() == nil:
			l.inst.Hooks.Event(l.handing, ev)
			continue
		case errors.Is(err, bus.ErrSlow):
			l.missed.Add(1)
			l.s.opts.Log.Warn("plugins were too slow and missed events", "dir", l.inst.Root.Dir)
			sub.Close()
			sub = l.subscribe()
			continue
		}
		sub.Close()
		return
	}
}

// Status says whether plugins missed events.
func (l *listener) Status() string {
	if n := l.missed.Load(); n > 0 {
		return fmt.Sprintf("plugins were too slow %d times and missed events", n)
	}
	return ""
}

// drain hands over what is queued while the plugins still run, and ends.
func (l *listener) drain() {
	l.cancel()
	defer time.AfterFunc(lastEvents, l.abandon).Stop()
	l.wg.Wait()
}

// Close does nothing: what the listener follows has ended before the parts close.
func (l *listener) Close() error {
	l.abandon()
	return nil
}
