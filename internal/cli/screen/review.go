package screen

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// NewReview is lathe review.
func NewReview(env *console.Env) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "review [session]",
		Short: "Look through what a session changed, by prompt, file and hunk",
		Long: `Review opens the screen with the changes of a session (the one used last here,
unless its id is given): read them in whole files, mark them as looked at, take
back a hunk, a file or a prompt, write comments for the next prompt, stage and
commit. Without a terminal, and with --format, it prints them.`,
		Example: "  lathe review\n  lathe review --format text | less\n  lathe review --format json | jq '.[].files[].file'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case format != "" && format != "text" && format != "json":
				return console.Usagef("--format %q is not text or json", format)
			case format == "" && env.Interactive():
				return reviewOnScreen(cmd.Context(), env, args)
			}
			return face.With(cmd.Context(), env, func(f *face.Face, _ string) error {
				sess, err := f.Session(cmd.Context(), args)
				if err != nil {
					return err
				}
				list, err := f.Review(cmd.Context(), sess.ID)
				if err != nil {
					return err
				}
				if format == "json" {
					return console.PrintJSON(env, list)
				}
				return printReview(env, list)
			})
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "print as text or json instead of opening the screen")
	return cmd
}

// reviewOnScreen opens the screen with the changes of a session.
func reviewOnScreen(ctx context.Context, env *console.Env, args []string) error {
	o := Options{review: true}
	err := face.With(ctx, env, func(f *face.Face, _ string) error {
		sess, err := f.Session(ctx, args)
		o.Session = string(sess.ID)
		return err
	})
	if err != nil {
		return err
	}
	return Run(ctx, env, o)
}

// printReview prints each prompt with the files that it changed.
func printReview(env *console.Env, list []api.Reviewed) error {
	st := console.NewStyle(env.StdoutTTY, env.Getenv)
	var b strings.Builder
	for _, r := range list {
		title := cmp.Or(console.OneLine(r.Text, 200), "(no text)")
		if r.Taken {
			title = "(taken back)"
		}
		added, removed := r.Counts()
		fmt.Fprintf(&b, "%s  +%d -%d\n", st.Bold(title), added, removed)
		renames := r.Renames()
		for _, f := range r.Files {
			if other := renames[f.File]; other != "" {
				// The row of its new name stands for both.
				if f.Status == "added" {
					fmt.Fprintf(&b, "  %-8s  %s -> %s\n", "renamed", console.Clean(other), console.Clean(f.File))
				}
				continue
			}
			fmt.Fprintf(&b, "  %-8s  +%d -%d  %s\n", f.Status, f.Additions, f.Deletions, console.Clean(f.File))
		}
	}
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}
