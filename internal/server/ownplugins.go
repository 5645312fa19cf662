package server

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/config"
	"lathe/internal/instance"
	"lathe/internal/plugin/hookcmd"
	"lathe/internal/plugin/host"
	"lathe/internal/stats"
)

// hookDays is how long back the cost of hooks is told where they are listed.
const hookDays = 30

// plugs answers what lathe's own faces ask about plugins.
type plugs struct{ *call }

func pluginRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/plugin", on(plugs.list), ""},
		{http.MethodPost, "/lathe/plugin", on(plugs.change), ""},
		{http.MethodGet, "/lathe/plugin/hooks", on(plugs.foreign), ""},
		{http.MethodPost, "/lathe/plugin/hooks/decision", on(plugs.decide), ""},
	}
}

func (c plugs) list() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := api.Plugins{Plugins: []api.Plugin{}, Accounts: []api.PluginAccount{}, Problems: inst.PluginProblems()}
	if inst.Plugins != nil {
		out.Runtime, out.Sandbox = inst.Plugins.Runtime(), inst.Plugins.Bounds
		for _, p := range inst.Plugins.Plugins() {
			out.Plugins = append(out.Plugins, listedPlugin(p))
		}
	}
	for _, s := range inst.PluginSources() {
		if s.Off {
			out.Plugins = append(out.Plugins, api.Plugin{Name: s.Name, Kind: s.Kind, Spec: s.Spec, File: s.File, From: s.From, Repository: s.Repository, Off: true})
		}
	}
	for _, h := range inst.Config.Hooks {
		one := api.Plugin{Name: hookcmd.Name(h), Kind: "hook", Spec: h.Command[0], From: h.Pos.File, Hooks: []string{h.Name},
			Repository: inst.Config.TrustOf(h.Pos) == config.Repository}
		if err := hookcmd.Check(h); err != nil {
			one.Error = err.Error()
		}
		out.Plugins = append(out.Plugins, one)
	}
	inst.Hooks.HandOver()
	accounts, err := instance.HookRecords(inst.Paths).Sum(c.s.opts.Now().AddDate(0, 0, -hookDays), inst.Root.Dir)
	for _, a := range accounts {
		out.Accounts = append(out.Accounts, stats.HookAccount(a))
	}
	return out, err
}

func listedPlugin(p host.Plugin) api.Plugin {
	out := api.Plugin{Name: p.Name, Kind: p.Kind, Spec: p.Spec, File: p.File, From: p.From, Repository: p.Repository, Hooks: p.Hooks, Late: p.Late, Error: p.Error}
	if p.Config {
		out.Hooks = append([]string{"config"}, out.Hooks...)
	}
	for _, t := range p.Tools {
		out.Tools = append(out.Tools, t.ID)
	}
	for _, l := range p.Auth {
		out.Logins = append(out.Logins, l.Provider)
	}
	return out
}

// change changes the configuration, and installs what it names. What runs goes on as it
// is; the next start has the change.
func (c plugs) change() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	var in api.PluginChange
	if err := c.need(&in); err != nil {
		return nil, err
	}
	change := config.PluginChange{Spec: in.Spec, Remove: in.Do == "remove"}
	if in.Project {
		change.Dir = inst.Root.Dir
	}
	switch in.Do {
	case "add":
		if err := instance.InstallPlugin(c.ctx(), inst, in.Spec, false); err != nil {
			return nil, lathe.Errorf(lathe.CodeInvalid, "check its name and your connection; nothing was changed", "%s cannot be had: %v", in.Spec, err)
		}
		file, err := config.ChangePlugins(c.ctx(), c.s.opts.Paths, change)
		return api.PluginChanged{File: file}, err
	case "remove":
		file, err := config.ChangePlugins(c.ctx(), c.s.opts.Paths, change)
		return api.PluginChanged{File: file}, err
	case "on", "off":
		return api.PluginChanged{}, repositories(c).change(inst.Root.Dir, func(context.Context) error { return inst.SwitchPlugin(in.Spec, in.Do == "on") })
	case "update":
		return c.update(inst, in.Spec)
	}
	return nil, &invalid{where: "Payload", path: []string{"do"}, msg: "expected add, remove, update, on or off"}
}

func (c plugs) update(inst *instance.Instance, spec string) (any, error) {
	out := api.PluginChanged{}
	for _, s := range host.Sources(inst.Config) {
		if !s.Package() || spec != "" && s.Spec != spec && s.Name != spec {
			continue
		}
		if err := instance.InstallPlugin(c.ctx(), inst, s.Spec, true); err != nil {
			return nil, lathe.Errorf(lathe.CodeInvalid, "check your connection; what was installed stays", "%s cannot be updated: %v", s.Spec, err)
		}
		out.Updated = append(out.Updated, s.Spec)
	}
	if spec != "" && out.Updated == nil {
		return nil, lathe.Errorf(lathe.CodeNotFound, "list them with: lathe plugin list", "there is no package %q among the plugins", spec)
	}
	return out, nil
}
