package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/console"
	"lathe/internal/cli/face"
)

// jobOptions say which server has the jobs, and where kept jobs are recorded.
type jobOptions struct {
	attach, passFile string
	all              bool
	format           console.ListFormat
}

// NewJob is lathe job.
func NewJob(env *console.Env) *cobra.Command {
	var o jobOptions
	cmd := &cobra.Command{
		Use:   "job",
		Short: "List, follow and stop jobs",
		Long: `Job works with the processes that sessions of a running server have started in the
background, which end with their session and with the server, and with those that
lathe run --keep-jobs left to you (kept_1, …), which need no server. (Other jobs of
lathe run and of the screen end when it does; the screen lists its own with /jobs.)`,
	}
	f := cmd.PersistentFlags()
	f.StringVar(&o.attach, "attach", "auto", "address of the server (http://…, or unix:PATH); auto: one running here")
	f.StringVar(&o.passFile, "password-file", "", "file with the server's password, readable by you alone")
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, oldest first", Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.list(cmd.Context(), env)
		},
	}
	o.format.Flag(list.Flags())
	list.Flags().BoolVar(&o.all, "all", false, "the jobs of every directory")
	var follow bool
	logs := &cobra.Command{
		Use: "logs JOB", Short: "Print a job's output", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := o.kept(env, args[0])
			switch {
			case err != nil:
				return err
			case k != nil:
				return printKept(cmd.Context(), env, k, follow)
			}
			return o.with(cmd.Context(), env, func(f *face.Face) error { return jobLogs(cmd.Context(), env, f, args[0], follow) })
		},
	}
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing until the job ends")
	stop := &cobra.Command{
		Use: "stop JOB", Short: "Stop a job; the model is told", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := o.kept(env, args[0])
			switch {
			case err != nil:
				return err
			case k != nil:
				if err := k.Stop(); err != nil {
					return err
				}
				fmt.Fprintf(env.Stdout, "%s stopped\n", k.ID)
				return nil
			}
			return o.with(cmd.Context(), env, func(f *face.Face) error {
				j, err := f.StopJob(cmd.Context(), args[0])
				if err == nil {
					fmt.Fprintf(env.Stdout, "%s %s\n", j.ID, console.Clean(j.State))
				}
				return err
			})
		},
	}
	cmd.AddCommand(list, logs, stop)
	return cmd
}

func (o *jobOptions) with(ctx context.Context, env *console.Env, do func(*face.Face) error) error {
	return face.Attached(ctx, env, o.attach, o.passFile, do)
}

// list prints the jobs that were kept on this machine, then those of the server. That
// no server is running is an error only if there is nothing else to show.
func (o *jobOptions) list(ctx context.Context, env *console.Env) error {
	var list []api.Job
	if o.attach == "auto" {
		dir, err := console.WorkDir(env, "")
		if err != nil {
			return err
		}
		if list, err = listKept(env, dir, o.all); err != nil {
			return err
		}
	}
	kept := len(list)
	err := o.with(ctx, env, func(f *face.Face) error {
		jobs, err := f.Jobs(ctx, api.JobFilter{All: o.all})
		list = append(list, jobs...)
		return err
	})
	if kept > 0 && lathe.CodeOf(err) == lathe.CodeNotFound {
		err = nil
	}
	if err != nil && len(list) == 0 {
		return err
	}
	return errors.Join(printJobs(env, list, o.format), err)
}

func printJobs(env *console.Env, list []api.Job, format console.ListFormat) error {
	if format.JSON {
		return console.PrintList(env, list)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, j := range list {
		jobLine(env, w, j)
	}
	return w.Flush()
}

func jobLine(env *console.Env, w *tabwriter.Writer, j api.Job) {
	since := env.Now().Sub(time.UnixMilli(j.Started)).Round(time.Second)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", j.ID, console.Clean(j.State), since, console.PortList(j.Ports), console.OneLine(j.Command, 100))
}

// jobLogs prints output as it came; on a terminal without what could steer it.
func jobLogs(ctx context.Context, env *console.Env, f *face.Face, id string, follow bool) error {
	out, _, err := f.JobOutput(ctx, id, 0, follow)
	if err != nil {
		return err
	}
	defer out.Close()
	if !env.StdoutTTY {
		_, err = io.Copy(env.Stdout, out)
		return err
	}
	w := &console.CleanWriter{To: env.Stdout}
	_, err = io.Copy(w, out)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, w.Flush())
}
