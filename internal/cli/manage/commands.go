package manage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// NewCommands is lathe commands.
func NewCommands(env *console.Env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "commands",
		Short: "List the commands that lathe run --command knows",
		Long: `Commands lists named prompts: built-in ones, those from the configuration and from
command files, and one for each skill. Run one with:

  lathe run --command NAME [arguments …]`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listCommands(cmd.Context(), env, dir) },
	}
	cmd.Flags().StringVar(&dir, "dir", "", "directory to work in")
	return cmd
}

func listCommands(ctx context.Context, env *console.Env, dir string) error {
	dir, err := console.WorkDir(env, dir)
	if err != nil {
		return err
	}
	f, err := face.Connect(ctx, env, face.Target{Dir: dir})
	if err != nil {
		return err
	}
	list, err := f.NamedCommands(ctx)
	if err != nil {
		return errors.Join(err, f.Close())
	}
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
	return errors.Join(w.Flush(), f.Close())
}
