package workspace

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// Locks lets one edit at a time at each path. The zero value is ready for use
// by several goroutines. It binds this process only.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	slot  chan struct{} // holds one value while taken
	users int           // holders and waiters; the entry is removed when there are none
}

// Lock waits until none of the paths is locked and locks them all; unlock may be
// called more than once. The paths must be resolved. Two calls with the same
// paths in different order cannot block each other forever, but a caller that
// holds a lock must not ask for a second one. It fails only with the context's
// cause.
func (l *Locks) Lock(ctx context.Context, paths ...string) (unlock func(), err error) {
	keys := make([]string, len(paths))
	for i, p := range paths {
		if keys[i] = p; foldsNames {
			keys[i] = strings.ToLower(p)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i, key := range keys {
		if err := l.take(ctx, key); err != nil {
			l.release(keys[:i])
			return nil, err
		}
	}
	return sync.OnceFunc(func() { l.release(keys) }), nil
}

func (l *Locks) take(ctx context.Context, key string) error {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	k := l.held[key]
	if k == nil {
		k = &lock{slot: make(chan struct{}, 1)}
		l.held[key] = k
	}
	k.users++
	l.mu.Unlock()
	if ctx.Err() == nil {
		select {
		case k.slot <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	l.leave(key, k)
	return context.Cause(ctx)
}

func (l *Locks) release(keys []string) {
	for _, key := range keys {
		l.mu.Lock()
		k := l.held[key]
		l.mu.Unlock()
		<-k.slot
		l.leave(key, k)
	}
}

func (l *Locks) leave(key string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.held, key)
	}
}
