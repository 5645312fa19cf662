package instance

import (
	"os"
	"runtime"
	"slices"

	"lathe/internal/plugin/host"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
)

// pluginBounds says how the process of the plugins, and the installation of their
// packages, are confined. Both may run before the instance has agents.
type pluginBounds struct {
	c *Confinement
	// host says that the process of the plugins is confined. It was decided when the
	// plugins were listed, so that switching one off does not free the others.
	host bool
}

// plugins decides for a list of plugins. By default their process is confined if a
// repository brought one of them: published plugins of the person's own read credentials
// of other programs, and change their own files anywhere in the home directory.
func (c *Confinement) plugins(sources []host.Source) pluginBounds {
	switch c.own.plugins {
	case "on":
		return pluginBounds{c, true}
	case "off":
		return pluginBounds{c, false}
	}
	return pluginBounds{c, slices.ContainsFunc(sources, func(s host.Source) bool { return s.Repository && !s.Off })}
}

// words tell people of it.
func (b pluginBounds) words() string {
	switch {
	case b.c.Level() == sandbox.RulesOnly:
		return "not confined"
	case b.host:
		return "confined in files, on the machine's network"
	}
	return "not confined: all are your own (\"plugin_sandbox\": \"on\" confines them)"
}

// confine is the [shell.Confine] of plugins.
func (b pluginBounds) confine(kind shell.Kind) (*sandbox.Box, sandbox.Policy) {
	switch {
	case b.c.Off() || kind == shell.KindPlugin && !b.host:
		return nil, sandbox.Policy{}
	case kind == shell.KindInstall:
		return b.c.box, b.install()
	}
	return b.c.box, b.process()
}

// process is the policy of the plugins' process. It lives as long as the instance, like a
// language server, and acts for all agents.
func (b pluginBounds) process() sandbox.Policy {
	p := b.c.base()
	p.Lasting, p.Required = true, b.c.own.mode == "required"
	p.Write = append(p.Write, temporary()...)
	for _, cache := range b.c.machine.Caches(true) {
		p.Write = append(p.Write, cache.Path)
	}
	bounds{c: b.c, policy: b.c.persons()}.bound(&p)
	return p
}

// installers are the programs whose caches an installation may write.
var installers = []string{"npm", "node", "bun", "corepack"}

// install is the policy of an installation, which in addition writes the directory that
// it fills.
func (b pluginBounds) install() sandbox.Policy {
	p := b.c.base()
	p.Lasting, p.Required = true, b.c.own.mode == "required"
	p.Write = temporary()
	for _, cache := range b.c.machine.Caches(true) {
		if slices.Contains(installers, cache.Program) {
			p.Write = append(p.Write, cache.Path)
		}
	}
	p.Protect = func() []string { // a project below a temporary directory
		return slices.DeleteFunc(b.c.worktree(), func(dir string) bool {
			return slices.ContainsFunc(p.Write, func(path string) bool { return within(dir, path) })
		})
	}
	return p
}

// temporary lists the machine's directories for temporary files.
func temporary() []string {
	dirs := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		dirs = append(dirs, "/tmp", "/var/tmp")
	}
	return dirs
}
