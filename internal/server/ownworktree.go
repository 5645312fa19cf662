package server

import (
	"context"
	"net/http"

	"lathe/internal/api"
	"lathe/internal/project"
)

// worktrees answers what lathe's own faces ask about the worktrees that it made.
type worktrees struct{ *call }

func worktreeRoutes() []route {
	const one = "/lathe/worktree"
	return []route{
		{http.MethodGet, one, on(worktrees.list), ""},
		{http.MethodPost, one, on(worktrees.create), ""},
		{http.MethodPost, one + "/commit", on(worktrees.commit), ""},
		{http.MethodPost, one + "/merge", on(worktrees.merge), ""},
		{http.MethodPost, one + "/remove", on(worktrees.remove), ""},
	}
}

func encodeWork(w project.Work) api.Worktree {
	out := api.Worktree{Name: w.Name, Branch: w.Branch, Directory: w.Directory, Base: w.Base, Commit: w.Commit, Changes: []api.WorkChange{}}
	for _, c := range w.Changes {
		out.Changes = append(out.Changes, api.WorkChange{File: c.File, Status: c.Status, Added: c.Added, Removed: c.Removed})
	}
	return out
}

func (c worktrees) list() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	all, err := c.s.opts.Service.Projects.Works(c.ctx(), dir)
	out := []api.Worktree{}
	for _, w := range all {
		out = append(out, encodeWork(w))
	}
	return out, err
}

// create answers when the files are there and the project's start command has ended.
func (c worktrees) create() (any, error) {
	var in api.WorktreeName
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	w, err := c.s.opts.Service.Projects.ReadyWorktree(c.ctx(), dir, in.Name)
	return encodeWork(w), err
}

// named returns the directory of the request and the worktree that it names.
func (c worktrees) named() (dir string, w project.Work, err error) {
	var in api.WorktreeName
	if err = c.need(&in); err != nil {
		return "", w, err
	}
	if err = missing("name", in.Name); err != nil {
		return "", w, err
	}
	if dir, err = c.dir(); err != nil {
		return "", w, err
	}
	w, err = c.s.opts.Service.Projects.Named(c.ctx(), dir, in.Name)
	return dir, w, err
}

func (c worktrees) commit() (any, error) {
	dir, w, err := c.named()
	if err != nil {
		return nil, err
	}
	w, err = c.s.opts.Service.Projects.CommitWork(context.WithoutCancel(c.ctx()), dir, w.Directory, "", "Work in "+w.Name)
	return encodeWork(w), err
}

func (c worktrees) merge() (any, error) {
	dir, w, err := c.named()
	if err != nil {
		return nil, err
	}
	done, err := c.s.opts.Service.Helpers.Merge(context.WithoutCancel(c.ctx()), dir, w.Name)
	if err != nil {
		return nil, err
	}
	out := api.MergedWorktree{SessionID: done.Session, Worktree: encodeWork(done.Work), Changed: append([]string{}, done.Merged.Changed...), Conflicts: []api.WorkConflict{}}
	for _, x := range done.Merged.Conflicts {
		out.Conflicts = append(out.Conflicts, api.WorkConflict{File: x.Path, Why: x.Why, Text: x.Text})
	}
	return out, nil
}

func (c worktrees) remove() (any, error) {
	dir, w, err := c.named()
	if err != nil {
		return nil, err
	}
	kept, err := c.s.opts.Service.Projects.RemoveWorktree(context.WithoutCancel(c.ctx()), dir, w.Directory)
	return api.RemovedWorktree{Kept: kept}, err
}
