package server

import (
	"net/http"

	"lathe/internal/server/gate"
)

func sharedRoutes() []route {
	return []route{{http.MethodPost, "/lathe/shared", on(lives.shared), ""}}
}

// shared answers a session that somebody shared by a link. It is not kept.
func (c lives) shared() (any, error) {
	var in struct {
		URL string `json:"url"`
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	data, err := c.s.opts.Service.Shares.Shared(c.ctx(), in.URL)
	if err != nil {
		return nil, err
	}
	_ = http.NewResponseController(c.w).SetWriteDeadline(gate.WriteUntil(len(data)))
	return data, nil
}
