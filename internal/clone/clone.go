// Package clone keeps clones of git repositories elsewhere, for workers that offer them: it
// makes a clone, or finds the one that was made before, and fetches before something new
// begins in it. What was done in a clone is never undone: its checkout moves on to what was
// fetched only where nothing could be lost.
package clone

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"lathe"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

const (
	cloneTime = time.Hour        // for all of a clone
	fetchTime = 45 * time.Second // for a fetch, which somebody waits for

	deadTime  = time.Minute            // for which a remote that did not answer is left alone
	lockPause = 200 * time.Millisecond // between looks at a lock that another worker holds
)

// Options say where clones are kept. Dir, Environ, Now and Say are needed.
type Options struct {
	Dir     string   // made when it is needed
	Environ []string // of git
	Now     func() time.Time
	// Say gets what a person should know, a line at a time. It may be called concurrently.
	Say func(line string)
}

// Clone is the checkout of a remote. It is safe for concurrent use.
type Clone struct {
	Remote Remote
	Dir    string // absolute, without links

	o    Options
	repo *worktree.Repo

	mu     sync.Mutex
	again  time.Time // nothing is fetched before
	began  time.Time // when the last fetch did
	stayed string    // why the checkout did not move on the last time
}

// Worktrees is where lathe makes the worktrees of a clone that it keeps itself.
func (c *Clone) Worktrees() string { return c.Dir + worktreesSuffix }

const worktreesSuffix = ".worktrees"

// WorktreesOf returns where the worktrees of a main checkout lie that is a clone among lathe's
// own worktrees, which are in parent: beside it. It is empty for all other checkouts.
func WorktreesOf(parent, checkout string) string {
	real, err := workspace.Resolve(parent)
	if err != nil || checkout == real || !workspace.Within(real, checkout) {
		return ""
	}
	return checkout + worktreesSuffix
}

// Home returns the directory of the clones that this machine keeps to itself, in lathe's data
// directory: no other machine has the same path, so what belongs to a clone of this one is
// never looked for in that of another.
func Home(data string) (string, error) {
	path := filepath.Join(data, "clones-id")
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("where clones are kept: %w", err)
	}
	defer func() { _ = lock.Close() }() // it is unlocked by that
	for range 2 {
		id, err := workspace.ReadFile(path, 64)
		if err == nil && len(id) == 8 && strings.Trim(string(id), "0123456789abcdef") == "" {
			return filepath.Join(data, "worktree", "clones-"+string(id)), nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("where clones are kept: %w", err)
		}
		fresh := make([]byte, 4)
		_, _ = rand.Read(fresh) // never fails
		if err := workspace.WriteFile(path, []byte(hex.EncodeToString(fresh)), 0o600); err != nil {
			return "", fmt.Errorf("where clones are kept: %w", err)
		}
	}
	return "", fmt.Errorf("where clones are kept: %s cannot be kept", path)
}

// Open returns the clone of a remote, which is made unless it is there. One worker makes it,
// if several want to at once. A clone that does not come about leaves nothing behind.
func Open(ctx context.Context, remote Remote, o Options) (*Clone, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("where clones are kept: %w", err)
	}
	parent, err := workspace.Resolve(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("where clones are kept: %w", err)
	}
	c := &Clone{Remote: remote, Dir: filepath.Join(parent, remote.name()), o: o}
	lock := flock.New(filepath.Join(parent, "."+remote.name()+".lock"), flock.SetPermissions(0o600))
	if err := c.alone(ctx, lock); err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }() // it is unlocked by that
	c.sweep()
	if _, err := os.Lstat(c.Dir); errors.Is(err, fs.ErrNotExist) {
		if err := c.make(ctx); err != nil {
			return nil, err
		}
	}
	return c, c.find(ctx)
}

// alone waits until no other worker makes this clone.
func (c *Clone) alone(ctx context.Context, lock *flock.Flock) error {
	got, err := lock.TryLock()
	if err == nil && !got {
		c.o.Say(fmt.Sprintf("another worker is making the clone of %s", c.Remote))
		_, err = lock.TryLockContext(ctx, lockPause)
	}
	if err != nil {
		return fmt.Errorf("wait for another worker that makes %s: %w", c.Dir, err)
	}
	return nil
}

// unfinished begins the names of clones that are being made.
func (c *Clone) unfinished() string { return "." + filepath.Base(c.Dir) + ".part-" }

// sweep removes what is left of clones that did not come about because their worker was killed.
// Nobody has worked in them.
func (c *Clone) sweep() {
	entries, _ := os.ReadDir(filepath.Dir(c.Dir))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), c.unfinished()) {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(c.Dir), e.Name()))
		}
	}
}

