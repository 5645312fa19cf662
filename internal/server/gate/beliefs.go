package gate

import (
	"errors"
	"sync"
	"time"

	"lathe/internal/store"
)

const (
	// Fresh is how long what was revoked or ended elsewhere may still be taken for valid.
	Fresh = 5 * time.Second
	// Stale is how long what was valid is while the store cannot be reached.
	Stale = 10 * time.Minute

	mostBeliefs = 10_000
)

// Beliefs remember for a while what a store said of a token or a login. What it did not know is
// asked again each time. They may be used concurrently.
type Beliefs[T any] struct {
	Now func() time.Time

	mu sync.Mutex
	by map[string]belief[T]
}

type belief[T any] struct {
	what T
	at   time.Time
}

// Of returns what is believed of a key, or what ask finds out.
func (b *Beliefs[T]) Of(key []byte, ask func() (T, error)) (T, error) {
	name, now := string(key), b.Now()
	b.mu.Lock()
	k, ok := b.by[name]
	b.mu.Unlock()
	if ok && now.Sub(k.at) < Fresh {
		return k.what, nil
	}
	got, err := ask()
	if errors.Is(err, store.ErrAway) && ok && now.Sub(k.at) < Stale {
		return k.what, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		delete(b.by, name)
		return got, err
	}
	if b.by == nil || len(b.by) >= mostBeliefs {
		b.by = map[string]belief[T]{}
	}
	b.by[name] = belief[T]{got, now}
	return got, nil
}

// Forget makes Of ask again.
func (b *Beliefs[T]) Forget(key []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.by, string(key))
}
