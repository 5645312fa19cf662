package sessions

import (
	"context"
	"errors"
	"strings"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/job"
)

// kept returns the kept job of a name; nil: the name is a server's job.
func (o *jobOptions) kept(env *console.Env, id string) (*job.Kept, error) {
	if !strings.HasPrefix(id, job.KeptPrefix) {
		return nil, nil
	}
	paths, _, _, err := app.Places(env)
	if err != nil {
		return nil, err
	}
	k, err := app.Keepers(env, paths).Get(id)
	if errors.Is(err, job.ErrNotFound) {
		return nil, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe job list --all", "there is no job %q, or not any more", id)
	}
	return k, err
}

// listKept returns the kept jobs of a directory, or of all. Jobs that have ended are shown for the last time.
func listKept(env *console.Env, dir string, all bool) (list []api.Job, err error) {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return nil, err
	}
	_, err = app.Keepers(env, paths).List(func(k *job.Kept) bool {
		if !all && k.Directory != dir {
			return false
		}
		state := "running"
		if !k.Running() {
			state = "ended"
		}
		list = append(list, api.Job{ID: k.ID, State: state, Running: k.Running(), Directory: k.Directory, Started: k.Started.UnixMilli(), Ports: k.Ports, Command: k.Command})
		return true
	})
	return list, err
}

// printKept prints the output of a kept job.
func printKept(ctx context.Context, env *console.Env, k *job.Kept, follow bool) error {
	if !env.StdoutTTY {
		return k.Copy(ctx, env.Stdout, follow)
	}
	w := &console.CleanWriter{To: env.Stdout}
	return errors.Join(k.Copy(ctx, w, follow), w.Flush())
}
