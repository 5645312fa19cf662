package server

import (
	"context"
	"net/http"

	"lathe"
	"lathe/internal/api"
)

// approvalRoutes tell what a person allowed from then on, and take it back.
func approvalRoutes() []route {
	return []route{
		{http.MethodGet, "/lathe/approval", on(faces.approvals), ""},
		{http.MethodPost, "/lathe/approval/revoke", on(faces.revoke), ""},
	}
}

func (c faces) approvals() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	list, err := inst.Grants.List(c.ctx())
	if err != nil {
		return nil, err
	}
	out := []api.Approval{}
	for _, g := range list {
		a := api.Approval{Permission: g.Rule.Permission, Pattern: g.Rule.Pattern, Stored: g.Stored, By: g.By}
		if !g.Until.IsZero() {
			a.Until = g.Until.UnixMilli()
		}
		out = append(out, a)
	}
	return out, nil
}

func (c faces) revoke() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	var in api.Approval
	if err := c.need(&in); err != nil {
		return nil, err
	}
	return true, inst.Grants.Revoke(context.WithoutCancel(c.ctx()), lathe.Rule{Permission: in.Permission, Pattern: in.Pattern, Action: lathe.Allow})
}
