package instance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe"
	"lathe/internal/api"
)

// Setup tells how lathe is set up for the directory. What this build cannot run, it
// says so.
func (i *Instance) Setup(ctx context.Context) api.Setup {
	conf := i.Config
	out := api.Setup{
		Version: lathe.Version, MCP: []api.Configured{}, LSP: []api.Configured{}, Formatters: []api.Configured{},
		Skills: []api.Skill{}, Plugins: []string{}, Files: []string{}, Warnings: []string{}, Share: shareWords(conf.Share),
	}
	const none = "configured; this build runs none"
	for _, m := range conf.MCP {
		state := none
		if m.Enabled != nil && !*m.Enabled {
			state = "switched off"
		}
		out.MCP = append(out.MCP, api.Configured{Name: m.Name, Kind: m.Type, State: state})
	}
	for _, e := range conf.LSP.Entries {
		out.LSP = append(out.LSP, api.Configured{Name: e.Name, Kind: strings.Join(e.Extensions, " "), State: offOr(e.Disabled, none)})
	}
	for _, e := range conf.Formatter.Entries {
		out.Formatters = append(out.Formatters, api.Configured{Name: e.Name, Kind: strings.Join(e.Extensions, " "), State: offOr(e.Disabled, none)})
	}
	skills, problems := i.Skills.All()
	for _, s := range skills {
		out.Skills = append(out.Skills, api.Skill{Name: s.Name, Description: s.Description, Path: s.File})
	}
	for _, p := range conf.Plugins {
		out.Plugins = append(out.Plugins, p.Spec)
	}
	for _, s := range conf.Sources {
		out.Files = append(out.Files, s.Name)
	}
	for _, w := range conf.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	for _, p := range problems {
		if !errors.Is(p, ErrShadowed) {
			out.Warnings = append(out.Warnings, p.Error())
		}
	}
	if n := i.Notice(); n != "" {
		out.Warnings = append(out.Warnings, n)
	}
	out.Warnings = append(out.Warnings, i.Unused()...)
	out.Snapshots = "on"
	if _, err := i.Snapshots(); err != nil {
		out.Snapshots = "off: " + err.Error()
	}
	out.Checks = i.checks(ctx, out)
	return out
}

func offOr(off bool, state string) string {
	if off {
		return "switched off"
	}
	return state
}

func shareWords(mode string) string {
	switch mode {
	case "auto":
		return "every session, as the configuration says"
	case "disabled":
		return "switched off"
	}
	return "when asked for"
}

// checks look at what the work depends on.
func (i *Instance) checks(ctx context.Context, s api.Setup) []api.Check {
	var out []api.Check
	add := func(name string, ok bool, detail string) {
		out = append(out, api.Check{Name: name, OK: ok, Detail: detail})
	}
	ref, why, err := i.Models.Default(ctx)
	switch {
	case err != nil:
		add("model", false, err.Error())
	case ref.Provider == "offline":
		add("model", false, "none is connected, so the offline guide answers; /connect connects one")
	default:
		add("model", true, ref.String()+": "+why)
	}
	if i.Root.VCS == "" {
		add("repository", true, "not a git repository; undo works all the same")
	} else {
		add("repository", true, "git, at "+i.Root.Worktree)
	}
	add("undo", s.Snapshots == "on", "snapshots are "+s.Snapshots)
	unused := i.Unused()
	complaints := len(s.Warnings) - len(unused)
	add("configuration", complaints == 0, fmt.Sprintf("%d files, %d complaints", len(s.Files), complaints))
	for _, line := range unused {
		add("not used", false, line)
	}
	return out
}
