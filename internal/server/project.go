package server

import (
	"context"
	"strings"

	"lathe"
	"lathe/internal/opencode/wire"
)

// projects answers what is about projects, their repositories and worktrees.
type projects struct{ *call }

func (c projects) projectList() (any, error) {
	if _, _, err := c.instance(); err != nil { // opening it makes it known
		return nil, err
	}
	all, err := c.s.opts.Service.Projects.List(c.ctx())
	return wire.EncodeProjects(all), err
}

func (c projects) projectCurrent() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	p, err := c.s.opts.Service.Projects.Current(context.WithoutCancel(c.ctx()), dir)
	return wire.EncodeProject(p), err
}

// projectUpdate changes the name, icon and start command of a project. The command
// is for the checkout that the request is about.
func (c projects) projectUpdate() (any, error) {
	var in wire.ProjectRequest
	if err := c.need(&in); err != nil {
		return nil, err
	}
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	id := c.r.PathValue("projectID")
	p, err := c.s.opts.Service.Projects.Update(context.WithoutCancel(c.ctx()), id, func(p *lathe.Project) error {
		if field, err := in.Apply(p); err != nil {
			return &invalid{path: strings.Split(field, "."), msg: err.Error()}
		}
		if in.Commands.Start != nil {
			p.StartIn = p.Worktree
			if id == inst.Project.ID {
				p.StartIn = inst.Root.Worktree
			}
		}
		return nil
	})
	return wire.EncodeProject(p), err
}

func (c projects) projectInitGit() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	p, err := c.s.opts.Service.Projects.InitGit(c.ctx(), dir)
	return wire.EncodeProject(p), err
}

// projectDirectories lists where the files of a project are.
func (c projects) projectDirectories() (any, error) {
	p, err := c.s.opts.Service.Projects.Get(c.ctx(), c.r.PathValue("projectID"))
	if err == nil && c.restricted() {
		err = c.mayUse(p.Worktree)
	}
	if err != nil {
		return nil, err
	}
	out := []directory18{{p.Worktree}}
	for _, dir := range p.Sandboxes {
		out = append(out, directory18{dir})
	}
	return out, nil
}

type directory18 struct {
	Directory string `json:"directory"`
}
