package session

import (
	"context"
	"errors"
	"path/filepath"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/store"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// Project returns a project with its linked worktrees.
func (s *Service) Project(ctx context.Context, id string) (lathe.Project, error) {
	p, err := s.opts.Store.Project(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return p, noProject(id)
	}
	return withSandboxes(ctx, p), err
}

func noProject(id string) error {
	return lathe.Errorf(lathe.CodeNotFound, "a project is known once lathe ran in it; GET /project lists them", "Project not found: %.80s", id)
}

// Projects returns all projects with their linked worktrees, the one used last
// first.
func (s *Service) Projects(ctx context.Context) ([]lathe.Project, error) {
	all, err := s.opts.Store.Projects(ctx)
	for i := range all {
		all[i] = withSandboxes(ctx, all[i])
	}
	return all, err
}

// withSandboxes looks for the linked worktrees that are there now.
func withSandboxes(ctx context.Context, p lathe.Project) lathe.Project {
	if p.VCS == "" {
		return p
	}
	if root, err := workspace.Find(ctx, p.Worktree); err == nil {
		p.Sandboxes = worktree.Linked(ctx, root)
	}
	return p
}

// CurrentProject returns the project of a directory. Clones of a repository are
// one project; its worktree is that of the directory's own.
func (s *Service) CurrentProject(ctx context.Context, dir string) (lathe.Project, error) {
	inst, err := s.Instance(ctx, dir)
	if err != nil {
		return lathe.Project{}, err
	}
	return s.projectOf(ctx, inst)
}

func (s *Service) projectOf(ctx context.Context, inst *instance.Instance) (lathe.Project, error) {
	p, err := s.opts.Store.Project(ctx, inst.Project.ID)
	if errors.Is(err, store.ErrNotFound) { // a store that cannot be written does not know it
		p, err = inst.Project, nil
	}
	p.Worktree, p.VCS = inst.Root.Worktree, inst.Root.VCS
	p.Sandboxes = worktree.Linked(ctx, inst.Root)
	return p, err
}

// UpdateProject changes what a person sets about a project, and tells of it.
func (s *Service) UpdateProject(ctx context.Context, id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	err = s.opts.Store.Batch(ctx, func(tx store.Tx) error {
		p, err = tx.UpdateProject(id, func(p *lathe.Project) error {
			p.Updated = s.opts.Now()
			return change(p)
		})
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return p, noProject(id)
	}
	if err != nil {
		return p, err
	}
	p = withSandboxes(ctx, p)
	s.opts.Bus.Publish("", lathe.ProjectUpdated{Project: p})
	return p, nil
}

// tellProject tells that the worktrees of an instance's project are others now.
func (s *Service) tellProject(ctx context.Context, inst *instance.Instance) {
	p, err := s.projectOf(ctx, inst)
	if err != nil {
		s.opts.Log.Warn("a change of a project is not told", "err", err)
		return
	}
	s.opts.Bus.Publish("", lathe.ProjectUpdated{Project: p})
}

// InitGit makes a directory a git repository, unless it is in one, and returns its
// project. It is refused while a session works below the directory.
func (s *Service) InitGit(ctx context.Context, dir string) (lathe.Project, error) {
	inst, err := s.Instance(context.WithoutCancel(ctx), dir)
	if err != nil {
		return lathe.Project{}, err
	}
	if inst.Root.VCS != "" {
		return s.projectOf(ctx, inst)
	}
	top, home := inst.Root.Dir, inst.Paths.Home
	if real, err := workspace.Resolve(home); err == nil {
		home = real
	}
	if filepath.Dir(top) == top || home != "" && below(top, home) {
		return lathe.Project{}, lathe.Errorf(lathe.CodeInvalid, "make one in a directory of the project's own", "%s is or holds the home directory, which is no place for a repository", top)
	}
	if err := s.idleBelow(ctx, top); err != nil {
		return lathe.Project{}, err
	}
	if err := worktree.Init(ctx, top, inst.Shell.Env); err != nil {
		return lathe.Project{}, err
	}
	save := context.WithoutCancel(ctx)
	if err := s.disposeBelow(save, top); err != nil {
		return lathe.Project{}, err
	}
	if inst, err = s.Instance(save, dir); err != nil {
		return lathe.Project{}, err
	}
	s.tellProject(save, inst)
	return s.projectOf(save, inst)
}

// below reports whether a path is a directory or lies in it; both are resolved.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// idleBelow returns an error while a session works in a directory or below it.
func (s *Service) idleBelow(ctx context.Context, top string) error {
	var ids []lathe.SessionID
	s.mu.Lock()
	for id, r := range s.runners {
		if below(top, r.inst.Root.Dir) {
			ids = append(ids, id)
		}
	}
	s.mu.Unlock()
	for _, id := range ids {
		if s.Status(id) != (lathe.Idle{}) {
			return lathe.Errorf(lathe.CodeBusy, "wait for it, or stop it", "session %s is busy in %s", id, top)
		}
	}
	list, err := s.opts.Store.Sessions(ctx, store.SessionFilter{Directory: top})
	for _, sess := range list {
		if err == nil {
			err = s.heldElsewhere(ctx, sess.ID)
		}
	}
	return err
}

// disposeBelow forgets the instances of a directory and of those below it.
func (s *Service) disposeBelow(ctx context.Context, top string) error {
	var errs []error
	for _, dir := range s.Directories() {
		if real, err := workspace.Resolve(dir); err == nil && below(top, real) {
			errs = append(errs, s.Dispose(ctx, dir))
		}
	}
	return errors.Join(errs...)
}
