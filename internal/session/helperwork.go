package session

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/project"
	"lathe/internal/tool"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// toldFiles is how many changed files a report lists.
const toldFiles = 50

// ownPlace gives a new subagent a worktree of its own to work in.
func (s sessions) ownPlace(ctx context.Context, parent lathe.Session, in builtin.SpawnInput, c *Create) error {
	root, err := workspace.Find(ctx, parent.Directory)
	if err != nil {
		return err
	}
	name, err := worktree.Slug(cmp.Or(in.Description, "task"))
	if err != nil {
		name = ""
	}
	w, err := s.Projects.ReadyWorktree(ctx, parent.Directory, name)
	if err != nil {
		return err
	}
	c.Directory = w.Directory
	if below, err := filepath.Rel(root.TopLevel, root.Dir); err == nil && filepath.IsLocal(below) {
		dir := filepath.Join(w.Directory, below)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			c.Directory = dir
		}
	}
	if c.Helper == nil {
		c.Helper = &lathe.Helper{}
	}
	c.Helper.Branch, c.Helper.Base, c.Helper.Checkout = w.Branch, w.Base, root.TopLevel
	return nil
}

// finish commits what a helper did in a worktree of its own, merges it if that was asked,
// and returns what the model has to know of it; "" for one that has no worktree.
func (h *helper) finish(ctx context.Context) (string, error) {
	if h.child.Helper == nil || h.child.Helper.Branch == "" {
		return "", nil
	}
	ended := ctx.Err() == nil
	ctx = context.WithoutCancel(ctx) // what was done is committed, however it ended
	w, err := h.s.commitHelper(ctx, h.child)
	if err != nil {
		return "", fmt.Errorf("commit what the subagent did in %s: %w", h.child.Directory, err)
	}
	if len(w.Changes) == 0 && ended && h.leaveUnused(ctx, w) {
		return "It changed no files; its worktree was removed.", nil
	}
	said := toldWork(w)
	if len(w.Changes) == 0 {
		return said, nil
	}
	if !h.in.Merge {
		return said + fmt.Sprintf("\nNone of it is in your files yet. To merge it, call the task tool with task_id %s, merge and an empty prompt.", h.child.ID), nil
	}
	merged, err := h.merge(ctx, w)
	return said + "\n" + merged, err
}

// commitHelper commits what is in the worktree of a subagent.
func (s *Service) commitHelper(ctx context.Context, child lathe.Session) (project.Work, error) {
	root, err := workspace.Find(ctx, child.Directory)
	if err != nil {
		return project.Work{}, err
	}
	message := child.Title + "\n\nMade by a subagent of lathe, session " + string(child.ID) + "."
	return s.Projects.CommitWork(ctx, child.Helper.Checkout, root.TopLevel, child.Helper.Base, message)
}

// toldWork says what was done in a worktree.
func toldWork(w project.Work) string {
	if len(w.Changes) == 0 {
		return fmt.Sprintf("It changed no files in its worktree (%s).", w.Directory)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "What it changed is on branch %s, commit %.12s (worktree %s):", w.Branch, w.Commit, w.Directory)
	for i, c := range w.Changes {
		if i == toldFiles {
			fmt.Fprintf(&b, "\n… and %d more", len(w.Changes)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s %s +%d -%d", c.Status, c.File, c.Added, c.Removed)
	}
	return b.String()
}

// merge takes what a helper did into the caller's files, if the caller may edit them.
func (h *helper) merge(ctx context.Context, w project.Work) (string, error) {
	files := make([]string, len(w.Changes))
	for i, c := range w.Changes {
		files[i] = c.File
	}
	err := h.in.Call.Ask(ctx, tool.Request{
		Permission: "edit", Patterns: files, Always: []string{"*"},
		Metadata: map[string]any{"filepath": strings.Join(files, ", "), "description": "merge branch " + w.Branch},
		Doing:    "this would merge the branch " + w.Branch, Instead: "leave it on its branch",
	})
	if err != nil {
		return "", err
	}
	merged, err := h.s.Projects.MergeWork(ctx, h.child.Helper.Checkout, w)
	if err != nil {
		return "", err
	}
	return toldMerge(w.Branch, merged), nil
}

// toldMerge says what became of a merge, with both sides of what conflicts.
func toldMerge(branch string, m worktree.Merged) string {
	var b strings.Builder
	switch {
	case len(m.Changed) == 0 && len(m.Conflicts) == 0:
		return "Nothing was left to merge: the files have all of it."
	case len(m.Changed) == 0:
		b.WriteString("No file was merged.")
	default:
		fmt.Fprintf(&b, "Merged into the files here, uncommitted: %s", strings.Join(m.Changed, ", "))
	}
	for _, c := range m.Conflicts {
		fmt.Fprintf(&b, "\nConflict in %s: %s. It was left as it is here; its other side is on branch %s.", c.Path, c.Why, branch)
		if c.Text != "" {
			fmt.Fprintf(&b, " Both sides:\n%s", c.Text)
		}
	}
	return b.String()
}

// mergeOnly merges what an earlier subagent did, without asking it anything.
func (s sessions) mergeOnly(ctx context.Context, in builtin.SpawnInput) (builtin.SpawnResult, error) {
	child, err := s.Get(ctx, in.Resume)
	switch {
	case err != nil:
		return builtin.SpawnResult{}, err
	case child.ParentID != in.Call.SessionID:
		return builtin.SpawnResult{}, fmt.Errorf("session %s is not one of this session's subagents", in.Resume)
	case leftPlace(child):
		return builtin.SpawnResult{Session: child.ID, Text: "It changed no files: there is nothing to merge."}, nil
	case child.Helper == nil || child.Helper.Branch == "":
		return builtin.SpawnResult{}, fmt.Errorf("the subagent %s worked in these files, not in a worktree of its own: there is nothing to merge", in.Resume)
	}
	if _, idle := s.Status(child.ID).(lathe.Idle); !idle || s.helpers.runs(child.ID) {
		return builtin.SpawnResult{}, fmt.Errorf("the subagent %s still works: merge when it has reported", in.Resume)
	}
	h := &helper{s: s, in: in, child: child}
	h.watch = newTaskWatch(in, child, in.Call.Model)
	text, err := h.finish(ctx)
	return builtin.SpawnResult{Session: child.ID, Text: text, Metadata: h.watch.metadata()}, err
}
