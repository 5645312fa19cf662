package instance

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/store/local"
	"lathe/internal/tool"
)

// Confinement says what the processes of a directory may do. Nothing of it is made
// before the first process.
type Confinement struct {
	i        *Instance
	own      ownWords
	machine  sandbox.Machine
	box      *sandbox.Box
	apart    *sandbox.Box // of commands that have a network of their own
	helpers  *sandbox.Box // of language servers, formatters and hooks that have one
	servers  serverBoxes  // of MCP servers that have one
	limits   sandbox.Limits
	fixed    func() sandbox.Policy // what does not change
	startUp  func() []string       // [sandbox.Machine.StartUp]
	appeared tmpSockets
	caches   func() []string // of language servers
}

// ownWords are what the person's configuration says of confinement, as it was before
// plugins could change it.
type ownWords struct {
	mode    string // "sandbox"
	plugins string // "plugin_sandbox"
}

// confinement makes that of an instance, which need not be complete yet.
func (i *Instance) confinement(o Options) *Confinement {
	c := &Confinement{i: i, own: ownWords{i.Config.Sandbox, i.Config.PluginSandbox}, machine: sandbox.Machine{Home: i.Paths.Home, Getenv: o.Getenv}}
	opts := o.Sandbox
	limits := i.Config.Limits
	c.limits = sandbox.Limits{Processes: limits.Processes, Memory: uint64(limits.Memory) << 20, Files: uint64(limits.Files)}
	opts.Limits = c.limits
	if o.Runner != nil {
		opts.Leader = o.Runner.Hold
	}
	c.box = sandbox.NewBox(opts)
	opts.Network = sandbox.OwnNetwork
	c.apart, c.helpers = sandbox.NewBox(opts), sandbox.NewBox(opts)
	c.servers.opts = opts
	c.startUp = sync.OnceValue(c.machine.StartUp)
	c.fixed, c.caches = sync.OnceValue(c.makeFixed), sync.OnceValue(c.serverCaches)
	return c
}

// Off reports whether the person switched confinement off.
func (c *Confinement) Off() bool { return c.own.mode == "off" }

// Level is how far commands are confined.
func (c *Confinement) Level() sandbox.Level {
	if c.Off() {
		return sandbox.RulesOnly
	}
	return c.box.Level()
}

// Processes is how many processes commands may have together.
func (c *Confinement) Processes() int { return c.limits.Most() }

// Words says the same for people, with the reason where it could be more.
func (c *Confinement) Words() string {
	switch level := c.Level(); {
	case c.Off():
		return "off: commands are not confined (\"sandbox\" in your configuration)"
	case level == sandbox.Full:
		return level.String() + ": " + level.Words() + ", " + c.networkWords()
	default:
		return level.String() + ": " + level.Words() + "; not more: " + sandbox.Missing()
	}
}

func (c *Confinement) networkWords() string {
	if c.OwnNetwork() {
		return "and they have a network of their own"
	}
	return "on the machine's network"
}

// Caches lists the directories of tools that commands may write.
func (c *Confinement) Caches() []sandbox.Cache { return c.machine.Caches(false) }

// confine is the [shell.Confine] of the directory.
func (c *Confinement) confine(kind shell.Kind) (*sandbox.Box, sandbox.Policy) {
	return c.by(bounds{c: c, policy: c.persons()}, kind)
}

// of is how the commands of a call are confined, by the rules of its agent; with edits as
// if what they ask about had been allowed.
func (c *Confinement) of(rules tool.Rules, edits bool) shell.Confine {
	policy, ok := rules.(permission.Policy)
	if !ok {
		return c.confine
	}
	return func(kind shell.Kind) (*sandbox.Box, sandbox.Policy) {
		return c.by(bounds{c: c, policy: policy, edits: edits, call: true}, kind)
	}
}

func (c *Confinement) by(b bounds, kind shell.Kind) (*sandbox.Box, sandbox.Policy) {
	if c.Off() || kind == shell.KindTerminal || kind == shell.KindFreeMCP || kind == shell.KindFreeHelper {
		return nil, sandbox.Policy{}
	}
	p := c.fixed()
	p.Hide = slices.Concat(p.Hide, c.appeared.list())
	p.Required = c.own.mode == "required"
	b.bound(&p)
	switch kind {
	case shell.KindLSP:
		c.forServer(&p)
	case shell.KindFormatter:
		c.showLanguages(&p)
	case shell.KindMCP, shell.KindGuardedMCP:
		p.Lasting = true
	}
	return c.boxOf(kind), p
}

// worktree is what belongs to the project: its checkout, and git's directories.
func (c *Confinement) worktree() []string {
	root := c.i.Root
	dirs := []string{root.Dir}
	if root.VCS != "" && root.TopLevel != "/" {
		dirs = append(dirs, root.TopLevel, root.GitDir, root.CommonDir)
	}
	return dirs
}

