package instance

import (
	"context"
	"path/filepath"
	"time"

	"lathe/internal/config"
	"lathe/internal/plugin"
)

// HookRecords are what hooks cost on this machine.
func HookRecords(paths config.Paths) plugin.Records {
	return plugin.Records{Path: filepath.Join(paths.Data, "hook-calls.jsonl")}
}

// keepHookRecords stores and logs what the directory's own hooks cost, now and then and when
// the instance closes.
func (i *Instance) keepHookRecords(chain *plugin.Chain, now func() time.Time) {
	chain.OnAccounts(func() {
		accounts := chain.Take()
		for _, a := range accounts {
			i.Log.Info("hooks were called", "plugin", a.Plugin, "hook", a.Hook, "dir", i.Root.Dir, "calls", a.Calls, "failed", a.Failed, "dur", a.Time, "longest", a.Longest)
		}
		if err := HookRecords(i.Paths).Add(context.Background(), now(), i.Root.Dir, accounts); err != nil {
			i.Log.Warn("what hooks cost is not kept", "err", err)
		}
	})
}
