package provider

import (
	"lathe/internal/catalog"
	"lathe/internal/config"
)

// limited applies the limits that the configuration sets for a built-in model,
// so that a script can be played in a small window.
func (r *Registry) limited(m *Model) *Model {
	if r.o.Config == nil {
		return m
	}
	p := r.o.Config.Provider(m.Ref.Provider)
	if p == nil {
		return m
	}
	for i := range p.Models {
		if c := &p.Models[i]; c.Key == m.Ref.Model && c.Limit != nil {
			m.Limit = builtinLimit(m.Limit, c.Limit)
		}
	}
	return m
}

func builtinLimit(l catalog.Limit, c *config.Limit) catalog.Limit {
	set := func(to *int, v int) {
		if v > 0 {
			*to = v
		}
	}
	set(&l.Context, c.Context)
	set(&l.Input, c.Input)
	set(&l.Output, c.Output)
	return l
}
