package instance

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/permission"
	"lathe/internal/sandbox"
	"lathe/internal/shell"
	"lathe/internal/store/local"
)

// Confinement says what the processes of a directory may do. Nothing of it is made
// before the first process.
type Confinement struct {
	i       *Instance
	mode    string // as in the configuration
	machine sandbox.Machine
	box     *sandbox.Box
	apart   *sandbox.Box          // of processes that have a network of their own
	fixed   func() sandbox.Policy // what does not change
}

// confinement makes that of an instance.
func (i *Instance) confinement(o Options) *Confinement {
	c := &Confinement{i: i, mode: i.Config.Sandbox, machine: sandbox.Machine{Home: i.Paths.Home, Getenv: o.Getenv}}
	opts := o.Sandbox
	if o.Runner != nil {
		opts.Leader = o.Runner.Hold
	}
	c.box = sandbox.NewBox(opts)
	opts.Network = sandbox.OwnNetwork
	c.apart = sandbox.NewBox(opts)
	c.fixed = sync.OnceValue(c.makeFixed)
	return c
}

// Off reports whether the person switched confinement off.
func (c *Confinement) Off() bool { return c.mode == "off" }

// Level is how far commands are confined.
func (c *Confinement) Level() sandbox.Level {
	if c.Off() {
		return sandbox.RulesOnly
	}
	return c.box.Level()
}

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
	if c.Off() || kind == shell.KindTerminal {
		return nil, sandbox.Policy{}
	}
	p := c.fixed()
	p.Required = c.mode == "required"
	if c.deniesEdits() {
		p.Write = slices.DeleteFunc(slices.Clone(p.Write), func(path string) bool { return slices.Contains(c.worktree(), path) })
	}
	p.Hide = slices.Concat(p.Hide, c.deniedReads())
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

// makeFixed makes the part of the policy that does not change.
func (c *Confinement) makeFixed() sandbox.Policy {
	i, paths := c.i, c.i.Paths
	p := sandbox.Policy{
		Write: c.worktree(), Protect: c.protected,
		Hide:  slices.Concat(c.machine.Hidden(), []string{paths.Data, paths.Config, paths.State, paths.OpenCodeConfig, paths.OpenCodeData}, c.sockets()),
		Show:  slices.Concat(c.worktree(), skillDirs(i.Skills.Started())),
		Aside: filepath.Join(i.Shell.Scratch, "not-allowed"),
	}
	p.Hide = slices.DeleteFunc(p.Hide, func(path string) bool { return path == "" })
	if paths.Data != "" {
		p.Show = append(p.Show, filepath.Join(paths.Data, local.OutputsDir), filepath.Join(paths.Data, "plans"))
	}
	for _, dir := range []string{paths.Config, paths.OpenCodeConfig} {
		for _, name := range programs {
			if dir != "" {
				p.Show = append(p.Show, filepath.Join(dir, name))
			}
		}
	}
	p.Write = append(p.Write, i.Shell.Scratch, os.TempDir())
	if runtime.GOOS != "windows" {
		p.Write = append(p.Write, "/tmp", "/var/tmp")
	}
	for _, cache := range c.machine.Caches(true) {
		p.Write = append(p.Write, cache.Path)
	}
	p.Write = slices.Concat(p.Write, c.allowedOutside())
	return p
}

// programs are the parts of a configuration directory that hold programs, and what they
// load, but no keys.
var programs = []string{"hooks", "plugin", "plugins", "tool", "tools", "skill", "skills", "node_modules", "package.json", "bun.lock", "package-lock.json"}

// sockets lists those of programs that do what they are told.
func (c *Confinement) sockets() (list []string) {
	if sock := c.machine.Getenv("SSH_AUTH_SOCK"); filepath.IsAbs(sock) {
		list = append(list, sock)
	}
	if dir := c.machine.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && dir != os.TempDir() && dir != "/tmp" {
		list = append(list, dir)
	}
	if pane, _, ok := strings.Cut(c.machine.Getenv("TMUX"), ","); ok && filepath.IsAbs(pane) {
		list = append(list, pane)
	}
	d, err := os.Open("/tmp")
	if err != nil {
		return list
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		for _, prefix := range []string{"ssh-", "tmux-", "vscode-ipc-", "vscode-git-", "emacs", "dbus-", "keyring-", "screens"} {
			if strings.HasPrefix(name, prefix) {
				list = append(list, filepath.Join("/tmp", name))
			}
		}
	}
	return list
}

