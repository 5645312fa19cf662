package server

import (
	"context"
	"net/http"

	"lathe/internal/api"
)

// sessionNotes answers what a person noted about a session, and changes it.
type sessionNotes struct{ *call }

func noteRoutes() []route {
	const path = "/lathe/session/{sessionID}/notes"
	return []route{
		{http.MethodGet, path, on(sessionNotes.get), ""},
		{http.MethodPost, path, on(sessionNotes.change), ""},
		{http.MethodPost, "/lathe/session/{sessionID}/attend", on(sessionNotes.attend), ""},
	}
}

// attend makes what other processes do in a session known as events.
func (c sessionNotes) attend() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return true, c.s.opts.Service.Attend(c.ctx(), sess.ID)
}

func (c sessionNotes) get() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Notes.Of(c.ctx(), sess.ID)
}

func (c sessionNotes) change() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in api.NotesChange
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return c.s.opts.Service.Notes.Change(context.WithoutCancel(c.ctx()), sess.ID, in)
}
