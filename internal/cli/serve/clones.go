package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/clone"
	"lathe/internal/config"
	"lathe/internal/shell"
)

// cloneOptions are what `lathe worker` is told of clones.
type cloneOptions struct {
	remotes []string
	dir     string
}

// settle checks what was said, before anything is fetched.
func (o *cloneOptions) settle(env *console.Env) (remotes []clone.Remote, err error) {
	for _, name := range o.remotes {
		remote, err := clone.Parse(home(env, name))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(remotes, remote) {
			remotes = append(remotes, remote)
		}
	}
	if o.dir == "" {
		return remotes, nil
	}
	if o.dir = home(env, o.dir); !filepath.IsAbs(o.dir) {
		return nil, lathe.Errorf(lathe.CodeInvalid, "begin it with / or ~/", "--clone-dir %q is not an absolute path", o.dir)
	}
	if len(remotes) == 0 {
		return nil, lathe.Errorf(lathe.CodeInvalid, "add --clone REMOTE", "--clone-dir says where clones are, and there are none")
	}
	return remotes, nil
}

// open makes the clones that are not there, one after the other, and adds all of them to what
// is offered.
func (o *cloneOptions) open(ctx context.Context, env *console.Env, remotes []clone.Remote, work *app.WorkOptions) (all []*clone.Clone, err error) {
	if len(remotes) == 0 {
		return nil, nil
	}
	dir := o.dir
	if dir == "" {
		paths, err := config.DefaultPaths(env.Getenv)
		if err == nil {
			err = config.Ensure(paths.Data)
		}
		if err == nil {
			dir, err = clone.Home(paths.Data)
		}
		if err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(env.Stderr, "lathe: %s\n", console.Clean(line))
	}
	work.Remotes = map[string]string{}
	for _, remote := range remotes {
		c, err := clone.Open(ctx, remote, clone.Options{Dir: dir, Environ: shell.Env(env.Environ, nil, "LATHE_*", "OPENCODE_*", "PG*"), Now: env.Now, Say: say})
		if err != nil {
			return nil, err
		}
		c.Refresh(ctx, func() bool { return true }) // the checkout moves on when a session begins
		all = append(all, c)
		work.Directories = append(work.Directories, c.Dir)
		work.Remotes[c.Dir] = remote.String()
		if o.dir == "" {
			work.Directories = append(work.Directories, c.Worktrees())
			work.Remotes[c.Worktrees()] = remote.String()
		}
	}
	slices.Sort(work.Directories)
	work.Directories = slices.Compact(work.Directories)
	return all, nil
}
