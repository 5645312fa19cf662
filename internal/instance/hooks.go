package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/plugin"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/shell"
)

// hookChain returns the hooks for the directory's sessions: the process's own,
// then the configured programs. Nothing is started.
func (i *Instance) hookChain(o Options) *plugin.Chain {
	var mine []plugin.Hooks
	if i.Plugins != nil {
		mine = i.Plugins.Hooks()
	}
	if o.Runner != nil {
		mine = append(mine, i.claudeHooks(hookcmd.Place{Runner: i.ways, Dir: i.Root.Dir, Env: i.Shell.Env})...)
	}
	if len(i.Config.Hooks) == 0 && mine == nil {
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
	place := hookcmd.Place{Runner: i.ways, Dir: i.Root.Dir, Env: i.Shell.Env, Describe: i.describe, Guarded: func(h config.Hook) bool {
		return i.Config.TrustOf(h.Pos) == config.Repository
	}}
	chain := o.Hooks.With(i.troubles.report, append(mine, hookcmd.Hooks(usable, place)...)...)
	i.keepHookRecords(chain, o.Now)
	return chain
}

// EnvFor returns the environment of a command of a session, with what hooks add; a
// command of the person's has no call.
func (i *Instance) EnvFor(ctx context.Context, id lathe.SessionID, call, dir string) []string {
	env := i.Shell.Env
	if call == "" {
		env = i.Shell.Own
	}
	extra := i.Hooks.ShellEnv(ctx, plugin.ShellEnvInput{Dir: dir, SessionID: id, CallID: call})
	if len(extra) == 0 {
		return env
	}
	return shell.Env(env, extra)
}

// troubles warns the person once about each plugin that fails, and logs every failure.
type troubles struct {
	log  func(plugin string, err error)
	tell func(text string)

	mu   sync.Mutex
	told map[string]bool
	all  []string // what the person was told
}

func newTroubles(dir string, o Options) *troubles {
	return &troubles{
		log:  func(name string, err error) { o.Log.Warn("a hook failed", "plugin", name, "dir", dir, "err", err) },
		tell: func(text string) { o.Publish(dir, warning(text)) },
	}
}

// warn shows the person a warning.
func (t *troubles) warn(text string) {
	t.mu.Lock()
	t.all = append(t.all, text)
	t.mu.Unlock()
	t.tell(text)
}

// said returns what the person was told.
func (t *troubles) said() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
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
		t.warn(fmt.Sprintf("%s: %v (see: lathe plugin list)", plugin, err))
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
