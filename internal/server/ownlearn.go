package server

import (
	"net/http"

	"lathe/internal/api"
)

// lessons answers what there is to learn from a project's sessions.
type lessons struct{ *call }

func lessonRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/learn", on(lessons.corrections), ""},
		{http.MethodPost, "/lathe/learn", on(lessons.propose), ""},
	}
}

func (c lessons) corrections() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Lessons.Corrections(c.ctx(), dir)
}

func (c lessons) propose() (any, error) {
	var in api.LessonRequest
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Lessons.Propose(c.ctx(), dir, in)
}
