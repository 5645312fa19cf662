package instance

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/workspace"
)

// Approvals stores what a person approved permanently. The owner is a project in
// one place: a copy of it elsewhere may hold other programs under the same names.
type Approvals interface {
	Approvals(ctx context.Context, owner string) ([]lathe.Rule, error)
	PutApproval(ctx context.Context, owner string, r lathe.Rule) error
	DeleteApproval(ctx context.Context, owner string, r lathe.Rule) error
}

// ApprovalOwner names the owner of a directory's approvals in the store: its project
// in this place.
func ApprovalOwner(p lathe.Project, root workspace.Root) string {
	place := p.Worktree
	if root.VCS == "" {
		place = root.Dir
	}
	return p.ID + " " + place
}

// ApprovalOwner names the owner of the instance's approvals in the store.
func (i *Instance) ApprovalOwner() string { return ApprovalOwner(i.Project, i.Root) }

// permissionOptions are those of the instance's permission service: it begins
// with the stored approvals, and stores those that are given for the project.
func (i *Instance) permissionOptions(ctx context.Context, o Options) permission.Options {
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

// Grant is something that a person has allowed from then on. A stored one
// applies to later runs in the project, any other one until the process ends.
type Grant struct {
	Rule   lathe.Rule
	Stored bool
}

// Grants lists what "always" replies allowed in an instance, and takes it back.
type Grants struct {
	asks  *permission.Service
	store Approvals // nil: nothing is stored
	owner string
}

// List returns what is allowed, the oldest first.
func (g Grants) List(ctx context.Context) ([]Grant, error) {
	stored, err := g.stored(ctx)
	if err != nil {
		return nil, err
	}
	var out []Grant
	for _, r := range g.asks.Approved() {
		out = append(out, Grant{Rule: r, Stored: slices.Contains(stored, r)})
	}
	for _, r := range stored { // by another process in the meantime
		if !slices.Contains(out, Grant{r, true}) {
			out = append(out, Grant{r, true})
		}
	}
	return out, nil
}

func (g Grants) stored(ctx context.Context) ([]lathe.Rule, error) {
	if g.store == nil {
		return nil, nil
	}
	return g.store.Approvals(ctx, g.owner)
}

// Revoke forgets a grant, in this process and for later ones. It is no error if
// there is none.
func (g Grants) Revoke(ctx context.Context, r lathe.Rule) error {
	if g.store != nil {
		if err := g.store.DeleteApproval(ctx, g.owner, r); err != nil {
			return err
		}
	}
	g.asks.Revoke(r)
	return nil
}
