package session

import (
	"context"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/workspace"
)

// Approvals stores what a person approved for good. The owner is a project in
// one place: a copy of it elsewhere may hold other programs under the same names.
type Approvals interface {
	Approvals(ctx context.Context, owner string) ([]lathe.Rule, error)
	PutApproval(ctx context.Context, owner string, r lathe.Rule) error
	DeleteApproval(ctx context.Context, owner string, r lathe.Rule) error
}

// ApprovalOwner is whose the stored approvals of a directory are.
func ApprovalOwner(p lathe.Project, root workspace.Root) string {
	place := p.Worktree
	if root.VCS == "" {
		place = root.Dir
	}
	return p.ID + " " + place
}

// ApprovalOwner is whose the instance's stored approvals are.
func (i *Instance) ApprovalOwner() string { return ApprovalOwner(i.Project, i.Root) }

// permissionOptions are those of the instance's permission service: it begins
// with the stored approvals, and stores those that are given for the project.
func (i *Instance) permissionOptions(ctx context.Context, o InstanceOptions) permission.Options {
	opts := permission.Options{Publish: func(ev lathe.Event) { o.Publish(i.Root.Dir, ev) }, IDs: o.IDs, KeepAlways: i.Config.Approvals == "project"}
	if o.Approvals == nil {
		return opts
	}
	owner := i.ApprovalOwner()
	stored, err := o.Approvals.Approvals(ctx, owner)
	if err != nil {
		o.Log.Warn("stored approvals could not be read; you will be asked again", "err", err)
	}
	for _, r := range stored {
		if r.Action == lathe.Allow {
			opts.Approved = append(opts.Approved, r)
		}
	}
	opts.OnApprove = func(ctx context.Context, rules []lathe.Rule) error {
		for _, r := range rules {
			if err := o.Approvals.PutApproval(ctx, owner, r); err != nil {
				return err
			}
		}
		return nil
	}
	return opts
}
