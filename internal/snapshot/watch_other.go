//go:build !linux

package snapshot

import (
	"context"
	"iter"
)

// watcher is for systems that cannot tell at once what changed: it never
// exists, and each snapshot asks git.
type watcher struct{}

func (*watcher) close()                                  {}
func (*watcher) pending() bool                           { return true }
func (*watcher) drain() (dirty map[string]bool, ok bool) { return nil, false }

func (*watcher) watched() iter.Seq[string] { return func(func(string) bool) {} }

func (s *Store) startWatch(context.Context) {}

// resume needs a watcher, so it does nothing here.
func (s *Store) resume(context.Context) (tree string, done bool, err error) { return "", false, nil }

// stamp and noteStamp serve resume.
func (g *gitDir) stamp() string    { return "" }
func (g *gitDir) noteStamp(string) {}

// verifyIndex has git compare the files with the index. The exit code says that
// some differ, which the scan will find anyway.
func (g *gitDir) verifyIndex(ctx context.Context) error {
	if _, err := g.run(ctx, nil, "update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return err
	}
	return nil
}
