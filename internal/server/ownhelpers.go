package server

import "net/http"

// helpers answers what lathe's own faces ask about subagents.
type helpers struct{ *call }

func helperRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/session/{sessionID}/tree", on(helpers.tree), ""},
	}
}

// tree answers a session with all subagents below it.
func (c helpers) tree() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Helpers.Tree(c.ctx(), sess.ID)
}
