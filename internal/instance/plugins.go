package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin/host"
	"lathe/internal/provider"
	"lathe/internal/shell"
	"lathe/internal/tool"
)

// Plugins are the plugins and custom tools of a directory, in JavaScript or TypeScript.
// Nil: there are none.
type Plugins struct {
	*host.Host
	troubles *troubles
	Bounds   string // how their process is confined, in words
}

// Name is that of the part.
func (*Plugins) Name() string { return "plugins" }

// Start does nothing: they were started when the instance was made.
func (*Plugins) Start(context.Context, func()) error { return nil }

// Status says which ones do not work.
func (p *Plugins) Status() string {
	var bad []string
	for _, one := range p.Plugins() {
		if one.Error != "" {
			bad = append(bad, one.Name)
		}
	}
	if bad == nil {
		return ""
	}
	return "not working: " + fewOf(bad, func(s string) string { return s })
}

// startPlugins starts the configured plugins, and returns the configuration as they
// leave it. If there is nothing to start, it does nothing.
func startPlugins(ctx context.Context, i *Instance, o Options) (*Plugins, error) {
	p, t := i.place, i.troubles
	sources := slices.DeleteFunc(i.PluginSources(), func(s host.Source) bool { return s.Off })
	if len(sources) == 0 || o.Runner == nil {
		return nil, nil
	}
	opts, err := i.hostOptions(sources, o)
	if err != nil {
		return nil, err
	}
	opts.Project, opts.Tell, opts.Report = wire.EncodeProject(i.Project), t.warn, t.report
	opts.Describe = i.describe
	if path := o.Getenv("LATHE_PLUGIN_WATCH"); path != "" {
		opts.Watch = watchInto(path, t.report)
	}
	if o.Door != nil {
		opts.Door = o.Door()
	}
	plugins := &Plugins{Host: host.New(sources, opts), troubles: t, Bounds: i.Confinement.plugins(sources).words()}
	if err := plugins.Host.Start(ctx, p.Config.Whole()); err != nil {
		t.warn(fmt.Sprintf("no plugin works: %v", err))
	}
	if changed := plugins.Config(); len(changed) > 0 {
		conf, err := p.Config.With("plugins", p.Paths.Home, changed)
		if err != nil {
			t.report("plugins", fmt.Errorf("their changes to the configuration are ignored: %w", err))
		} else {
			p.Config = conf
		}
	}
	if err := plugins.pluginModels(ctx, p, o); err != nil {
		t.report("plugins", err)
	}
	return plugins, nil
}

// PluginSources lists the plugins and tools that there are, those that are off included.
func (p *place) PluginSources() []host.Source {
	all := host.Sources(p.Config)
	if len(all) == 0 {
		return nil
	}
	off, err := p.pluginsOff().Read()
	if err != nil {
		p.log.Warn("all plugins count as on", "err", err)
	}
	for i := range all {
		all[i].Off = slices.Contains(off, all[i].Spec)
	}
	return all
}

func (p *place) pluginsOff() host.Off {
	return host.Off{Path: filepath.Join(p.Paths.Data, "plugins-off.json")}
}

// SwitchPlugin switches a plugin or a file of tools on or off, by what names it. It counts
// from the next start of the instance.
func (p *place) SwitchPlugin(spec string, on bool) error {
	for _, s := range p.PluginSources() {
		if s.Spec == spec || s.Name == spec {
			return p.pluginsOff().Switch(s.Spec, on)
		}
	}
	return lathe.Errorf(lathe.CodeNotFound, "list them with: lathe plugin list", "there is no plugin %q", spec)
}

// hostOptions are what plugins run with, and are installed with.
func (i *Instance) hostOptions(sources []host.Source, o Options) (host.Options, error) {
	p := i.place
	env, err := pluginEnv(p.Config, o)
	if o.Runner != nil {
		o.Runner = o.Runner.Confined(i.Confinement.plugins(sources).confine)
	}
	return host.Options{
		Dir: p.Root.Dir, Worktree: p.Root.Worktree, Runner: o.Runner, Env: env, Cache: p.Paths.Cache, Data: p.Paths.Data, Log: o.Log,
		Offline: o.Getenv("LATHE_OFFLINE") != "", Scripts: o.Getenv("LATHE_PLUGIN_SCRIPTS") == "1",
		Credential: func(provider string) any { return credential(o.Auth, provider) },
	}, err
}

// pluginEnv is the environment of the plugins' process: the person's, without lathe's
// own variables and without the keys of providers, unless keep_env names them.
func pluginEnv(conf *config.Config, o Options) ([]string, error) {
	models, err := provider.New(provider.Options{Config: conf, Auth: o.Auth, Catalog: o.Catalog, Getenv: o.Getenv, Now: o.Now})
	if err != nil {
		return nil, fmt.Errorf("providers: %w", err)
	}
	hidden := slices.DeleteFunc(append(models.KeyVariables(), conf.SecretVariables(o.Getenv)...), func(name string) bool {
		return shell.Named(name, conf.KeepEnv)
	})
	return shell.Env(o.Environ, map[string]string{"LATHE": "1", "OPENCODE": "1"}, append(hidden, o.Secrets...)...), nil
}

// PluginProblems says for people which plugins and hooks did not work.
func (i *Instance) PluginProblems() []string { return i.troubles.said() }

// Door is how plugins reach the engine of their own process.
type Door func() http.RoundTripper

// withPlugins adds the plugins' tools to the built-in ones. A tool with the name of a
// built-in tool replaces it.
func (i *Instance) withPlugins(tools []tool.Tool) []tool.Tool {
	if i.Plugins == nil {
		return tools
	}
	i.Tools.Now = i.Plugins.Tools
	for _, t := range i.Plugins.Tools() {
		tools = withTool(tools, t)
		i.Tools.known = append(i.Tools.known, t.Spec().Name)
	}
	return tools
}

// InstallPlugin installs a package for a directory, with fresh in the newest version that
// its spec allows. A file has to be there.
func InstallPlugin(ctx context.Context, i *Instance, spec string, fresh bool) error {
	o, err := i.install()
	if err != nil {
		return err
	}
	return host.NewPackages(o).Have(ctx, spec, fresh)
}

// watchInto returns what writes down the calls of plugins, a JSON object a line.
func watchInto(path string, report func(plugin string, err error)) func(host.Watched) {
	var mu sync.Mutex
	return func(w host.Watched) {
		text, err := json.Marshal(w)
		if err != nil { // texts and numbers always encode
			panic(err)
		}
		mu.Lock()
		defer mu.Unlock()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.Write(append(text, '\n'))
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			report("plugins", fmt.Errorf("their calls are not written down: %w", err))
		}
	}
}
