package project

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe"
	"lathe/internal/clone"
	"lathe/internal/instance"
	"lathe/internal/shell"
	"lathe/internal/worktree"
)

const (
	startLimit = 15 * time.Minute // for each start command of a worktree
	startSays  = 2 << 10          // bytes of its output that are reported
)

// errSuperseded stops preparing a worktree that is removed or reset.
var errSuperseded = errors.New("the worktree was removed or reset in the meantime")

// WorktreeInput says what worktree to make.
type WorktreeInput struct {
	Name  string // empty: one is made up
	Start string // command to run in it after the project's own
}

// preparing are the worktrees whose files are being written or whose start commands are running.
type preparing struct {
	mu   sync.Mutex
	dirs map[string]*preparation
}

type preparation struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// stop ends the start commands of a worktree, and waits for them and its files:
// an interrupted checkout looks as if somebody had deleted files.
func (p *preparing) stop(ctx context.Context, dir string) error {
	p.mu.Lock()
	one := p.dirs[dir]
	p.mu.Unlock()
	if one == nil {
		return nil
	}
	one.cancel(errSuperseded)
	select {
	case <-one.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Worktrees returns the linked worktrees of a directory's repository.
func (s *Service) Worktrees(ctx context.Context, dir string) ([]string, error) {
	inst, err := s.instances.Get(ctx, dir)
	if err != nil {
		return nil, err
	}
	return worktree.Linked(ctx, inst.Root), nil
}

// worktrees returns the repository of a directory. The instance may serve others
// too, so it is made even if the request is cancelled.
func (s *Service) worktrees(ctx context.Context, dir string) (*instance.Instance, *worktree.Repo, error) {
	inst, err := s.instances.Get(context.WithoutCancel(ctx), dir)
	if err != nil {
		return nil, nil, err
	}
	dir, cloned := worktreesOf(inst)
	repo, err := worktree.Open(worktree.Options{
		Root: inst.Root, Dir: dir, Newest: cloned, Environ: inst.Shell.Env,
		Trusted: inst.Trust.Given, Now: s.now, Name: s.newName,
	})
	return inst, repo, err
}

// worktreesOf returns where lathe makes the worktrees of a directory's repository, and whether
// that is a clone which lathe made, too.
func worktreesOf(inst *instance.Instance) (dir string, cloned bool) {
	all := filepath.Join(inst.Paths.Data, "worktree")
	if dir := clone.WorktreesOf(all, inst.Root.Worktree); dir != "" {
		return dir, true
	}
	return filepath.Join(all, inst.Project.ID), false
}

// Changes lists what changed in a directory since its last commit, or since its
// branch left the default branch; nothing outside git.
func (s *Service) Changes(ctx context.Context, dir string, since worktree.Since) ([]worktree.Change, error) {
	_, repo, err := s.worktrees(ctx, dir)
	if errors.Is(err, worktree.ErrNotGit) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return repo.Changes(ctx, since)
}

// CreateWorktree makes a linked worktree of a directory's repository. Calling
// prepare writes its files and runs the start commands in the background;
// [lathe.WorktreeReady] and [lathe.WorktreeFailed] report the result in the
// worktree's directory.
func (s *Service) CreateWorktree(ctx context.Context, dir string, in WorktreeInput) (w worktree.Worktree, prepare func(), err error) {
	inst, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return w, nil, err
	}
	if w, err = repo.Add(ctx, in.Name); err != nil {
		return w, nil, err
	}
	s.tellProject(context.WithoutCancel(ctx), inst)
	fill := func(ctx context.Context) error {
		if err := repo.Fill(ctx, w); err != nil {
			return err
		}
		s.writer.Tell(w.Directory, lathe.WorktreeReady{Name: w.Name, Branch: w.Branch})
		return nil
	}
	scripts := append(s.startCommand(context.WithoutCancel(ctx), inst), in.Start)
	return w, s.prepare(inst, w.Directory, fill, scripts), nil
}

// startCommand is what the person set for the worktrees of this checkout. A
// command set for another clone does not run here: that one may be trusted and
// this one not.
func (s *Service) startCommand(ctx context.Context, inst *instance.Instance) []string {
	p, err := s.store.Project(ctx, inst.Project.ID)
	if err != nil || p.StartIn != inst.Root.Worktree {
		return nil
	}
	return []string{p.Start}
}

// prepare fills a worktree and runs its start commands. That begins when the
// returned function is called and goes on until they end, the service closes,
// or the worktree is removed or reset, which waits for it.
func (s *Service) prepare(inst *instance.Instance, dir string, fill func(context.Context) error, scripts []string) (begin func()) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	one, begun := &preparation{cancel: cancel, done: make(chan struct{})}, make(chan struct{})
	p := &s.preparing
	p.mu.Lock()
	if p.dirs == nil {
		p.dirs = map[string]*preparation{}
	}
	p.dirs[dir] = one
	p.mu.Unlock()
	s.wg.Go(func() {
		defer close(one.done)
		defer cancel(nil)
		select {
		case <-begun:
		case <-ctx.Done():
		}
		err := fill(s.ctx)
		for _, script := range scripts {
			if err == nil && strings.TrimSpace(script) != "" {
				err = runStart(ctx, inst, dir, script)
			}
		}
		if err != nil && ctx.Err() == nil {
			message := err.Error()
			if e, ok := errors.AsType[*lathe.Error](err); ok {
				message = e.Msg
			}
			s.writer.Tell(dir, lathe.WorktreeFailed{Message: message})
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.dirs[dir] == one {
			delete(p.dirs, dir)
		}
	})
	return sync.OnceFunc(func() { close(begun) })
}

// runStart runs a start command. The error includes the end of its output.
func runStart(ctx context.Context, i *instance.Instance, dir, script string) error {
	var said []byte
	exit, err := i.Shell.Runner.Run(ctx, shell.Command{
		Script: script, Dir: dir, Shell: i.Shell.Path, Env: i.Shell.Env, Timeout: startLimit, Kind: shell.KindTerminal,
		Output: func(chunk []byte) {
			said = append(said, chunk...)
			said = said[max(0, len(said)-startSays):]
		},
	})
	text := strings.TrimSpace(strings.ToValidUTF8(string(said), ""))
	switch {
	case err != nil:
		return fmt.Errorf("start command: %w", err)
	case exit.TimedOut:
		return fmt.Errorf("the start command took longer than %v: %s", startLimit, text)
	case exit.Code != 0:
		return fmt.Errorf("the start command ended with status %d: %s", exit.Code, text)
	}
	return nil
}

// RemoveWorktree removes a linked worktree that lathe made. What exists only there is
// kept on a branch, whose name is returned; see [worktree.Repo.Remove].
func (s *Service) RemoveWorktree(ctx context.Context, dir, target string) (kept string, err error) {
	inst, repo, top, err := s.settled(ctx, dir, target)
	if err != nil {
		return "", err
	}
	save := context.WithoutCancel(ctx)
	if err := s.disposeBelow(save, top); err != nil {
		return "", err
	}
	kept, err = repo.Remove(ctx, top)
	s.tellProject(save, inst)
	return kept, err
}

// ResetWorktree resets a linked worktree that lathe made to the default branch,
// and runs its start command again. What exists only there is kept on a branch,
// whose name is returned; see [worktree.Repo.Reset].
func (s *Service) ResetWorktree(ctx context.Context, dir, target string) (kept string, err error) {
	inst, repo, top, err := s.settled(ctx, dir, target)
	if err != nil {
		return "", err
	}
	kept, err = repo.Reset(ctx, top)
	if err != nil {
		return kept, err
	}
	scripts := s.startCommand(context.WithoutCancel(ctx), inst)
	s.prepare(inst, top, func(context.Context) error { return nil }, scripts)()
	return kept, nil
}

// settled returns a worktree in which nothing is running.
func (s *Service) settled(ctx context.Context, dir, target string) (*instance.Instance, *worktree.Repo, string, error) {
	inst, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return nil, nil, "", err
	}
	root, err := repo.Own(ctx, target)
	if err != nil {
		return nil, nil, "", err
	}
	if err := s.sessions.IdleBelow(ctx, root.TopLevel); err != nil {
		return nil, nil, "", err
	}
	return inst, repo, root.TopLevel, s.preparing.stop(ctx, root.TopLevel)
}
