package manage

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	var format console.ListFormat
	cmd := &cobra.Command{
		Use: "permissions", Aliases: []string{"permission"}, Short: "Show the rules for tools, and your permanent approvals",
		Long: `Permissions lists the rules of each agent in order, and where each comes
from. The last rule that matches a request wins. Below them are the approvals
that you gave for this project; they answer what would be asked, and never lift a denial.`,
		Example: "  lathe permissions\n  lathe permissions --agent plan\n  lathe permissions revoke 'git push *'\n  lathe permissions revoke --all",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error { return listPermissions(cmd.Context(), env, f, agent, format) })
		},
	}
	format.Flag(cmd.Flags())
	cmd.Flags().StringVar(&agent, "agent", "", "show the rules of this agent only")
	cmd.AddCommand(newRevoke(env))
	return cmd
}

// ruled is what lathe permissions lists.
type ruled struct {
	Agents    []api.RuledAgent `json:"agents"`
	Approvals []api.Approval   `json:"approvals"` // of this project
}

func listPermissions(ctx context.Context, env *console.Env, f *face.Face, agent string, format console.ListFormat) error {
	agents, err := f.RuledAgents(ctx)
	if err != nil {
		return err
	}
	agents = slices.DeleteFunc(agents, func(a api.RuledAgent) bool {
		return agent == "" && a.Hidden || agent != "" && a.Name != agent
	})
	if len(agents) == 0 {
		return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe agents", "there is no agent %q", agent)
	}
	stored, err := f.Approvals(ctx)
	if err != nil {
		return err
	}
	if format.JSON {
		return console.PrintJSON(env, ruled{Agents: agents, Approvals: append([]api.Approval{}, stored...)})
	}
	printPermissions(env, agents, stored)
	return nil
}

func printPermissions(env *console.Env, agents []api.RuledAgent, stored []api.Approval) {
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	for _, ag := range agents {
		fmt.Fprintf(env.Stdout, "%s\n", st.Bold(console.Clean(ag.Name)))
		for _, r := range ag.Rules {
			fmt.Fprintf(env.Stdout, "  %-5s  %-18s  %-24s  %s\n", r.Action, console.Clean(r.Permission), console.Clean(r.Pattern), st.Dim(console.Clean(r.Source)))
		}
		if ag.Capped {
			fmt.Fprintf(env.Stdout, "  %s\n", st.Dim("and nothing that your default agent may not: only this repository, which is not trusted, defines it"))
		}
	}
	if len(stored) > 0 {
		fmt.Fprintf(env.Stdout, "%s\n", st.Bold("approved in this project"))
	}
	for _, r := range stored {
		fmt.Fprintf(env.Stdout, "  %-5s  %-18s  %s%s\n", lathe.Allow, console.Clean(r.Permission), console.Clean(r.Pattern), st.Dim(givenBy(r)))
	}
}

// givenBy says who gave an approval that servers share, and when it is over.
func givenBy(a api.Approval) (text string) {
	if a.By != "" {
		text += "  " + console.Clean(a.By)
	}
	if a.Until != 0 {
		text += "  -> " + time.UnixMilli(a.Until).Format("2006-01-02 15:04")
	}
	return text
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
