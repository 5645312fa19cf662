package session

import (
	"context"
	"errors"

	"lathe/internal/bus"
	"lathe/internal/instance"
)

// listen hands the directory's events to plugins until the instance is closed or
// the service ends.
func (s *Service) listen(inst *instance.Instance) {
	dir, hooks := inst.Root.Dir, inst.Hooks
	if !hooks.Listens() {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	inst.OnClose(cancel)
	subscribe := func() *bus.Subscription { return s.opts.Bus.Subscribe(ctx, bus.Filter{Directory: dir}, bus.Limits{}) }
	sub := subscribe()
	s.wg.Go(func() {
		for {
			ev, err := sub.Next(ctx)
			switch {
			case err == nil:
				hooks.Event(ctx, ev)
				continue
			case errors.Is(err, bus.ErrSlow):
				s.opts.Log.Warn("plugins were too slow and missed events", "dir", dir)
				sub.Close()
				sub = subscribe()
				continue
			}
			sub.Close()
			return
		}
	})
}
