package instance

import (
	"context"
	"sync"

	"lathe"
	"lathe/internal/keyring"
	"lathe/internal/people"
	"lathe/internal/provider"
)

// ownModels are the models of people who have keys of their own: what they can call, and
// with which key.
type ownModels struct {
	keys    *keyring.Ring
	options provider.Options

	mu sync.Mutex
	by map[string]personal
}

// personal is what was made of the keys that a person had.
type personal struct {
	own    keyring.Own
	models *Models
}

// mostPersonal bounds the people whose models are kept; then it begins anew.
const mostPersonal = 1000

func newOwnModels(keys *keyring.Ring, o provider.Options) *ownModels {
	if keys == nil {
		return nil
	}
	return &ownModels{keys: keys, options: o, by: map[string]personal{}}
}

// For returns the models as the person has them that ctx names, with that person's own keys
// where there are some. The error says that these are not known at the moment.
func (m *Models) For(ctx context.Context) (*Models, error) {
	who := people.From(ctx)
	if m.own == nil || who == "" {
		return m, nil
	}
	return m.own.of(ctx, who, m)
}

// GetFor is [Models.Get] for the person that ctx names.
func (m *Models) GetFor(ctx context.Context, ref lathe.ModelRef) (*provider.Model, error) {
	models, err := m.For(ctx)
	if err != nil {
		return nil, err
	}
	return models.Get(ref)
}

func (o *ownModels) of(ctx context.Context, who string, everybody *Models) (*Models, error) {
	own, err := o.keys.Of(ctx, who)
	if err != nil || len(own.Entries)+len(own.Problems) == 0 {
		return everybody, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if have, ok := o.by[who]; ok && have.own.Is(own) {
		return have.models, nil
	}
	options := o.options
	options.Own, options.OwnProblems = own.Entries, own.Problems
	made, err := provider.New(options)
	if err != nil {
		return nil, err
	}
	if len(o.by) >= mostPersonal {
		o.by = map[string]personal{}
	}
	models := newModels(made, nil)
	o.by[who] = personal{own, models}
	return models, nil
}
