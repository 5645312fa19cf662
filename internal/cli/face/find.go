package face

import (
	"context"

	"lathe"
	"lathe/internal/cli/app"
	"lathe/internal/cli/console"
	"lathe/internal/client"
)

// findServer returns a running server of this user: the one that was started in
// the directory, else the newest one.
func findServer(ctx context.Context, env *console.Env, dir string) (client.Running, error) {
	paths, _, _, err := app.Places(env)
	if err != nil {
		return client.Running{}, err
	}
	all, err := client.Find(ctx, app.RunDir(paths))
	if err != nil {
		return client.Running{}, err
	}
	if len(all) == 0 {
		return client.Running{}, lathe.Errorf(lathe.CodeNotFound, "start one with: lathe serve; or name its address", "no server of yours runs on this machine")
	}
	for _, r := range all {
		if r.Dir == dir {
			return r, nil
		}
	}
	return all[0], nil
}
