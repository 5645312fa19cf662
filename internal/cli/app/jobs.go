package app

import (
	"path/filepath"

	"lathe/internal/cli/console"
	"lathe/internal/config"
	"lathe/internal/job"
	"lathe/internal/store/local"
)

// Keepers says where the jobs are recorded that lathe run left to the person.
func Keepers(env *console.Env, paths config.Paths) job.Keepers {
	return job.Keepers{Dir: filepath.Join(paths.Data, "jobs"), Args: env.Keeper}
}

// ledger records the jobs of sessions for a later lathe.
func ledger(paths config.Paths) job.Ledger {
	return job.Ledger{Dir: filepath.Join(paths.Data, "jobs", "of"), Self: local.Self}
}
