package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"lathe"
	"lathe/internal/plugin"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/shell"
)

// hookChain returns what takes part in the directory's sessions: what the process
// brought along, then the programs of the configuration. Nothing is started.
func (i *Instance) hookChain(o Options) *plugin.Chain {
	if len(i.Config.Hooks) == 0 {
		return o.Hooks
	}
	var usable = i.Config.Hooks[:0:0]
	for _, h := range i.Config.Hooks {
		if err := hookcmd.Check(h); err != nil {
			i.Log.Warn("a hook of the configuration is left out", "file", h.Pos.String(), "err", err)
			continue
		}
		usable = append(usable, h)
	}
	t := &troubles{log: func(name string, err error) {
		i.Log.Warn("a hook failed", "plugin", name, "dir", i.Root.Dir, "err", err)
	}, tell: func(text string) { o.Publish(i.Root.Dir, warning(text)) }}
	place := hookcmd.Place{Runner: o.Runner, Dir: i.Root.Dir, Env: i.Shell.Env}
	return o.Hooks.With(t.report, hookcmd.Hooks(usable, place)...)
}

// EnvFor returns the environment of a command of a session, with what hooks add; a
// command of the person's has no call.
func (i *Instance) EnvFor(ctx context.Context, id lathe.SessionID, call, dir string) []string {
	extra := i.Hooks.ShellEnv(ctx, plugin.ShellEnvInput{Dir: dir, SessionID: id, CallID: call})
	if len(extra) == 0 {
		return i.Shell.Env
	}
	return shell.Env(i.Shell.Env, extra)
}

// troubles tells the person once of each plugin that fails, and the log each time.
type troubles struct {
	log  func(plugin string, err error)
	tell func(text string)

	mu   sync.Mutex
	told map[string]bool
}

func (t *troubles) report(plugin string, err error) {
	t.log(plugin, err)
	t.mu.Lock()
	known := t.told[plugin]
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[plugin] = true
	t.mu.Unlock()
	if !known {
		t.tell(fmt.Sprintf("%s: %v (see: lathe plugin list)", plugin, err))
	}
}

// warning is what screens show for a while.
func warning(text string) lathe.Event {
	props, err := json.Marshal(map[string]string{"title": "Plugins", "message": text, "variant": "warning"})
	if err != nil { // texts always encode
		panic(err)
	}
	return lathe.ClientEvent{Type: "tui.toast.show", Properties: props}
}
