package server

import (
	"context"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/plugin/host"
)

// providerAuth lists the ways to log in that plugins bring, by provider.
func (c equipment) providerAuth() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	out := map[string][]host.Method{}
	if inst.Plugins != nil {
		for id, l := range inst.Plugins.Logins().All() {
			out[id] = l.Methods
		}
	}
	return out, nil
}

// loginsOf returns the plugins of the directory if one of them logs in to the provider.
func (c equipment) loginsOf(id string) (*instance.Plugins, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	if inst.Plugins == nil || len(inst.Plugins.Logins().All()[id].Methods) == 0 {
		return nil, &unsupported{"logging in to a provider without a plugin for it; store a key with PUT /auth/{providerID}"}
	}
	return inst.Plugins, nil
}

// authorize begins a login. A method that needs no browser is done with it.
func (c equipment) authorize() (any, error) {
	id := c.r.PathValue("providerID")
	plugins, err := c.loginsOf(id)
	if err != nil {
		return nil, err
	}
	var in struct {
		Method int
		Inputs map[string]string
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	begun, err := plugins.Logins().Authorize(c.ctx(), id, in.Method, in.Inputs)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeAuth, "try again, or another method", "the login to %s cannot be begun: %v", id, err)
	}
	if begun.Result != nil {
		return struct{}{}, instance.KeepLogin(context.WithoutCancel(c.ctx()), c.s.opts.Auth, id, *begun.Result)
	}
	begun.Result = nil
	return begun, nil
}

// loggedIn ends a login, and stores what it left.
func (c equipment) loggedIn() (any, error) {
	id := c.r.PathValue("providerID")
	plugins, err := c.loginsOf(id)
	if err != nil {
		return nil, err
	}
	var in struct {
		Method int
		Code   string
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	left, err := plugins.Logins().Callback(c.ctx(), id, in.Code)
	if err != nil {
		return nil, lathe.Errorf(lathe.CodeAuth, "try again, or another method", "the login to %s did not work: %v", id, err)
	}
	return true, instance.KeepLogin(context.WithoutCancel(c.ctx()), c.s.opts.Auth, id, left)
}
