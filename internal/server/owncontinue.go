package server

import (
	"context"
	"net/http"

	"lathe"
)

// continuing goes on with turns that another server left when it stopped.
type continuing struct{ *call }

func continueRoutes() []route {
	return []route{{http.MethodPost, "/lathe/session/{sessionID}/continue", on(continuing.turn), ""}}
}

func (c continuing) turn() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	var in struct{ MessageID lathe.MessageID }
	if err := c.need(&in); err != nil {
		return nil, err
	}
	if err := missing("messageID", string(in.MessageID)); err != nil {
		return nil, err
	}
	return noContent{}, c.s.opts.Service.Turns.Continue(context.WithoutCancel(c.ctx()), sess.ID, in.MessageID)
}