func (c *Clone) make(ctx context.Context) (err error) {
	c.o.Say(fmt.Sprintf("cloning %s into %s", c.Remote, c.Dir))
	began := c.o.Now()
	part, err := os.MkdirTemp(filepath.Dir(c.Dir), c.unfinished())
	if err != nil {
		return fmt.Errorf("clone %s: %w", c.Remote, err)
	}
	defer func() { _ = os.RemoveAll(part) }() // the next start removes what is left
	from := c.source(cloneTime)
	from.Progress = &told{say: c.o.Say, now: c.o.Now, last: began}
	checkout := filepath.Join(part, "checkout")
	err = worktree.Clone(ctx, from, checkout, c.o.Environ)
	if ctx.Err() != nil {
		return fmt.Errorf("clone %s: %w", c.Remote, context.Cause(ctx))
	}
	if err != nil {
		return c.failed("could not be cloned", err)
	}
	if err := os.Rename(checkout, c.Dir); err != nil {
		return fmt.Errorf("clone %s: %w", c.Remote, err)
	}
	c.o.Say(fmt.Sprintf("cloned %s in %s", c.Remote, c.o.Now().Sub(began).Round(100*time.Millisecond)))
	return nil
}

// failed is an error of git about the remote.
func (c *Clone) failed(what string, err error) error {
	said, cause := err.Error(), err
	if e, ok := errors.AsType[*lathe.Error](err); ok {
		said, cause = e.Msg, nil // which it repeats
	}
	return &lathe.Error{
		Code: lathe.CodeUnavailable, Msg: fmt.Sprintf("%s %s: %s", c.Remote, what, strings.ReplaceAll(said, c.Remote.Address(), c.Remote.String())),
		Hint: "see whether git can reach it without asking anything: git ls-remote " + c.Remote.String(), Cause: cause,
	}
}

func (c *Clone) source(limit time.Duration) worktree.Source {
	return worktree.Source{Address: c.Remote.Address(), Protocols: c.Remote.Protocols(), Limit: limit}
}

// find opens what is in the directory of the clone, which has to be one of the remote.
func (c *Clone) find(ctx context.Context) error {
	root, err := workspace.Find(ctx, c.Dir)
	if err == nil && root.VCS == "git" && root.TopLevel == c.Dir {
		c.repo, err = worktree.Open(worktree.Options{Root: root, Dir: c.Worktrees(), Environ: c.o.Environ})
		if err != nil {
			return err
		}
		var from string
		if from, err = c.repo.Origin(ctx); err == nil && from == c.Remote.Address() {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("clone of %s: %w", c.Remote, err)
	}
	return lathe.Errorf(lathe.CodeInvalid, "move it elsewhere, or name another directory with --clone-dir", "%s is there, and is not a clone of %s", c.Dir, c.Remote)
}

// Has reports whether a directory is in the clone, or in one of its worktrees.
func (c *Clone) Has(dir string) bool {
	return workspace.Within(c.Dir, dir) || workspace.Within(c.Worktrees(), dir)
}

// Refresh fetches, unless somebody did since it was called, and moves the checkout on to what is new, if
// nobody works in it and nothing in it would be lost. It says what it cannot do: whatever
// begins then does so with what is there. Busy reports whether something is being done in the
// checkout.
func (c *Clone) Refresh(ctx context.Context, busy func() bool) {
	asked := c.o.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil || asked.Before(c.again) || asked.Before(c.began) {
		return
	}
	c.began = c.o.Now()
	err := c.repo.Fetch(ctx, c.source(fetchTime))
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.again = c.o.Now().Add(deadTime)
		c.o.Say("work goes on with what is there: " + c.failed("could not be fetched", err).Error())
		return
	}
	if busy() {
		return
	}
	// Half of it would look like changes, so it is not stopped with the request.
	why, err := c.repo.Advance(context.WithoutCancel(ctx))
	if err != nil {
		why = err.Error()
	}
	if why != "" && why != c.stayed {
		c.o.Say(fmt.Sprintf("%s stays at its commit: %s", c.Dir, why))
	}
	c.stayed = why
}

// told says now and then how far git is.
type told struct {
	say  func(line string)
	now  func() time.Time
	last time.Time
}

const tellEvery = 5 * time.Second

// Write implements [io.Writer]; it gets one line at a time.
func (t *told) Write(line []byte) (int, error) {
	if now := t.now(); now.Sub(t.last) >= tellEvery {
		t.last = now
		t.say(strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD")))
	}
	return len(line), nil
}
