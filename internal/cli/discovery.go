package cli

import (
	"context"
	"path/filepath"

	"lathe"
	"lathe/internal/client"
	"lathe/internal/config"
)

// runDir is where servers make themselves known.
func runDir(paths config.Paths) string { return filepath.Join(paths.Data, "run") }

// findServer returns a running server of this user: the one that works in the
// directory, else the one that was started last.
func findServer(ctx context.Context, env *Env, dir string) (client.Running, error) {
	paths, _, _, err := places(env)
	if err != nil {
		return client.Running{}, err
	}
	all, err := client.Find(ctx, runDir(paths))
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
