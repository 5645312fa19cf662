package project

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"lathe"
	"lathe/internal/commit"
	"lathe/internal/instance"
	"lathe/internal/store"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// Sessions is what projects need from the sessions of this process.
type Sessions interface {
	// Dispose ends what runs in a directory and forgets its instance.
	Dispose(ctx context.Context, dir string) error
	// IdleBelow returns an error while a session works in a resolved directory or below it.
	IdleBelow(ctx context.Context, top string) error
}

// Options configure a [Service]. All of it is needed.
type Options struct {
	Sessions  Sessions
	Instances *instance.Set
	Store     *store.Store
	Writer    *commit.Writer
	Log       *slog.Logger
	Now       func() time.Time
	NewName   func() string // for a worktree that was given no name; need not be unique
}

// Service knows the projects that lathe ran in and makes linked worktrees of them.
// It is safe for concurrent use.
type Service struct {
	sessions  Sessions
	instances *instance.Set
	store     *store.Store
	writer    *commit.Writer
	log       *slog.Logger
	now       func() time.Time
	newName   func() string

	ctx       context.Context // ends the preparation of worktrees
	stop      context.CancelFunc
	wg        sync.WaitGroup
	preparing preparing
}

// New returns a service. Close it to end the start commands of worktrees.
func New(o Options) *Service {
	ctx, stop := context.WithCancel(context.Background())
	return &Service{
		sessions: o.Sessions, instances: o.Instances, store: o.Store, writer: o.Writer, log: o.Log, now: o.Now, newName: o.NewName, ctx: ctx, stop: stop,
	}
}

// Close ends the preparation of worktrees and waits for it.
func (s *Service) Close() {
	s.stop()
	s.wg.Wait()
}

// Get returns a project with its linked worktrees.
func (s *Service) Get(ctx context.Context, id string) (lathe.Project, error) {
	p, err := s.store.Project(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return p, noProject(id)
	}
	return withSandboxes(ctx, p), err
}

func noProject(id string) error {
	return lathe.Errorf(lathe.CodeNotFound, "a project is known once lathe ran in it; GET /project lists them", "Project not found: %.80s", id)
}

func noWorktree(name string) error {
	return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe worktree list", "lathe made no worktree %.80q here", name)
}

// List returns all projects with their linked worktrees, most recently used
// first.
func (s *Service) List(ctx context.Context) ([]lathe.Project, error) {
	all, err := s.store.Projects(ctx)
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

// Current returns the project of a directory. Clones of a repository are one
// project; its worktree is the one of the directory.
func (s *Service) Current(ctx context.Context, dir string) (lathe.Project, error) {
	inst, err := s.instances.Get(ctx, dir)
	if err != nil {
		return lathe.Project{}, err
	}
	return s.projectOf(ctx, inst)
}

func (s *Service) projectOf(ctx context.Context, inst *instance.Instance) (lathe.Project, error) {
	p, err := s.store.Project(ctx, inst.Project.ID)
	if errors.Is(err, store.ErrNotFound) { // a store that cannot be written does not have it
		p, err = inst.Project, nil
	}
	p.Worktree, p.VCS = inst.Root.Worktree, inst.Root.VCS
	p.Sandboxes = worktree.Linked(ctx, inst.Root)
	return p, err
}

// Update changes what a person sets on a project, and publishes the change.
func (s *Service) Update(ctx context.Context, id string, change func(*lathe.Project) error) (p lathe.Project, err error) {
	before, err := s.store.Project(ctx, id)
	sandboxes := withSandboxes(ctx, before).Sandboxes // it asks git, which no transaction should wait for
	if err == nil {
		err = s.writer.Commit(ctx, func(tx *commit.Tx) error {
			p, err = tx.UpdateProject(id, func(p *lathe.Project) error {
				p.Updated = s.now()
				return change(p)
			})
			p.Sandboxes = sandboxes
			tx.Tell("", lathe.ProjectUpdated{Project: p})
			return err
		})
	}
	if errors.Is(err, store.ErrNotFound) {
		return p, noProject(id)
	}
	return p, err
}

// tellProject publishes an instance's project after its worktrees changed.
func (s *Service) tellProject(ctx context.Context, inst *instance.Instance) {
	p, err := s.projectOf(ctx, inst)
	if err != nil {
		s.log.Warn("a change of a project is not told", "err", err)
		return
	}
	s.writer.Tell("", lathe.ProjectUpdated{Project: p})
}

// InitGit makes a directory a git repository, unless it is in one, and returns its
// project. It is refused while a session works below the directory.
func (s *Service) InitGit(ctx context.Context, dir string) (lathe.Project, error) {
	inst, err := s.instances.Get(context.WithoutCancel(ctx), dir)
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
	if filepath.Dir(top) == top || home != "" && workspace.Within(top, home) {
		return lathe.Project{}, lathe.Errorf(lathe.CodeInvalid, "make one in a directory of the project's own", "%s is or holds the home directory, which is no place for a repository", top)
	}
	if err := s.sessions.IdleBelow(ctx, top); err != nil {
		return lathe.Project{}, err
	}
	if err := worktree.Init(ctx, top, inst.Shell.Env); err != nil {
		return lathe.Project{}, err
	}
	save := context.WithoutCancel(ctx)
	if err := s.disposeBelow(save, top); err != nil {
		return lathe.Project{}, err
	}
	if inst, err = s.instances.Get(save, dir); err != nil {
		return lathe.Project{}, err
	}
	s.tellProject(save, inst)
	return s.projectOf(save, inst)
}

// disposeBelow forgets the instances of a directory and of those below it.
func (s *Service) disposeBelow(ctx context.Context, top string) error {
	var errs []error
	for _, dir := range s.instances.Directories() {
		if real, err := workspace.Resolve(dir); err == nil && workspace.Within(top, real) {
			errs = append(errs, s.sessions.Dispose(ctx, dir))
		}
	}
	return errors.Join(errs...)
}
