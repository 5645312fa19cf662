package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"lathe"
	"lathe/internal/auth"
	"lathe/internal/config"
	"lathe/internal/opencode/wire"
	"lathe/internal/provider"
)

// equipment answers what a directory is equipped with: configuration, providers,
// agents, commands, skills and tools.
type equipment struct{ *call }

func (c equipment) configGet() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return configAnswer(inst.Config.JSON())
}

// configUpdate merges a patch into the directory's configuration and has the
// instance made again.
func (c equipment) configUpdate() (any, error) {
	inst, dir, err := c.instance()
	if err != nil {
		return nil, err
	}
	patch, err := c.patch()
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(c.ctx())
	if _, err := config.UpdateProject(ctx, c.s.opts.Paths, inst.Root.Dir, patch); err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "%v", err)
	}
	return json.RawMessage(patch), c.s.opts.Service.Dispose(ctx, dir)
}

// patch returns a body that is an object.
func (c equipment) patch() ([]byte, error) {
	data, err := c.bytes(bodyLimit)
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if data == nil || json.Unmarshal(data, &object) != nil || object == nil {
		return nil, badPayload("expected an object")
	}
	return data, nil
}

func (c equipment) globalConfigUpdate() (any, error) {
	patch, err := c.patch()
	if err != nil {
		return nil, err
	}
	ctx := context.WithoutCancel(c.ctx())
	if _, err := config.UpdateGlobal(ctx, c.s.opts.Paths, patch); err != nil {
		return nil, lathe.Errorf(lathe.CodeInvalid, "", "%v", err)
	}
	if err := c.s.disposeAll(ctx); err != nil {
		return nil, err
	}
	return json.RawMessage(patch), nil
}

type providersOut struct {
	Providers any               `json:"providers"`
	Default   map[string]string `json:"default"`
}

func (c equipment) configProviders() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	list, err := models.Usable(c.ctx())
	if err != nil {
		return nil, err
	}
	return withoutSecrets(inst.Config, providersOut{wire.EncodeProviders(listedProviders(list)), models.Newest(c.ctx(), list)}, nil)
}

type providerListOut struct {
	All       any               `json:"all"`
	Default   map[string]string `json:"default"`
	Connected []string          `json:"connected"`
}

func (c equipment) providerList() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	usable, err := models.Usable(c.ctx())
	if err != nil {
		return nil, err
	}
	connected := []string{}
	for _, p := range usable {
		connected = append(connected, p.ID)
		if i := slices.IndexFunc(all, func(o *provider.Provider) bool { return o.ID == p.ID }); i >= 0 {
			all[i] = p
		} else {
			all = append(all, p)
		}
	}
	return withoutSecrets(inst.Config, providerListOut{wire.EncodeProviders(listedProviders(all)), models.Newest(c.ctx(), all), connected}, nil)
}

// authSet stores a credential, the caller's own one where people have names. As in OpenCode, open instances go on without it
// until they are disposed of: their turns are not cut short.
func (c equipment) authSet() (any, error) {
	id := c.r.PathValue("providerID")
	if !validProvider(id) {
		return nil, &invalid{where: "Params", path: []string{"providerID"}, msg: "expected a provider's id or address"}
	}
	var in struct {
		Type                     string
		Key, Token               string
		Refresh, Access          string
		Expires                  float64
		AccountID, EnterpriseURL string
		Metadata                 map[string]string
	}
	if err := c.need(&in); err != nil {
		return nil, err
	}
	var e auth.Entry
	var err error
	switch in.Type {
	case "api":
		err = missing("key", in.Key)
		e = auth.API{Key: auth.NewSecret(in.Key), Metadata: in.Metadata}
	case "oauth":
		o := auth.OAuth{Refresh: auth.NewSecret(in.Refresh), Access: auth.NewSecret(in.Access), AccountID: in.AccountID, EnterpriseURL: in.EnterpriseURL}
		if in.Expires > 0 && in.Expires < 1<<53 {
			o.Expires = time.UnixMilli(int64(in.Expires))
		}
		err = missing("refresh", in.Refresh, "access", in.Access)
		e = o
	case "wellknown":
		err = missing("key", in.Key, "token", in.Token)
		e = auth.WellKnown{Key: in.Key, Token: auth.NewSecret(in.Token)}
	default:
		err = &invalid{where: "Payload", path: []string{"type"}, msg: `expected "api", "oauth" or "wellknown"`}
	}
	if err != nil {
		return nil, err
	}
	return true, c.setAuth(id, e)
}

func (c equipment) authRemove() (any, error) {
	id := c.r.PathValue("providerID")
	if !validProvider(id) {
		return nil, &invalid{where: "Params", path: []string{"providerID"}, msg: "expected a provider's id or address"}
	}
	return true, c.removeAuth(id)
}

func validProvider(id string) bool {
	if id == "" || len(id) > 512 {
		return false
	}
	for _, r := range id {
		if r <= ' ' || r == 0x7f || r == 0xfffd {
			return false
		}
	}
	return true
}

func (c equipment) agentList() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	return withoutSecrets(inst.Config, wire.EncodeAgents(listedAgents(inst.Agents.All())), nil)
}

func (c equipment) toolIDs() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, s := range inst.Tools.Specs() {
		ids = append(ids, s.Name)
	}
	return ids, nil
}

// toolList shows the tools as a model is given them, or unchanged if the model
// is not known.
func (c equipment) toolList() (any, error) {
	ref := lathe.ModelRef{Provider: c.query("provider"), Model: c.query("model")}
	if ref.Provider == "" || ref.Model == "" {
		return nil, badQuery("provider", "provider and model are both needed")
	}
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	schema := func(raw json.RawMessage) json.RawMessage { return raw }
	if m, err := inst.Models.GetFor(c.ctx(), ref); err == nil {
		schema = m.Schema
	}
	return wire.EncodeTools(listedTools(inst.Tools.Specs(), schema)), nil
}

// disposeAll forgets every instance, so that each is made again.
func (s *Server) disposeAll(ctx context.Context) error {
	for _, dir := range s.opts.Service.Instances.Directories() {
		if err := s.opts.Service.Dispose(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

var _ http.Handler = (*Server)(nil)
