package server

import (
	"net/http"
	"strconv"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/doctor"
)

// screenRoutes are what the screen asks for in addition to the other own routes.
func (s *Server) screenRoutes() []route {
	return append(append(approvalRoutes(), trustRoutes()...), []route{
		{http.MethodGet, "/lathe/setup", on(faces.setup), ""},
		{http.MethodGet, "/lathe/check", on(faces.checks), ""},
		{http.MethodGet, "/lathe/found", on(faces.found), ""},
		{http.MethodPost, "/lathe/provider/{providerID}/test", on(faces.keyTest), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/weight", on(faces.weight), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/budget", on(faces.budget), ""},
		{http.MethodGet, "/lathe/session/{sessionID}/replay", on(faces.replay), ""},
	}...)
}

// weight says what a session would send next, and what it has cost.
func (c faces) weight() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Windows.Of(c.ctx(), sess.ID)
}

// budget says what of a session's budget is used.
func (c faces) budget() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	return c.s.opts.Service.Windows.Budget(c.ctx(), sess.ID)
}

// replay returns a session's requests: what each adds to the one before, or with
// "step", all of that one.
func (c faces) replay() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	step := 0
	if said := c.query("step"); said != "" {
		if step, err = strconv.Atoi(said); err != nil || step < 1 {
			return nil, lathe.Errorf(lathe.CodeInvalid, "requests are numbered from 1", "%q is not the number of a request", said)
		}
	}
	return c.s.opts.Service.Windows.Replay(c.ctx(), sess.ID, step)
}

// setup says how lathe is set up for the directory.
func (c faces) setup() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return inst.Setup(), nil
}

// checks look at what lathe needs to work, in the directory and on this machine.
func (c faces) checks() (any, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	o := c.s.opts
	return doctor.Doctor{Service: o.Service, Store: o.Store, Auth: o.Auth, Data: o.Paths.Data}.Look(c.ctx(), dir), nil
}

// found says what could answer.
func (c faces) found() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	return models.Found(c.ctx())
}

// keyTest asks a model of a provider for one word and says what came back. A key in the body is
// tried without being stored.
func (c faces) keyTest() (any, error) {
	var in struct {
		Key string `json:"key"`
	}
	if err := c.decode(&in); err != nil {
		return nil, err
	}
	return c.tryKey(c.r.PathValue("providerID"), in.Key)
}

// tryKey tries a key, or the stored one if it is "".
func (c faces) tryKey(id, key string) (api.KeyTest, error) {
	inst, _, err := c.instance()
	if err != nil {
		return api.KeyTest{}, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return api.KeyTest{}, err
	}
	if key != "" {
		return models.TryKey(c.ctx(), id, key)
	}
	return models.TestKey(c.ctx(), id)
}
