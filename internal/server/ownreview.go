package server

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
)

// reviews answers what a person asks who looks through a session's changes.
type reviews struct{ *call }

func reviewRoutes() []route {
	const path = "/lathe/session/{sessionID}/review"
	return []route{
		{http.MethodGet, path, on(reviews.list), ""},
		{http.MethodGet, path + "/between", on(reviews.between), ""},
		{http.MethodPost, path + "/take-back", on(reviews.takeBack), ""},
		{http.MethodPost, path + "/stage", on(reviews.stage), ""},
	}
}

func (c reviews) list() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Undo.Review(c.ctx(), sess.ID)
}

func (c reviews) between() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Undo.Between(c.ctx(), sess.ID, lathe.MessageID(c.query("from")), lathe.MessageID(c.query("to")))
}

func (c reviews) takeBack() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.TakeBack
	if err := c.need(&in); err != nil {
		return nil, err
	}
	out, err := c.s.opts.Service.Undo.TakeBack(context.WithoutCancel(c.ctx()), sess.ID, in)
	return encodeReverted(out).Reverted, err
}

func (c reviews) stage() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.Stage
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return c.s.opts.Service.Undo.Stage(c.ctx(), sess.ID, in)
}
