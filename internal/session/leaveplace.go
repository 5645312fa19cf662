package session

import (
	"context"
	"slices"
	"time"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/job"
	"lathe/internal/project"
	"lathe/internal/store"
)

// leaveUnused removes the worktree of a helper that ended without having changed anything,
// and reports whether it did. Its session is then in its caller's directory. Where somebody
// else works there too, or a process still runs, it stays.
func (h *helper) leaveUnused(ctx context.Context, w project.Work) bool {
	done, err := h.s.removeUnused(ctx, h.child, w)
	if err != nil {
		h.s.opts.Log.Warn("the worktree of a subagent that changed nothing could not be removed", "directory", w.Directory, "err", err)
	}
	return done && err == nil
}

func (s sessions) removeUnused(ctx context.Context, child lathe.Session, w project.Work) (bool, error) {
	unused, err := s.Projects.Unused(ctx, child.Helper.Checkout, w)
	if err != nil || !unused || w.Branch != child.Helper.Branch || s.jobsIn(w.Directory) {
		return false, err
	}
	all, err := s.onlyBelow(ctx, child, w)
	if err != nil || all == nil {
		return false, err
	}
	parent, err := s.Get(ctx, child.ParentID)
	if err != nil {
		return false, err
	}
	// The sessions go first: to remove the worktree aborts those that are in it, which
	// waits for the end of the helper that is about to end here.
	for _, sess := range all {
		if _, err := s.Move(ctx, sess.ID, parent.Directory); err != nil {
			return false, err
		}
	}
	if _, err := s.setPlace(ctx, child.ID, lathe.Helper{Checkout: child.Helper.Checkout}); err != nil {
		return false, err
	}
	_, err = s.Projects.RemoveWorktree(ctx, child.Helper.Checkout, w.Directory)
	return true, err
}

// onlyBelow returns the sessions in a subagent's worktree, or nil if one of them is not the
// subagent's own.
func (s sessions) onlyBelow(ctx context.Context, child lathe.Session, w project.Work) ([]lathe.Session, error) {
	var out []lathe.Session
	for _, dir := range slices.Compact([]string{w.Directory, child.Directory}) {
		list, err := s.opts.Store.Sessions(ctx, store.SessionFilter{Directory: dir})
		if err != nil {
			return nil, err
		}
		for _, sess := range list {
			if sess.Created.Before(child.Created.Truncate(time.Millisecond)) {
				continue // it was in an earlier worktree of that name
			}
			above, err := s.ancestors(ctx, sess)
			if err != nil {
				return nil, err
			}
			if sess.ID != child.ID && !slices.Contains(above, child.ID) {
				return nil, nil
			}
			out = append(out, sess)
		}
	}
	return out, nil
}

// jobsIn reports whether a process that lathe started still runs in a directory.
func (s sessions) jobsIn(dir string) bool {
	return s.opts.Jobs != nil && slices.ContainsFunc(s.opts.Jobs.During(dir, s.opts.Now()), func(j *job.Job) bool { return j.Brief().Running() })
}

// leftPlace reports whether a session had a worktree of its own that was removed, because
// nothing was changed in it.
func leftPlace(sess lathe.Session) bool {
	return sess.Helper != nil && sess.Helper.Checkout != "" && sess.Helper.Branch == ""
}

// placeAgain returns a subagent that is asked again, in a new worktree if its own was removed.
func (s sessions) placeAgain(ctx context.Context, parent, old lathe.Session, in builtin.SpawnInput) (lathe.Session, error) {
	if !leftPlace(old) {
		return old, nil
	}
	var c Create
	if err := s.ownPlace(ctx, parent, in, &c); err != nil {
		return old, err
	}
	if _, err := s.Move(ctx, old.ID, c.Directory); err != nil {
		return old, err
	}
	return s.setPlace(ctx, old.ID, *c.Helper)
}

// setPlace records where the worktree of a subagent is.
func (s sessions) setPlace(ctx context.Context, id lathe.SessionID, at lathe.Helper) (lathe.Session, error) {
	return s.Editor.change(ctx, id, func(sess *lathe.Session) {
		at.Background, at.Untold = sess.Helper.Background, sess.Helper.Untold
		sess.Helper = &at
	})
}
