package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"lathe"
	"lathe/internal/api"
)

// jobOptions say which server has the jobs, and where kept jobs are recorded.
type jobOptions struct {
	attach, passFile string
	all              bool
}

func newJob(env *Env) *cobra.Command {
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
		Use: "list", Aliases: []string{"ls"}, Short: "List jobs, oldest first", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.list(cmd.Context(), env)
		},
	}
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
			return o.with(cmd.Context(), env, func(f *face) error { return jobLogs(cmd.Context(), env, f, args[0], follow) })
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
			return o.with(cmd.Context(), env, func(f *face) error {
				j, err := f.StopJob(cmd.Context(), args[0])
				if err == nil {
					fmt.Fprintf(env.Stdout, "%s %s\n", j.ID, clean(j.State))
				}
				return err
			})
		},
	}
	cmd.AddCommand(list, logs, stop)
	return cmd
}

func (o *jobOptions) with(ctx context.Context, env *Env, do func(*face) error) error {
	return attached(ctx, env, o.attach, o.passFile, do)
}

// attached does something with the server that --attach names.
func attached(ctx context.Context, env *Env, address, passwordFile string, do func(*face) error) error {
	password, err := passwordFrom(passwordFile)
	if err != nil {
		return err
	}
	dir, err := attachDir(env, address, "")
	if err != nil {
		return err
	}
	f, err := connect(ctx, env, target{attach: address, password: password, dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// list prints the jobs that were kept on this machine, then those of the server. That
// no server is running is an error only if there is nothing else to show.
func (o *jobOptions) list(ctx context.Context, env *Env) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	kept := 0
	if o.attach == "auto" {
		dir, err := workDir(env, "")
		if err != nil {
			return err
		}
		if kept, err = listKept(env, w, dir, o.all); err != nil {
			return err
		}
	}
	err := o.with(ctx, env, func(f *face) error {
		jobs, err := f.Jobs(ctx, api.JobFilter{All: o.all})
		for _, j := range jobs {
			jobLine(env, w, j)
		}
		return err
	})
	if kept > 0 && lathe.CodeOf(err) == lathe.CodeNotFound {
		err = nil
	}
	return errors.Join(w.Flush(), err)
}

func jobLine(env *Env, w *tabwriter.Writer, j api.Job) {
	since := env.Now().Sub(time.UnixMilli(j.Started)).Round(time.Second)
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", j.ID, clean(j.State), since, portList(j.Ports), oneLine(j.Command, 100))
}

func portList(ports []int) string {
	words := make([]string, len(ports))
	for i, p := range ports {
		words[i] = ":" + strconv.Itoa(p)
	}
	return strings.Join(words, " ")
}

// jobLogs prints output as it came; on a terminal without what could steer it.
func jobLogs(ctx context.Context, env *Env, f *face, id string, follow bool) error {
	out, _, err := f.JobOutput(ctx, id, 0, follow)
	if err != nil {
		return err
	}
	defer out.Close()
	if !env.StdoutTTY {
		_, err = io.Copy(env.Stdout, out)
		return err
	}
	w := &cleanWriter{to: env.Stdout}
	_, err = io.Copy(w, out)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, w.flush())
}

// tellJobs says what happens to the session's jobs when the run is over: they end
// with an engine in this process unless they are to be kept, and keep running in a
// server.
func (v *view) tellJobs(ctx context.Context) {
	if v.c.app != nil && v.c.app.jobs.Running(v.root.ID) == 0 {
		return
	}
	if v.c.app != nil && v.opts.keepJobs {
		v.keepJobs()
		return
	}
	jobs, err := v.c.Jobs(ctx, api.JobFilter{SessionID: v.root.ID})
	if err != nil {
		return
	}
	for _, j := range jobs {
		if !j.Running {
			continue
		}
		name := j.ID + " (" + oneLine(j.Command, 80) + ")"
		if ports := portList(j.Ports); ports != "" {
			name += ", listening on " + ports
		}
		if v.c.app != nil {
			v.out.notice("stopping " + name)
		} else {
			v.out.notice(name + " goes on in the server; stop it with: lathe job stop " + j.ID)
		}
	}
}

// wholeRunes returns the length of data without a character that is cut at its end.
func wholeRunes(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				return i
			}
			break
		}
	}
	return len(data)
}
