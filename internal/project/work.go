package project

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lathe/internal/worktree"
)

// Work is what was done in a worktree that lathe made.
type Work struct {
	worktree.Worktree
	Base, Commit string // the commit that it began with, and the one with its work
	Changes      []worktree.Change
}

// ReadyWorktree makes a linked worktree of a directory's repository, with its files, runs
// the project's start command in it, and returns with the commit that it began with. What
// fails leaves no worktree behind.
func (s *Service) ReadyWorktree(ctx context.Context, dir, name string) (w Work, err error) {
	inst, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return w, err
	}
	if w.Worktree, err = repo.Add(ctx, name); err != nil {
		return w, err
	}
	err = repo.Fill(ctx, w.Worktree)
	for _, script := range s.startCommand(ctx, inst) {
		if err == nil && strings.TrimSpace(script) != "" {
			err = runStart(ctx, inst, w.Directory, script)
		}
	}
	if err == nil {
		w.Base, err = repo.Head(ctx, w.Directory)
	}
	if err != nil {
		_, undone := repo.Remove(context.WithoutCancel(ctx), w.Directory)
		return Work{}, errors.Join(err, undone)
	}
	s.tellProject(context.WithoutCancel(ctx), inst)
	return w, nil
}

// CommitWork commits what is in a worktree that lathe made and says what changed since base;
// an empty base is where it left the commit of the checkout.
func (s *Service) CommitWork(ctx context.Context, dir, target, base, message string) (w Work, err error) {
	_, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return w, err
	}
	root, err := repo.Own(ctx, target)
	if err != nil {
		return w, err
	}
	w.Name, w.Branch, w.Directory, w.Base = filepath.Base(root.TopLevel), worktree.Branch(root), root.TopLevel, base
	if w.Commit, err = repo.Commit(ctx, root.TopLevel, message); err != nil {
		return w, err
	}
	if w.Base == "" {
		if w.Base, err = repo.Fork(ctx, w.Commit); err != nil {
			return w, err
		}
	}
	w.Changes, err = repo.Since(ctx, w.Base, w.Commit)
	return w, err
}

// Unused reports whether a worktree has nothing but what it began with: no commit, no
// changed file, and none that git ignores.
func (s *Service) Unused(ctx context.Context, dir string, w Work) (bool, error) {
	if w.Commit != w.Base || len(w.Changes) > 0 {
		return false, nil
	}
	_, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return false, err
	}
	left, err := repo.Uncommitted(ctx, w.Directory)
	return !left, err
}

// MergeWork takes what was done in a worktree into the checkout of a directory.
func (s *Service) MergeWork(ctx context.Context, dir string, w Work) (worktree.Merged, error) {
	_, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return worktree.Merged{}, err
	}
	name := w.Branch
	if name == "" {
		name = w.Commit
	}
	return repo.Merge(ctx, worktree.MergeInput{Base: w.Base, From: w.Commit, Name: name})
}

// Named returns the worktree of a name, among those that lathe made for a directory's
// repository, and what was done in it so far, committed or not.
func (s *Service) Named(ctx context.Context, dir, name string) (Work, error) {
	all, err := s.Works(ctx, dir)
	if err != nil {
		return Work{}, err
	}
	for _, w := range all {
		if w.Name == strings.TrimPrefix(name, worktree.BranchPrefix) || w.Directory == name {
			return w, nil
		}
	}
	return Work{}, noWorktree(name)
}

// Works lists the worktrees that lathe made for a directory's repository, with what changed
// in each, committed or not.
func (s *Service) Works(ctx context.Context, dir string) (out []Work, err error) {
	inst, repo, err := s.worktrees(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, top := range worktree.Linked(ctx, inst.Root) {
		root, err := repo.Own(ctx, top)
		if err != nil {
			continue // a person's own
		}
		w := Work{Worktree: worktree.Worktree{Name: filepath.Base(top), Branch: worktree.Branch(root), Directory: top}}
		if w.Commit, err = repo.Head(ctx, top); err != nil {
			return nil, err
		}
		if w.Base, err = repo.Fork(ctx, w.Commit); err != nil {
			return nil, fmt.Errorf("worktree %s: %w", w.Name, err)
		}
		if w.Changes, err = repo.At(root).Beyond(ctx, w.Base); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}
