package manage

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// workersOptions say which server to ask; none: the database is asked from here.
type workersOptions struct {
	attach, passFile string
	format           console.ListFormat
}

// NewWorkers is lathe workers.
func NewWorkers(env *console.Env) *cobra.Command {
	var o workersOptions
	cmd := &cobra.Command{
		Use: "workers", Short: "Show who runs turns for a team's servers, and what waits", Args: console.NoArgs,
		Long: `Workers lists the workers (lathe worker) of the PostgreSQL that LATHE_STORE or your
configuration names, or that a server given with --attach uses: what each offers and
runs, and the prompts that run or wait, the oldest first.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.format.Flag(cmd.Flags())
	cmd.Flags().StringVar(&o.attach, "attach", "", "ask the server at this address (http://…, or unix:PATH); auto: one that runs here")
	cmd.Flags().StringVar(&o.passFile, "password-file", "", "with --attach: file with the server's password, readable by you alone")
	return cmd
}

func (o *workersOptions) run(ctx context.Context, env *console.Env) error {
	show := func(f *face.Face) error {
		all, err := f.Workers(ctx)
		switch {
		case err != nil:
			return err
		case o.format.JSON:
			return console.PrintJSON(env, all)
		}
		return printWorkers(env, all)
	}
	if o.attach != "" {
		return face.Attached(ctx, env, o.attach, o.passFile, show)
	}
	return face.With(ctx, env, func(f *face.Face, _ string) error { return show(f) })
}

func printWorkers(env *console.Env, all api.Workers) error {
	if !all.Shared {
		_, err := fmt.Fprintln(env.Stdout, "sessions are kept in files of this machine, which does all the work itself; see lathe worker --help")
		return err
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, one := range all.Workers {
		fmt.Fprintf(w, "%s\t%s\t%d of %d turns\t%s\n", console.Clean(one.Name), one.State, one.Running, one.Turns, console.Clean(strings.Join(offered(one), ", ")))
	}
	if len(all.Workers) == 0 {
		fmt.Fprintln(w, "there are no workers; start one with: lathe worker --root DIR")
	}
	waiting := 0
	for _, one := range all.Work {
		where, waited := one.Worker, time.Duration(one.Waited)*time.Millisecond
		if where == "" {
			where, waiting = "waits", waiting+1
		}
		fmt.Fprintf(w, "%s\t%s\twaited %s\t%s\t%s\n", console.Clean(string(one.SessionID)), console.Clean(where), waited.Round(10*time.Millisecond), console.Clean(one.Directory), console.Clean(one.Person))
	}
	fmt.Fprintf(w, "%d running, %d waiting\n", len(all.Work)-waiting, waiting)
	return w.Flush()
}

// offered are the directories that a worker offers, those that are clones with their remotes.
func offered(w api.Worker) (all []string) {
	for _, dir := range w.Directories {
		if remote := w.Remotes[dir]; remote != "" {
			dir += " (" + remote + ")"
		}
		all = append(all, dir)
	}
	return all
}
