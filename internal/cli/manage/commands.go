package manage

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// NewCommands is lathe commands.
func NewCommands(env *console.Env) *cobra.Command {
	var dir string
	var format console.ListFormat
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "List the commands that lathe run --command knows",
		Long: `Commands lists named prompts: built-in ones, those from the configuration and from
command files, and one for each skill. Run one with:

  lathe run --command NAME [arguments …]`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listCommands(cmd.Context(), env, dir, format) },
	}
	format.Flag(cmd.Flags())
	cmd.Flags().StringVar(&dir, "dir", "", "directory to work in")
	return cmd
}

func listCommands(ctx context.Context, env *console.Env, dir string, format console.ListFormat) error {
	return face.WithIn(ctx, env, dir, func(f *face.Face, _ string) error {
		list, err := f.NamedCommands(ctx)
		switch {
		case err != nil:
			return err
		case format.JSON:
			return console.PrintList(env, list)
		}
		return printCommands(env, list)
	})
}

func printCommands(env *console.Env, list []api.NamedCommand) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range list {
		source := c.Source
		if c.File != "" {
			source += " " + c.File
		}
		about := c.Description
		if len(c.Hints) > 0 {
			about = strings.TrimSpace(about + " (" + strings.Join(c.Hints, " ") + ")")
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", console.OneLine(c.Name, 60), console.OneLine(about, 100), console.Clean(source))
	}
	return w.Flush()
}
