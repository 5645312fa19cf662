package instance

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// opening is an instance that is being made or is ready.
type opening struct {
	done chan struct{}
	inst *Instance
	err  error
}

// Set holds the instances of a process, one for each directory. It is safe for
// concurrent use.
type Set struct {
	open func(ctx context.Context, dir string) (*Instance, error)

	mu  sync.Mutex
	all map[string]*opening
}

// NewSet returns an empty set. Open makes the instance of a directory; it is called
// once for each, and again after a failure.
func NewSet(open func(ctx context.Context, dir string) (*Instance, error)) *Set {
	return &Set{open: open, all: map[string]*opening{}}
}

// Get returns what belongs to a directory, making it on first use.
func (s *Set) Get(ctx context.Context, dir string) (*Instance, error) {
	s.mu.Lock()
	o := s.all[dir]
	if o == nil {
		o = &opening{done: make(chan struct{})}
		s.all[dir] = o
		s.mu.Unlock()
		o.inst, o.err = s.open(ctx, dir)
		if o.err != nil {
			s.mu.Lock()
			delete(s.all, dir)
			s.mu.Unlock()
		}
		close(o.done)
		return o.inst, o.err
	}
	s.mu.Unlock()
	select {
	case <-o.done:
		return o.inst, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Opened returns the instance of a directory if there is one already, or nil.
func (s *Set) Opened(ctx context.Context, dir string) *Instance {
	s.mu.Lock()
	o := s.all[dir]
	s.mu.Unlock()
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return o.inst
	case <-ctx.Done():
		return nil
	}
}

// Directories returns the directories that have an instance.
func (s *Set) Directories() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dirs := make([]string, 0, len(s.all))
	for dir := range s.all {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs
}

// Forget takes the instance of a directory out of the set and does not close it; the
// next use makes a new one.
func (s *Set) Forget(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, dir)
}

// Close closes all instances and empties the set.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, o := range s.all {
		<-o.done
		if o.inst != nil {
			errs = append(errs, o.inst.Close())
		}
	}
	clear(s.all)
	return errors.Join(errs...)
}
