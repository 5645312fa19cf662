package instance

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/builtin"
	"lathe/internal/lsp"
	"lathe/internal/sandbox"
	"lathe/internal/workspace"
	"lathe/internal/worktree"
)

// forServer makes a policy that of a language server. The person, git and commands change
// the project while it lives, so nothing is undone when it ends. In return git's
// directories are closed to it: it has no business there.
func (c *Confinement) forServer(p *sandbox.Policy) {
	c.showLanguages(p)
	p.Lasting = true
	p.Write = slices.Concat(p.Write, c.caches())
	root := c.i.Root
	if root.VCS == "" {
		return
	}
	git := []string{root.GitDir, root.CommonDir}
	p.Show = append(p.Show, c.made()...)
	var others []workspace.Root
	if slices.Contains(p.Write, root.TopLevel) { // edits are allowed
		others = c.checkouts()
	}
	p.Write = slices.DeleteFunc(p.Write, func(dir string) bool { return slices.Contains(git, dir) })
	for _, other := range others {
		p.Write, p.Show = append(p.Write, other.TopLevel), append(p.Show, other.TopLevel)
		git = append(git, filepath.Join(other.TopLevel, ".git"))
	}
	protected, home := p.Protect, c.i.Paths.Home
	p.Protect = func() []string {
		list := append(protected(), git...)
		for _, other := range others {
			list = append(list, builtin.Protected(other, home, []string{other.TopLevel})...)
		}
		return list
	}
}

// showLanguages makes the programs readable that "lathe lsp install" installed, which lie
// among lathe's own files.
func (c *Confinement) showLanguages(p *sandbox.Policy) {
	if c.i.Paths.Data != "" {
		p.Show = slices.Concat(p.Show, []string{LanguageDir(c.i.Paths)})
	}
}

// serverCaches lists the caches of programs that are found where language servers are
// looked for, on PATH or not.
func (c *Confinement) serverCaches() (list []string) {
	var env []string
	for _, name := range []string{"PATH", "GOBIN", "GOPATH", "CARGO_HOME"} {
		env = append(env, name+"="+c.machine.Getenv(name))
	}
	path := strings.Join(lsp.ProgramDirs(c.i.LanguagePlace(env)), string(filepath.ListSeparator))
	machine := sandbox.Machine{Home: c.machine.Home, Getenv: func(name string) string {
		if name == "PATH" {
			return path
		}
		return c.machine.Getenv(name)
	}}
	for _, cache := range machine.Caches(true) {
		list = append(list, cache.Path)
	}
	return list
}

// made is where lathe makes the worktrees of its sessions and tasks, if it has made any.
func (c *Confinement) made() []string {
	dir, err := workspace.Resolve(filepath.Join(c.i.Paths.Data, "worktree"))
	if _, missing := os.Stat(dir); err != nil || missing != nil {
		return nil
	}
	return []string{dir}
}

// checkouts lists the other checkouts of the repository.
func (c *Confinement) checkouts() (list []workspace.Root) {
	ctx, root := context.Background(), c.i.Root
	for _, dir := range slices.Concat([]string{root.Worktree}, worktree.Linked(ctx, root)) {
		if dir == root.TopLevel || dir == "/" {
			continue
		}
		if other, err := workspace.Find(ctx, dir); err == nil && other.CommonDir == root.CommonDir {
			list = append(list, other)
		}
	}
	return list
}

// reach is what a language server that is started now could read and write.
func (c *Confinement) reach() *lsp.Reach {
	if c.Level() == sandbox.RulesOnly {
		return nil
	}
	r := &lsp.Reach{Write: []string{c.top()}, Read: c.made()}
	if c.i.Root.VCS == "" {
		return r
	}
	for _, other := range c.checkouts() {
		r.Write = append(r.Write, other.TopLevel)
	}
	return r
}
