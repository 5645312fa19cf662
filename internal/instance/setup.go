package instance

import (
	"errors"

	"lathe"
	"lathe/internal/api"
)

// Setup says how lathe is set up for the directory, and what this build cannot
// run.
func (i *Instance) Setup() api.Setup {
	conf := i.Config
	out := api.Setup{
		Version: lathe.Version, MCP: []api.Configured{}, LSP: []api.Configured{}, Formatters: []api.Configured{},
		Skills: []api.Skill{}, Plugins: []string{}, Files: []string{}, Warnings: []string{}, Share: shareWords(conf.Share),
	}
	out.MCP = i.programs.describe(i.MCP.List())
	out.LSP, out.Formatters = i.Languages.Configured(i.Root.Dir)
	skills, _ := i.Skills.All()
	for _, s := range skills {
		out.Skills = append(out.Skills, api.Skill{Name: s.Name, Description: s.Description, Path: s.File})
	}
	for _, p := range conf.Plugins {
		out.Plugins = append(out.Plugins, p.Spec)
	}
	for _, s := range conf.Sources {
		out.Files = append(out.Files, s.Name)
	}
	out.Warnings = append(append(out.Warnings, i.Complaints()...), i.Unused()...)
	out.Sandbox = i.Confinement.Words()
	out.Snapshots = "on"
	if _, err := i.Snapshots(); err != nil {
		out.Snapshots = "off: " + err.Error()
	}
	return out
}

// Complaints say what is wrong with the directory's configuration and skills, and what
// has no effect while the repository is not trusted.
func (i *Instance) Complaints() (out []string) {
	for _, w := range i.Config.Warnings {
		out = append(out, w.String())
	}
	_, problems := i.Skills.All()
	for _, p := range problems {
		if !errors.Is(p, ErrShadowed) { // two of one name are common
			out = append(out, p.Error())
		}
	}
	if n := i.Notice(); n != "" {
		out = append(out, n)
	}
	return out
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
