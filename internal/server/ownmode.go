package server

import (
	"context"
	"net/http"

	"lathe/internal/api"
)

// modes answers how much a session asks before something is done, and changes it.
type modes struct{ *call }

func modeRoutes() []route {
	const path = "/lathe/session/{sessionID}/approval-mode"
	return []route{
		{http.MethodGet, path, on(modes.get), ""},
		{http.MethodPost, path, on(modes.set), ""},
	}
}

func (c modes) get() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	mode, err := c.s.opts.Service.Modes.Of(c.ctx(), sess.ID)
	return api.ApprovalMode{Mode: mode}, err
}

func (c modes) set() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.ApprovalMode
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return in, c.s.opts.Service.Modes.Set(context.WithoutCancel(c.ctx()), sess.ID, in.Mode)
}