// protected lists what steers programs, and what the rules do not let be edited.
func (c *Confinement) protected() []string {
	i := c.i
	list := builtin.Protected(i.Root, i.Paths.Home, i.upward())
	list = append(list, c.machine.StartUp()...)
	return append(list, c.deniedEdits()...)
}

// persons returns the rules of the agent that the person works with.
func (c *Confinement) persons() permission.Policy { return c.i.Agents.Persons().Policy() }

// deniesEdits reports whether nothing at all may be edited.
func (c *Confinement) deniesEdits() bool {
	return c.persons().ActionUnder("edit", "") == lathe.Deny
}

// allowedOutside lists the directories outside the project that the rules let tools
// write unasked.
func (c *Confinement) allowedOutside() (dirs []string) {
	policy := c.persons()
	if policy.ActionUnder("external_directory", "/") == lathe.Allow && policy.ActionUnder("edit", "/") == lathe.Allow {
		return []string{"/"}
	}
	for _, r := range policy.Rules {
		dir, whole := strings.CutSuffix(r.Pattern, "*")
		if r.Permission != "external_directory" || r.Action != lathe.Allow || !whole || strings.ContainsAny(dir, "*?[") || !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		if policy.Action("external_directory", r.Pattern) == lathe.Allow && policy.ActionUnder("edit", dir) == lathe.Allow && !c.own(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// own reports whether a directory holds lathe's own files, or lies among them.
func (c *Confinement) own(dir string) bool {
	paths := c.i.Paths
	return slices.ContainsFunc([]string{paths.Data, paths.Config, paths.State, paths.OpenCodeConfig, paths.OpenCodeData}, func(own string) bool {
		return own != "" && (within(dir, own) || within(own, dir))
	})
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// maxJudged bounds how many files of the project are compared with rules for some files.
const maxJudged = 50_000

// deniedEdits lists the files that a rule for some files does not let be edited unasked.
func (c *Confinement) deniedEdits() []string {
	policy := c.persons()
	if !restricts(policy, "edit", lathe.Deny, lathe.AskMe) {
		return nil
	}
	return c.matching(func(rel string) bool { return policy.Action("edit", rel) != lathe.Allow })
}

// deniedReads lists the files that a rule for some files denies reading.
func (c *Confinement) deniedReads() []string {
	policy := c.persons()
	if !restricts(policy, "read", lathe.Deny) {
		return nil
	}
	return c.matching(func(rel string) bool { return policy.Action("read", rel) == lathe.Deny })
}

// restricts reports whether a rule for some files has one of the actions.
func restricts(policy permission.Policy, name string, actions ...lathe.Action) bool {
	return slices.ContainsFunc(slices.Concat(append([][]lathe.Rule{policy.Rules}, policy.Ceilings...)...), func(r lathe.Rule) bool {
		return r.Permission == name && !permission.Everything(r.Pattern) && slices.Contains(actions, r.Action)
	})
}

// matching lists the files of the project, by absolute path, for which a test of the
// path that rules see holds.
func (c *Confinement) matching(test func(rel string) bool) (list []string) {
	top, left := c.i.Root.Dir, maxJudged
	if c.i.Root.VCS != "" {
		top = c.i.Root.TopLevel
	}
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && test(c.i.Root.Name(path)):
			list = append(list, path)
		}
		return nil
	})
	return list
}

// Close gives back what the sandbox holds.
func (c *Confinement) Close() error { return errors.Join(c.box.Close(), c.apart.Close()) }

// boxOf returns where processes of a kind run.
func (c *Confinement) boxOf(kind shell.Kind) *sandbox.Box {
	if kind == shell.KindGuarded && c.OwnNetwork() {
		return c.apart
	}
	return c.box
}

// OwnNetwork reports whether commands have a network of their own, whose only way out is
// lathe's proxy.
func (c *Confinement) OwnNetwork() bool {
	switch c.mode {
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
