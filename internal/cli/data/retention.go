package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/retention"
	"lathe/internal/session"
)

// retaining is lathe db retention.
type retaining struct {
	env             *console.Env
	sessions, audit string
	now             bool
	format          console.ListFormat
}

func newDBRetention(env *console.Env) *cobra.Command {
	o := &retaining{env: env}
	var dry bool
	cmd := &cobra.Command{
		Use: "retention", Short: "Show what is old enough to be removed, or remove it", Args: console.NoArgs,
		Long: `Retention lists the sessions that "retention" in your own configuration lets go,
and counts entries of the audit. It removes nothing, unless --now is there.

  "retention": {"sessions": "180d", "audit": "2y"}

A session is as old as its latest prompt. One that runs, or is shared, or has a job that
runs or a bookmark stays with those below it, and so does one with a session below it
that was used since or that stays. Without the setting nothing is ever removed. With it
servers and screens remove what is too old once an hour, 100 sessions at most.`,
		Example: `  lathe db retention
  lathe db retention --sessions 1y          # what another setting would remove
  lathe db retention --now`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dry && o.now {
				return console.Usagef("--dry-run and --now do not go together")
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.sessions, "sessions", "", "age of sessions in place of the configured one, such as 180d, 26w or 2y")
	f.StringVar(&o.audit, "audit", "", "age of entries of the audit in place of the configured one")
	f.BoolVar(&o.now, "now", false, "remove it, all at once")
	f.BoolVar(&dry, "dry-run", false, "remove nothing (the default)")
	o.format.Flag(f)
	return cmd
}

func (o *retaining) run(ctx context.Context) error {
	address, err := app.StoreOf(ctx, o.env, "")
	if err != nil {
		return err
	}
	dir, err := console.WorkDir(o.env, "")
	if err != nil {
		return err
	}
	a, err := app.Open(ctx, o.env, app.Options{Dir: dir, Store: address})
	if err != nil {
		return err
	}
	return errors.Join(o.with(ctx, a), a.Close())
}

func (o *retaining) with(ctx context.Context, a *app.App) error {
	policy, err := o.policy(ctx, a)
	if err != nil {
		return err
	}
	var all []session.Expired
	tell := func(one session.Expired) { all = append(all, one) }
	r := a.Retention(policy)
	var due retention.Due
	if o.now {
		due, err = a.Retain(ctx, r, 0, tell)
	} else {
		due, err = r.Plan(ctx, tell)
	}
	return errors.Join(err, o.print(all), o.sum(due))
}

// policy is the configured one with what flags say.
func (o *retaining) policy(ctx context.Context, a *app.App) (retention.Policy, error) {
	p, err := a.Policy(ctx)
	if err != nil {
		return p, err
	}
	for _, flag := range []struct {
		name, text string
		age        *time.Duration
	}{{"sessions", o.sessions, &p.Sessions}, {"audit", o.audit, &p.Audit}} {
		if flag.text == "" {
			continue
		}
		age, err := config.ParseAge(flag.text)
		if err != nil {
			return p, console.Usagef("--%s %q %v", flag.name, flag.text, err)
		}
		*flag.age = time.Duration(age)
	}
	if p == (retention.Policy{}) {
		return p, lathe.Errorf(lathe.CodeInvalid, `write "retention": {"sessions": "180d"} into your own configuration, or try one with --sessions 180d`,
			"everything is kept: no retention is configured")
	}
	return p, nil
}

// shownExpired is an old session as JSON.
type shownExpired struct {
	ID      lathe.SessionID `json:"id"`
	Title   string          `json:"title"`
	Updated time.Time       `json:"updated"`
	Below   int             `json:"below"`          // sessions that go with it
	Kept    string          `json:"kept,omitempty"` // why it stays
}

func (o *retaining) print(all []session.Expired) error {
	if o.format.JSON {
		list := []shownExpired{}
		for _, one := range all {
			list = append(list, shownExpired{one.ID, one.Title, one.Updated, one.Below, one.Kept})
		}
		return console.PrintList(o.env, list)
	}
	w := tabwriter.NewWriter(o.env.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range all {
		what := "goes"
		if one.Below > 0 {
			what = fmt.Sprintf("goes with %d below it", one.Below)
		}
		if one.Kept != "" {
			what = "stays: " + one.Kept
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.ID, one.Updated.Local().Format(time.DateOnly), what, cmp.Or(console.OneLine(one.Title, 60), "-"))
	}
	return w.Flush()
}

func (o *retaining) sum(due retention.Due) error {
	words := "would be removed"
	switch {
	case o.now:
		words = "were removed"
	case due.Sessions > 0 || due.Audit > 0:
		words += "; remove them with: lathe db retention" + o.asked() + " --now"
	}
	_, err := fmt.Fprintf(o.env.Stderr, "lathe: %s and %s %s\n", number(int64(due.Sessions), "session", "sessions"), number(due.Audit, "entry of the audit", "entries of the audit"), words)
	return err
}

func number(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// asked are the ages that flags gave, as they were written: without them another policy
// would remove other sessions than those that were shown.
func (o *retaining) asked() string {
	var flags string
	if o.sessions != "" {
		flags += " --sessions " + o.sessions
	}
	if o.audit != "" {
		flags += " --audit " + o.audit
	}
	return flags
}
