package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/plugin"
	"lathe/internal/provider"
)

// SmallModel returns the model for titles and the like beside another one: the configured
// one, else what a plugin says, else the provider's.
func (i *Instance) SmallModel(ctx context.Context, ref lathe.ModelRef) lathe.ModelRef {
	if i.Config.SmallModel == "" && i.Hooks.Has() {
		if small := i.Hooks.SmallModel(ctx, plugin.SmallModelInput{Model: ref}); !small.IsZero() {
			if _, err := i.Models.GetFor(ctx, small); err == nil {
				return small
			}
			i.Log.Warn("a plugin names a small model that cannot be called", "model", small.String())
		}
	}
	if models, err := i.Models.For(ctx); err == nil {
		return models.Small(ref)
	}
	return i.Models.Small(ref)
}

// describe tells plugins of a model and its provider, as OpenCode does. Of the provider's
// models it has that one: some have hundreds, and a hook is called for each request.
func (i *Instance) describe(ref lathe.ModelRef) (model, provider any) {
	if i.Models == nil {
		return nil, nil
	}
	listed := listedAs(i.Models.Registry, ref.Provider, false)
	if m := i.Models.Described(ref); m != nil {
		one := listedModel(m)
		model, listed.Models = wire.EncodeModel(one), []api.ListedModel{one}
	}
	// Plugins of 1.1 read "info", later ones the provider itself.
	raw, err := wire.Marshal(wire.EncodeProvider(listed))
	var flat map[string]any
	if err != nil || json.Unmarshal(raw, &flat) != nil {
		return model, nil
	}
	flat["info"] = maps.Clone(flat)
	return model, flat
}

// listedAs describes a provider, even one that is not known.
func listedAs(known *provider.Registry, id string, models bool) api.ListedProvider {
	if p := known.Provider(id, models); p != nil {
		return ListedProvider(p)
	}
	return api.ListedProvider{ID: id, Name: id, Source: "custom"}
}

// pluginModels puts the models that plugins make into the configuration.
func (p *Plugins) pluginModels(ctx context.Context, pl *place, o Options) error {
	ids := p.Providers()
	if len(ids) == 0 {
		return nil
	}
	known, err := provider.New(provider.Options{Config: pl.Config, Auth: o.Auth, Catalog: o.Catalog, Getenv: o.Getenv, Now: o.Now, Loaders: p.loaders()})
	if err != nil {
		return fmt.Errorf("providers: %w", err)
	}
	var whole struct {
		Provider map[string]map[string]json.RawMessage `json:"provider"`
	}
	if err := json.Unmarshal(pl.Config.Whole(), &whole); err != nil {
		return err
	}
	if whole.Provider == nil {
		whole.Provider = map[string]map[string]json.RawMessage{}
	}
	for _, id := range ids {
		made, names := p.modelsOf(ctx, known, id)
		if names == nil {
			continue
		}
		if whole.Provider[id] == nil {
			whole.Provider[id] = map[string]json.RawMessage{}
		}
		models := map[string]any{}
		var configured map[string]json.RawMessage
		_ = json.Unmarshal(whole.Provider[id]["models"], &configured) // none, or an object
		for key, v := range configured {
			models[key] = v
		}
		maps.Copy(models, made)
		for key, v := range map[string]any{"models": models, "whitelist": names} {
			if whole.Provider[id][key], err = json.Marshal(v); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(whole.Provider)
	if err != nil {
		return err
	}
	conf, err := pl.Config.With("plugins", pl.Paths.Home, map[string]json.RawMessage{"provider": text})
	if err != nil {
		return fmt.Errorf("their models are ignored: %w", err)
	}
	pl.Config = conf
	return nil
}

// modelsOf asks the plugins for the models of a provider. It returns those that are not as
// they were, as the configuration has to say it, and the names of all; nil if none is.
func (p *Plugins) modelsOf(ctx context.Context, known *provider.Registry, id string) (changed map[string]any, names []string) {
	listed := listedAs(known, id, true)
	before := map[string]json.RawMessage{}
	for _, m := range listed.Models {
		if raw, err := wire.Marshal(wire.EncodeModel(m)); err == nil {
			before[m.Ref.Model] = raw
		}
	}
	info := func(models map[string]json.RawMessage) any {
		return map[string]any{"id": listed.ID, "name": listed.Name, "source": listed.Source, "env": listed.Env, "options": map[string]any{}, "models": models}
	}
	after := p.Models(ctx, id, info, before)
	if maps.EqualFunc(before, after, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		return nil, nil
	}
	changed, names = map[string]any{}, slices.AppendSeq([]string{}, maps.Keys(after))
	slices.Sort(names)
	for key, raw := range after {
		if string(before[key]) == string(raw) {
			continue // as the catalogue has it
		}
		if m, err := configuredModel(raw); err != nil {
			p.troubles.report("plugins", fmt.Errorf("the model %s/%s is ignored: %w", id, key, err))
		} else {
			changed[key] = m
		}
	}
	return changed, names
}

// configuredModel turns a model as plugins make it into what [config.Model] is read from.
func configuredModel(raw json.RawMessage) (map[string]any, error) {
	var m struct {
		ID, Name, Family, Status string
		Released                 string `json:"release_date"`
		API                      struct{ ID, URL, NPM string }
		Capabilities             struct {
			Temperature, Reasoning, Attachment, Toolcall *bool
			Input, Output                                map[string]bool
		}
		Cost struct {
			Input, Output float64
			Cache         struct{ Read, Write float64 }
		}
		Limit struct {
			Context, Input, Output int
		}
		Options  map[string]any
		Headers  map[string]string
		Variants map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	out := map[string]any{
		"cost":  map[string]any{"input": m.Cost.Input, "output": m.Cost.Output, "cache_read": m.Cost.Cache.Read, "cache_write": m.Cost.Cache.Write},
		"limit": map[string]any{"context": m.Limit.Context, "input": m.Limit.Input, "output": m.Limit.Output},
	}
	for key, text := range map[string]string{"id": m.API.ID, "name": m.Name, "family": m.Family, "release_date": m.Released, "status": m.Status} {
		if text != "" {
			out[key] = text
		}
	}
	for key, can := range map[string]*bool{"temperature": m.Capabilities.Temperature, "reasoning": m.Capabilities.Reasoning, "attachment": m.Capabilities.Attachment, "tool_call": m.Capabilities.Toolcall} {
		if can != nil {
			out[key] = *can
		}
	}
	if m.Capabilities.Input != nil || m.Capabilities.Output != nil {
		out["modalities"] = map[string]any{"input": kindNames(m.Capabilities.Input), "output": kindNames(m.Capabilities.Output)}
	}
	provider := map[string]string{}
	for key, text := range map[string]string{"npm": m.API.NPM, "api": m.API.URL} {
		if text != "" {
			provider[key] = text
		}
	}
	if len(provider) > 0 {
		out["provider"] = provider
	}
	if m.Options != nil {
		out["options"] = m.Options
	}
	if m.Headers != nil {
		out["headers"] = m.Headers
	}
	if m.Variants != nil {
		out["variants"] = m.Variants
	}
	return out, nil
}

func kindNames(can map[string]bool) []string {
	out := []string{}
	for _, name := range []string{"text", "audio", "image", "video", "pdf"} {
		if can[name] {
			out = append(out, name)
		}
	}
	return out
}