// base is what holds for all processes of the project.
func (c *Confinement) base() sandbox.Policy {
	i, paths := c.i, c.i.Paths
	p := sandbox.Policy{
		Write: c.worktree(), Checkouts: realDirs(c.worktree()),
		Hide: slices.Concat(c.machine.Hidden(), c.named(),
			[]string{paths.Data, paths.Config, paths.State, paths.OpenCodeConfig, paths.OpenCodeData}, c.sockets()),
		Show:  c.worktree(),
		Aside: filepath.Join(i.Shell.Scratch, "not-allowed"),
	}
	p.Hide = slices.DeleteFunc(p.Hide, func(path string) bool { return path == "" })
	for _, dir := range []string{paths.Config, paths.OpenCodeConfig} {
		for _, name := range programs {
			if dir != "" {
				p.Show = append(p.Show, filepath.Join(dir, name))
			}
		}
	}
	return p
}

// realDirs resolves links in directories.
func realDirs(dirs []string) (out []string) {
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			out = append(out, real)
		}
	}
	return out
}

// makeFixed makes the part of the policy that does not change.
func (c *Confinement) makeFixed() sandbox.Policy {
	p := c.base()
	p.Show = append(p.Show, skillDirs(c.i.Skills.Started())...)
	if data := c.i.Paths.Data; data != "" {
		p.Show = append(p.Show, filepath.Join(data, local.OutputsDir), filepath.Join(data, "plans"))
	}
	p.Write = slices.Concat(p.Write, []string{c.i.Shell.Scratch}, temporary())
	for _, cache := range c.machine.Caches(true) {
		p.Write = append(p.Write, cache.Path)
	}
	return p
}

// programs are the parts of a configuration directory that hold programs, and what they
// load, but no keys.
var programs = []string{"hooks", "plugin", "plugins", "tool", "tools", "skill", "skills", "node_modules", "package.json", "bun.lock", "package-lock.json"}

// named lists the credentials that the person's environment names, but for the project's
// own files, which rules are for, and directories that hold the project or the home directory.
func (c *Confinement) named() []string {
	dirs, read := append(c.worktree(), c.machine.Home), c.startUp() // which is read, though never written
	return slices.DeleteFunc(c.machine.Named(), func(path string) bool {
		return slices.Contains(read, path) || slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && within(path, dir) }) ||
			slices.ContainsFunc(c.worktree(), func(dir string) bool { return within(dir, path) })
	})
}

// sockets lists the sockets of programs that carry out requests, where the person's
// environment says that they are.
func (c *Confinement) sockets() (list []string) {
	if sock := c.machine.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(sock) {
		list = append(list, sock)
	}
	for _, name := range []string{"DOCKER_HOST", "CONTAINER_HOST"} {
		if sock, ok := strings.CutPrefix(c.machine.Getenv(name), "unix://"); ok && filepath.IsAbs(sock) {
			list = append(list, sock)
		}
	}
	if dir := c.machine.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && dir != os.TempDir() && dir != "/tmp" {
		list = append(list, dir)
	}
	if pane, _, ok := strings.Cut(c.machine.Getenv("TMUX"), ","); ok && filepath.IsAbs(pane) {
		list = append(list, pane)
	}
	list = append(list, desktop(c.machine.Getenv)...)
	return list
}

// persons returns the rules of the agent that the person works with.
func (c *Confinement) persons() permission.Policy {
	agents := c.i.Agents
	if agents == nil { // plugins, which may change agents, start before there are any
		agents = newAgents(c.i.Config, permission.Paths{})
	}
	return agents.Persons().Policy()
}

// own reports whether a directory holds lathe's own files, or lies among them.
func (c *Confinement) owns(dir string) bool {
	paths := c.i.Paths
	return slices.ContainsFunc([]string{paths.Data, paths.Config, paths.State, paths.OpenCodeConfig, paths.OpenCodeData}, func(own string) bool {
		return own != "" && (within(dir, own) || within(own, dir))
	})
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// Close gives back what the sandbox holds.
func (c *Confinement) Close() error {
	return errors.Join(c.box.Close(), c.apart.Close(), c.helpers.Close(), c.servers.Close())
}

// boxOf returns where processes of a kind run.
func (c *Confinement) boxOf(kind shell.Kind) *sandbox.Box {
	if !c.OwnNetwork() {
		return c.box
	}
	switch kind {
	case shell.KindGuarded:
		return c.apart
	case shell.KindLSP, shell.KindFormatter, shell.KindGuardedHook:
		return c.helpers
	}
	return c.box
}

// OwnNetwork reports whether commands have a network of their own, whose only way out is
// lathe's proxy.
func (c *Confinement) OwnNetwork() bool {
	switch c.own.mode {
	case "off", "machine-network":
		return false
	case "required":
		return c.apart.Level() == sandbox.Full
	}
	return c.apart.HasNetwork()
}

// Listen returns a listener that commands reach in the network of their own, where they
// have one; else nil.
func (c *Confinement) Listen() (net.Listener, error) {
	if !c.OwnNetwork() {
		return nil, nil
	}
	return c.apart.Listen()
}
