//go:build !linux

package snapshot

import (
	"context"
	"iter"
)

// watcher is for systems that cannot tell at once what changed: there is none,
// and each snapshot asks git.
type watcher struct{}

func (*watcher) close()                                  {}
func (*watcher) pending() bool                           { return true }
func (*watcher) drain() (dirty map[string]bool, ok bool) { return nil, false }

func (*watcher) watched() iter.Seq[string] { return func(func(string) bool) {} }

func (s *Store) startWatch(context.Context) {}
