package provider

import (
	"context"
	"slices"
	"time"
)

// defaultPatience is how long a list waits for local servers, one of which may have
// the default model.
const defaultPatience = 2 * time.Second

// Usable returns the connected providers. A default model that its provider does
// not list, such as a script's, is listed here: screens choose from the list.
func (r *Registry) Usable(ctx context.Context) ([]*Provider, error) {
	list, err := r.List()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, defaultPatience)
	defer cancel()
	ref, _, err := r.Default(ctx)
	if err != nil {
		return list, nil
	}
	for i, p := range list {
		if p.ID != ref.Provider || slices.ContainsFunc(p.Models, func(m *Model) bool { return m.Ref.Model == ref.Model }) {
			continue
		}
		if m, err := r.Lookup(ref); err == nil {
			with := *p
			with.Models = append(slices.Clone(p.Models), m)
			list[i] = &with
		}
	}
	return list, nil
}

// Newest names a model of each provider to begin with: the newest that can call
// tools, or the default model for its own provider.
func (r *Registry) Newest(ctx context.Context, list []*Provider) map[string]string {
	out := make(map[string]string, len(list))
	for _, p := range list {
		var best *Model
		for _, m := range p.Models {
			if best == nil || newer(m, best) {
				best = m
			}
		}
		if best != nil {
			out[p.ID] = best.Ref.Model
		}
	}
	ctx, cancel := context.WithTimeout(ctx, defaultPatience)
	defer cancel()
	if ref, _, err := r.Default(ctx); err == nil {
		if _, listed := out[ref.Provider]; listed {
			out[ref.Provider] = ref.Model
		}
	}
	return out
}

// newer reports whether a model is the better one to begin with.
func newer(m, than *Model) bool {
	if a, b := sound(m), sound(than); a != b {
		return a
	}
	return m.Released > than.Released
}

func sound(m *Model) bool { return m.Caps.ToolCall && m.Status != "deprecated" }
