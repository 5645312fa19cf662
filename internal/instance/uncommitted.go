package instance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"lathe/internal/surroundings"
	"lathe/internal/worktree"
)

const (
	dirtyWait  = 50 * time.Millisecond // for git, which in most projects answers in five
	dirtyLimit = 2 * time.Second       // after which git is stopped
	dirtyFresh = time.Second           // how long an early look stays valid
	maxDirty   = 8                     // changed files that are named
)

// uncommitted finds out which files have uncommitted changes. The zero value with look is
// ready; close it.
type uncommitted struct {
	look func(ctx context.Context) string // empty if that is not known

	mu     sync.Mutex
	early  *dirtyLook // started, but not asked for yet
	closed bool
	ctx    context.Context // ends with close
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// dirtyLook is a look that is running or done.
type dirtyLook struct {
	begun time.Time
	done  chan struct{} // closed when text is set
	text  string
}

func newUncommitted(look func(ctx context.Context) string) *uncommitted {
	u := &uncommitted{look: look}
	u.ctx, u.stop = context.WithCancel(context.Background())
	return u
}

// expect starts a look that is likely to be needed soon.
func (u *uncommitted) expect() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.early == nil || time.Since(u.early.begun) > dirtyFresh {
		u.early = u.begin()
	}
}

// take returns the look started a moment ago, or starts one.
func (u *uncommitted) take() *dirtyLook {
	u.mu.Lock()
	defer u.mu.Unlock()
	l := u.early
	u.early = nil
	if l == nil || time.Since(l.begun) > dirtyFresh {
		l = u.begin()
	}
	return l
}

// begin is called with mu held.
func (u *uncommitted) begin() *dirtyLook {
	l := &dirtyLook{begun: time.Now(), done: make(chan struct{})}
	if u.closed {
		close(l.done)
		return l
	}
	u.wg.Go(func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(u.ctx, dirtyLimit)
		defer cancel()
		l.text = u.look(ctx)
	})
	return l
}

// wait returns what was found. It waits for git only briefly: in a huge project,
// uncommitted changes go unreported.
func (l *dirtyLook) wait(ctx context.Context) string {
	limit := time.NewTimer(dirtyWait)
	defer limit.Stop()
	select {
	case <-l.done:
		return l.text
	case <-limit.C:
	case <-ctx.Done():
	}
	return ""
}

// close stops what runs and waits for it.
func (u *uncommitted) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.stop()
	u.wg.Wait()
}

// dirty says which files have uncommitted changes; empty outside git, and if git
// does not say.
func dirty(ctx context.Context, p *place, env []string) string {
	repo, err := worktree.Open(worktree.Options{Root: p.Root, Environ: env, Trusted: p.Trust.Given})
	if err != nil {
		return ""
	}
	files, all, err := repo.Dirty(ctx, maxDirty)
	switch {
	case err != nil:
		return ""
	case all == 0:
		return "nothing"
	}
	for n, f := range files {
		files[n] = surroundings.Shown(f)
	}
	text := strings.Join(files, ", ")
	if more := all - len(files); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
