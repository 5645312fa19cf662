package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"lathe/internal/bus"
	"lathe/internal/instance"
)

// listener is the part of an instance that hands the directory's events to plugins,
// until the instance is closed or the service ends.
type listener struct {
	s    *Service
	inst *instance.Instance

	missed atomic.Int64 // times that plugins were too slow
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

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

// Start subscribes; what is published from then on is handed over.
func (l *listener) Start(context.Context, func()) error {
	ctx, cancel := context.WithCancel(l.s.ctx)
	l.cancel = cancel
	sub := l.subscribe(ctx)
	l.wg.Go(func() { l.follow(ctx, sub) })
	return nil
}

func (l *listener) subscribe(ctx context.Context) *bus.Subscription {
	return l.s.opts.Bus.Subscribe(ctx, bus.Filter{Directory: l.inst.Root.Dir}, bus.Limits{})
}

func (l *listener) follow(ctx context.Context, sub *bus.Subscription) {
	for {
		ev, err := sub.Next(ctx)
		switch {
		case err == nil:
			l.inst.Hooks.Event(ctx, ev)
			continue
		case errors.Is(err, bus.ErrSlow):
			l.missed.Add(1)
			l.s.opts.Log.Warn("plugins were too slow and missed events", "dir", l.inst.Root.Dir)
			sub.Close()
			sub = l.subscribe(ctx)
			continue
		}
		sub.Close()
		return
	}
}

// Status tells whether plugins missed events.
func (l *listener) Status() string {
	if n := l.missed.Load(); n > 0 {
		return fmt.Sprintf("plugins were too slow %d times and missed events", n)
	}
	return ""
}

// Close ends the handing over and waits for the event that is being handed over.
func (l *listener) Close() error {
	l.cancel()
	l.wg.Wait()
	return nil
}
