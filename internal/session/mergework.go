package session

import (
	"context"
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/project"
	"lathe/internal/prompt"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/worktree"
)

// MergedWork is what became of a merge that the person asked for.
type MergedWork struct {
	Session lathe.SessionID // that records it: reverting its newest prompt takes the merge back
	Work    project.Work
	Merged  worktree.Merged
}

// Merge commits what is in a worktree that lathe made, and takes it into the files of a
// directory. It is recorded in a session, so that it can be undone: in the one whose subagent
// worked there, or else in one of its own. It fails while that session is busy.
func (h *Helpers) Merge(ctx context.Context, dir, name string) (out MergedWork, err error) {
	named, err := h.s.Projects.Named(ctx, dir, name)
	if err != nil {
		return out, err
	}
	if err := h.s.IdleBelow(ctx, named.Directory); err != nil {
		return out, err
	}
	if out.Work, err = h.s.Projects.CommitWork(ctx, dir, named.Directory, "", "Work in "+named.Name); err != nil {
		return out, err
	}
	if out.Session, err = h.recordIn(ctx, dir, out.Work); err != nil {
		return out, err
	}
	r, err := h.s.runner(ctx, out.Session)
	if err != nil {
		return out, err
	}
	m, err := r.userMessage(ctx, Prompt{Parts: []lathe.PartBody{synthetic(prompt.UserTool())}})
	if err != nil {
		return out, err
	}
	var failed error
	c := &userCall{r: r, user: m, tool: "task", title: "merge " + out.Work.Branch, input: map[string]string{"description": "merge " + out.Work.Branch}}
	c.do = func(ctx context.Context, _ lathe.Part, _ lathe.ToolCall) (tool.Result, error) {
		out.Merged, failed = h.s.Projects.MergeWork(ctx, dir, out.Work)
		return tool.Result{Output: toldMerge(out.Work.Branch, out.Merged)}, failed
	}
	run, err := c.begin(ctx)
	if err != nil {
		return out, err
	}
	_, err = run.Wait(context.WithoutCancel(ctx))
	return out, errors.Join(err, failed)
}

// recordIn returns the session that records a merge.
func (h *Helpers) recordIn(ctx context.Context, dir string, w project.Work) (lathe.SessionID, error) {
	all, err := h.s.opts.Store.Sessions(ctx, store.SessionFilter{Directory: w.Directory})
	if err != nil {
		return "", err
	}
	for _, sess := range all {
		if sess.Helper == nil || sess.Helper.Branch != w.Branch {
			continue
		}
		if parent, err := h.s.Get(ctx, sess.ParentID); err == nil && parent.Directory == dir {
			return parent.ID, nil
		}
	}
	sess, err := h.s.Create(ctx, Create{Directory: dir, Title: fmt.Sprintf("Merge %s", w.Branch)})
	return sess.ID, err
}
