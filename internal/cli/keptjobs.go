package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/job"
	"lathe/internal/store/local"
)

// keepers says where the jobs are recorded that lathe run left to the person.
func keepers(env *Env, paths config.Paths) job.Keepers {
	return job.Keepers{Dir: filepath.Join(paths.Data, "jobs"), Args: env.Keeper}
}

// ledger records the jobs of sessions for a later lathe.
func ledger(paths config.Paths) job.Ledger {
	return job.Ledger{Dir: filepath.Join(paths.Data, "jobs", "of"), Self: local.Self}
}

// kept returns the kept job of a name; nil: the name is a server's job.
func (o *jobOptions) kept(env *Env, id string) (*job.Kept, error) {
	if !strings.HasPrefix(id, job.KeptPrefix) {
		return nil, nil
	}
	paths, _, _, err := places(env)
	if err != nil {
		return nil, err
	}
	k, err := keepers(env, paths).Get(id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe job list --all", "there is no job %q, or not any more", id)
	}
	return k, err
}

// listKept prints the kept jobs of a directory, or of all, and returns how many there
// are. Jobs that have ended are shown for the last time.
func listKept(env *Env, w *tabwriter.Writer, dir string, all bool) (int, error) {
	paths, _, _, err := places(env)
	if err != nil {
		return 0, err
	}
	return keepers(env, paths).List(func(k *job.Kept) bool {
		if !all && k.Directory != dir {
			return false
		}
		state := "running"
		if !k.Running() {
			state = "ended"
		}
		jobLine(env, w, api.Job{ID: k.ID, State: state, Started: k.Started.UnixMilli(), Ports: k.Ports, Command: k.Command})
		return true
	})
}

// printKept prints the output of a kept job.
func printKept(ctx context.Context, env *Env, k *job.Kept, follow bool) error {
	if !env.StdoutTTY {
		return k.Copy(ctx, env.Stdout, follow)
	}
	w := &cleanWriter{to: env.Stdout}
	return errors.Join(k.Copy(ctx, w, follow), w.flush())
}

// cleanWriter removes what could control a terminal.
type cleanWriter struct {
	to   io.Writer
	rest []byte // beginning of an incomplete character
}

func (w *cleanWriter) Write(p []byte) (int, error) {
	data := append(w.rest, p...)
	n := wholeRunes(data)
	_, err := io.WriteString(w.to, clean(string(data[:n])))
	w.rest = append([]byte(nil), data[n:]...)
	return len(p), err
}

func (w *cleanWriter) flush() error {
	_, err := io.WriteString(w.to, clean(string(w.rest)))
	w.rest = nil
	return err
}

// keepJobs leaves the running jobs of the session to the person, and says how to reach
// them. One that cannot be left is stopped.
func (v *view) keepJobs() {
	a := v.c.app
	for _, j := range a.jobs.Of(v.root.ID) {
		info := j.Info()
		if !info.Running() {
			continue
		}
		name := info.ID + " (" + oneLine(info.Command, 80) + ")"
		k, err := a.jobs.HandOver(j)
		if err != nil {
			v.out.warning(fmt.Sprintf("%s cannot be kept and is stopped: %v", name, err))
			continue
		}
		if ports := portList(k.Ports); ports != "" {
			name += ", listening on " + ports
		}
		v.out.notice(fmt.Sprintf("%s goes on as %s; its output: lathe job logs %s, its end: lathe job stop %s", name, k.ID, k.ID, k.ID))
	}
}
