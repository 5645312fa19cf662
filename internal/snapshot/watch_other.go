//go:build !linux

package snapshot

import "context"

// watcher is for systems that cannot tell at once what changed: there is none,
// and each snapshot asks git.
type watcher struct{}

func (*watcher) close()                                  {}
func (*watcher) pending() bool                           { return true }
func (*watcher) drain() (dirty map[string]bool, ok bool) { return nil, false }

func (s *Store) startWatch(context.Context) {}
