package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"lathe"
	"lathe/internal/opencode/wire"
	"lathe/internal/project"
	"lathe/internal/worktree"
)

func (c projects) worktreeList() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	all, err := c.s.opts.Service.Projects.Worktrees(context.WithoutCancel(c.ctx()), dir)
	if all == nil {
		all = []string{}
	}
	return all, err
}

// worktreeCreate answers before the files are there, so that a client knows in
// which directory worktree.ready will be published.
func (c projects) worktreeCreate() (any, error) {
	var in wire.WorktreeRequest
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	if field, err := in.Check(); err != nil {
		return nil, &invalid{path: []string{field}, msg: err.Error()}
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	w, prepare, err := c.s.opts.Service.Projects.CreateWorktree(c.ctx(), dir, project.WorktreeInput{Name: in.Name, Start: in.StartCommand})
	if err != nil {
		return nil, worktreeError("WorktreeCreateFailedError", err)
	}
	c.s.reply(c.w, c.r, http.StatusOK, wire.EncodeWorktree(w.Name, w.Branch, w.Directory))
	_ = http.NewResponseController(c.w).Flush()
	prepare()
	return done{}, nil
}

func (c projects) worktreeRemove() (any, error) {
	return c.onWorktree("WorktreeRemoveFailedError", c.s.opts.Service.Projects.RemoveWorktree)
}

func (c projects) worktreeReset() (any, error) {
	return c.onWorktree("WorktreeResetFailedError", c.s.opts.Service.Projects.ResetWorktree)
}

func (c projects) onWorktree(name string, do func(ctx context.Context, dir, target string) (string, error)) (any, error) {
	var in wire.WorktreeTarget
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("directory", in.Directory); err != nil {
		return nil, err
	}
	if len(in.Directory) > maxPath {
		return nil, &invalid{path: []string{"directory"}, msg: "not a path"}
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	kept, err := do(c.ctx(), dir, in.Directory)
	if kept != "" {
		c.tellKept(dir, in.Directory, kept)
	}
	if err != nil {
		return nil, worktreeError(name, err)
	}
	return true, nil
}

// tellKept says where the work of a worktree is kept. The answer has no field for
// that, so screens show it.
func (c projects) tellKept(dir, worktree, branch string) {
	c.s.opts.Log.Info("the work of a worktree was kept", "worktree", worktree, "branch", branch)
	props, err := wire.Marshal(toastProps{
		Title: "Work is kept", Variant: "info",
		Message: fmt.Sprintf("What was only in the worktree %s is on branch %s", filepath.Base(worktree), branch),
	})
	if err == nil {
		c.s.opts.Bus.Publish(dir, lathe.ClientEvent{Type: "tui.toast.show", Properties: props})
	}
}

// worktreeError gives a refusal the name that it has in 1.18. Its shape is that of
// all bad requests.
func worktreeError(name string, err error) error {
	e, ok := errors.AsType[*lathe.Error](err)
	if !ok || e.Code != lathe.CodeInvalid && e.Code != lathe.CodeBusy {
		return err
	}
	switch {
	case errors.Is(err, worktree.ErrNotGit):
		name = "WorktreeNotGitError"
	case errors.Is(err, worktree.ErrName):
		name = "WorktreeNameGenerationFailedError"
	}
	return &invalid{name: name, msg: e.Msg, hint: e.Hint}
}
