package instance

import (
	"context"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/provider"
)

// Models are the models of a directory. Each is made once, so its connections stay.
type Models struct {
	*provider.Registry
	own *ownModels // of people with keys of their own; nil: there are none

	mu   sync.Mutex
	made map[lathe.ModelRef]*provider.Model
}

func newModels(r *provider.Registry, own *ownModels) *Models {
	return &Models{Registry: r, own: own, made: map[lathe.ModelRef]*provider.Model{}}
}

// Get returns a model that can be called. It stays the same for the life of
// the instance, and so do its connections.
func (m *Models) Get(ref lathe.ModelRef) (*provider.Model, error) {
	ref.Variant = ""
	m.mu.Lock()
	defer m.mu.Unlock()
	if made := m.made[ref]; made != nil {
		return made, nil
	}
	made, err := m.Lookup(ref)
	if err == nil {
		m.made[ref] = made
	}
	return made, err
}

// Described returns what is known of a model, whether or not there is a key for it: a person
// may have one where the machine has none. It is nil for one that is not known.
func (m *Models) Described(ref lathe.ModelRef) *provider.Model {
	if made, err := m.Get(ref); err == nil {
		return made
	}
	p := m.Provider(ref.Provider, true)
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Models, func(one *provider.Model) bool { return one.Ref.Model == ref.Model })
	if i < 0 {
		return nil
	}
	return p.Models[i]
}

// Pick returns the model of a prompt: the one asked for, else the agent's,
// else the session's, else the default. It can be called, or the error says why not.
func (m *Models) Pick(ctx context.Context, asked lathe.ModelRef, a Agent, last lathe.ModelRef) (lathe.ModelRef, error) {
	ref := asked
	for _, r := range []lathe.ModelRef{a.Model, last} {
		if ref.IsZero() && !r.IsZero() {
			variant := ref.Variant
			ref = r
			set(&ref.Variant, variant)
		}
	}
	if ref.IsZero() {
		def, _, err := m.Default(ctx)
		if err != nil {
			return ref, err
		}
		def.Variant = ref.Variant
		ref = def
	}
	model, err := m.Get(ref)
	if err != nil {
		return ref, err
	}
	if ref.Variant != "" {
		if _, ok := model.Variant(ref.Variant); !ok {
			return ref, lathe.Errorf(lathe.CodeNotFound, variantHint(model.Variants), "model %s has no variant %q", ref, ref.Variant)
		}
	}
	return ref, nil
}

func variantHint(variants []catalog.Variant) string {
	if len(variants) == 0 {
		return "it has none"
	}
	names := make([]string, len(variants))
	for i, v := range variants {
		names[i] = v.Name
	}
	return "it has: " + strings.Join(names, ", ")
}
