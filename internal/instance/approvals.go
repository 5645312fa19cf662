package instance

import (
	"context"
	"slices"
	"time"

	"lathe"
	"lathe/internal/people"
	"lathe/internal/permission"
	"lathe/internal/store"
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
// with the stored approvals, and stores those that are given for the project. Where servers
// share them, it looks at them anew whenever one counts.
func (i *Instance) permissionOptions(ctx context.Context, o Options) permission.Options {
	opts := permission.Options{Publish: func(ev lathe.Event) { o.Publish(i.Root.Dir, ev) }, IDs: o.IDs, KeepAlways: i.Config.Approvals == "project"}
	if all := i.sharedApprovals(o); all != nil {
		opts.Shared = all
		return opts
	}
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

// allowanceTime is how long something that was allowed holds on servers that share a store, if
// it was not for good. On one machine that is until lathe ends; of several servers one is always
// there, and a person who said it is thought to have meant a day's work.
const allowanceTime = 24 * time.Hour

// shared is what was allowed in a directory on all servers.
type shared struct {
	all store.Allowances
	at  store.Place
}

// Allowed implements [permission.Shared].
func (s shared) Allowed(ctx context.Context) (rules []lathe.Rule, err error) {
	all, err := s.all.Allowed(ctx, s.at)
	for _, a := range all {
		if a.Rule.Action == lathe.Allow {
			rules = append(rules, a.Rule)
		}
	}
	return rules, err
}

// Allow implements [permission.Shared].
func (s shared) Allow(ctx context.Context, rules []lathe.Rule, project bool) error {
	lasts := allowanceTime
	if project {
		lasts = 0
	}
	return s.all.Allow(ctx, s.at, rules, people.From(ctx), lasts)
}

// sharedApprovals is what servers share of the instance's approvals; nil: nothing is.
func (i *Instance) sharedApprovals(o Options) *shared {
	if o.Allowances == nil {
		return nil
	}
	return &shared{o.Allowances, store.Place{Owner: i.ApprovalOwner(), Directory: i.Root.Dir}}
}

// Grant is something that a person has allowed from then on. A stored one
// applies to later runs in the project, any other one until the process ends.
type Grant struct {
	Rule   lathe.Rule
	Stored bool
	// Of one that servers share: who gave it, if people have names, and until when it holds
	// if it is not stored for good.
	By    string
	Until time.Time
}

// Grants lists what "always" replies allowed in an instance, and takes it back.
type Grants struct {
	asks  *permission.Service
	store Approvals // nil: nothing is stored
	owner string
	// shared is what servers share, in place of what is above; nil: nothing is.
	shared *shared
}

// List returns what is allowed, the oldest first.
func (g Grants) List(ctx context.Context) ([]Grant, error) {
	if g.shared != nil {
		return g.listShared(ctx)
	}
	stored, err := g.stored(ctx)
	if err != nil {
		return nil, err
	}
	var out []Grant
	for _, r := range g.asks.Approved() {
		out = append(out, Grant{Rule: r, Stored: slices.Contains(stored, r)})
	}
	for _, r := range stored { // by another process in the meantime
		if !slices.Contains(out, Grant{Rule: r, Stored: true}) {
			out = append(out, Grant{Rule: r, Stored: true})
		}
	}
	return out, nil
}

func (g Grants) listShared(ctx context.Context) (out []Grant, err error) {
	all, err := g.shared.all.Allowed(ctx, g.shared.at)
	for _, a := range all {
		out = append(out, Grant{Rule: a.Rule, Stored: a.Until.IsZero(), By: a.Person, Until: a.Until})
	}
	return out, err
}

func (g Grants) stored(ctx context.Context) ([]lathe.Rule, error) {
	if g.store == nil {
		return nil, nil
	}
	return g.store.Approvals(ctx, g.owner)
}

// Revoke forgets a grant, in this process and for later ones, and on all servers that share it.
// It is no error if there is none.
func (g Grants) Revoke(ctx context.Context, r lathe.Rule) error {
	if g.shared != nil {
		if err := g.shared.all.Disallow(ctx, g.shared.at, r); err != nil {
			return err
		}
	} else if g.store != nil {
		if err := g.store.DeleteApproval(ctx, g.owner, r); err != nil {
			return err
		}
	}
	g.asks.Revoke(r)
	return nil
}
