package manage

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
	"lathe/internal/permission"
)

// NewPermissions is lathe permissions.
func NewPermissions(env *console.Env) *cobra.Command {
	var agent string
	cmd := &cobra.Command{
		Use: "permissions", Aliases: []string{"permission"}, Short: "Show the rules for tools, and your permanent approvals",
		Long: `Permissions lists the rules of each agent in order, and where each comes
from. The last rule that matches a request wins. Below them are the approvals
that you gave for this project; they answer what would be asked, and never lift a denial.`,
		Example: "  lathe permissions\n  lathe permissions --agent plan\n  lathe permissions revoke 'git push *'\n  lathe permissions revoke --all",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return printPermissions(cmd.Context(), env, f, agent) })
		},
	}
	cmd.Flags().StringVar(&agent, "agent", "", "of this agent only")
	cmd.AddCommand(newRevoke(env))
	return cmd
}

func printPermissions(ctx context.Context, env *console.Env, f *face.Face, agent string) error {
	agents, err := f.RuledAgents(ctx)
	if err != nil {
		return err
	}
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	found := false
	for _, ag := range agents {
		if agent == "" && ag.Hidden || agent != "" && ag.Name != agent {
			continue
		}
		found = true
		fmt.Fprintf(env.Stdout, "%s\n", st.Bold(console.Clean(ag.Name)))
		for _, r := range ag.Rules {
			fmt.Fprintf(env.Stdout, "  %-5s  %-18s  %-24s  %s\n", r.Action, console.Clean(r.Permission), console.Clean(r.Pattern), st.Dim(console.Clean(r.Source)))
		}
		if ag.Capped {
			fmt.Fprintf(env.Stdout, "  %s\n", st.Dim("and nothing that your default agent may not: only this repository, which is not trusted, defines it"))
		}
	}
	if !found {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe agents", "there is no agent %q", agent)
	}
	stored, err := f.Approvals(ctx)
	if err != nil {
		return err
	}
	if len(stored) > 0 {
		fmt.Fprintf(env.Stdout, "%s\n", st.Bold("approved in this project"))
	}
	for _, r := range stored {
		fmt.Fprintf(env.Stdout, "  %-5s  %-18s  %s\n", lathe.Allow, console.Clean(r.Permission), console.Clean(r.Pattern))
	}
	return nil
}

func newRevoke(env *console.Env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "revoke [pattern …]", Short: "Withdraw approvals of this project",
		Long: `Revoke forgets the approvals whose pattern, or PERMISSION:PATTERN, is given as
lathe permissions shows it; wildcards match several.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return console.Usagef("give patterns or --all")
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return revoke(cmd.Context(), env, f, args) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all of them")
	return cmd
}

// revoke withdraws the approvals that the patterns name; no patterns means all.
func revoke(ctx context.Context, env *console.Env, f *face.Face, patterns []string) error {
	stored, err := f.Approvals(ctx)
	if err != nil {
		return err
	}
	gone := 0
	for _, r := range stored {
		if len(patterns) > 0 && !names(patterns, r) {
			continue
		}
		if err := f.Revoke(ctx, r); err != nil {
			return err
		}
		gone++
		fmt.Fprintf(env.Stderr, "lathe: revoked %s: %s\n", console.Clean(r.Permission), console.Clean(r.Pattern))
	}
	if gone == 0 && len(patterns) > 0 {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe permissions", "no approval of this project matches")
	}
	return nil
}

// names reports whether one of the patterns means the rule. A pattern spelled
// exactly like the rule's matches literally, wildcards included.
func names(patterns []string, r api.Approval) bool {
	for _, p := range patterns {
		full := r.Permission + ":" + r.Pattern
		if p == r.Pattern || p == full || permission.Match(p, r.Pattern) || permission.Match(p, full) {
			return true
		}
	}
	return false
}
