package server

import (
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/session"
)

// models lists the models that can be called, and which is taken when none is
// named.
func (c faces) models() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	def, _, _ := models.Default(c.ctx()) // without a default none is marked; it finds local servers
	list, err := models.Models("", false)
	if err != nil {
		return nil, err
	}
	out := make([]api.Model, len(list))
	for i, m := range list {
		out[i] = api.Model{
			ProviderID: m.Ref.Provider, ModelID: m.Ref.Model, Name: m.Name, Context: m.Limit.Context, Output: m.Limit.Output, Price: m.Price.For(0), Free: m.Priced() && m.Price.Prices == (lathe.Prices{}),
			Default: m.Ref.Provider == def.Provider && m.Ref.Model == def.Model,
		}
		for _, v := range m.Variants {
			out[i].Variants = append(out[i].Variants, v.Name)
		}
	}
	return withDefault(out, def), nil
}

// withDefault adds the model that is taken when none is named, if it is not listed: a script is
// named by its file.
func withDefault(list []api.Model, def lathe.ModelRef) []api.Model {
	if def.Provider == "" || slices.ContainsFunc(list, func(m api.Model) bool { return m.Default }) {
		return list
	}
	return append(list, api.Model{ProviderID: def.Provider, ModelID: def.Model, Name: def.Model, Free: def.Provider == "script", Default: true})
}

// parseModel answers the model that a person means by a text.
func (c faces) parseModel() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	ref, err := models.ParseRef(c.query("name"))
	return api.Model{ProviderID: ref.Provider, ModelID: ref.Model, Variant: ref.Variant}, err
}

// providers lists the whole catalogue, without models.
func (c faces) providers() (any, error) {
	inst, _, err := c.instance()
	if err != nil {
		return nil, err
	}
	models, err := inst.Models.For(c.ctx())
	if err != nil {
		return nil, err
	}
	list, err := models.All()
	if err != nil {
		return nil, err
	}
	out := []api.Provider{}
	for _, p := range list {
		if p.Source != "builtin" {
			out = append(out, api.Provider{ID: p.ID, Name: p.Name, Connected: p.Connected})
		}
	}
	return out, nil
}

// files answers the files and directories that match best.
func (c faces) files() (any, error) {
	limit, err := c.number("limit")
	if err != nil {
		return nil, err
	}
	query := c.query("query")
	if len(query) > maxPattern {
		return nil, badQuery("query", "longer than %d bytes", maxPattern)
	}
	if limit == 0 {
		limit = filesLimit
	}
	inst, err := c.project()
	if err != nil {
		return nil, err
	}
	paths, err := files(c).listed(inst.Root.Dir)
	if err != nil {
		return nil, err
	}
	named := namedIn(inst)
	accept := func(name string) bool { return notHidden(name) && named(name) }
	if strings.HasPrefix(query, ".") || strings.Contains(query, "/.") {
		accept = named
	}
	return found(paths.Find(query, int(min(limit, filesMost)), accept)), nil
}

// notHidden reports whether no element of a path starts with a dot.
func notHidden(name string) bool { return name[0] != '.' && !strings.Contains(name, "/.") }

// keptRuns is how many runs can still be asked how they ended.
const keptRuns = 256

// runs remembers the runs that prompts of lathe's own faces started.
type runs struct {
	mu    sync.Mutex
	of    map[lathe.MessageID]*session.Run
	order []lathe.MessageID
}

func (r *runs) add(id lathe.MessageID, run *session.Run) {
	if run == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[lathe.MessageID]*session.Run{}
	}
	if r.of[id] != nil { // it was sent again
		return
	}
	r.forgetLarge()
	r.of[id] = run
	if r.order = append(r.order, id); len(r.order) > keptRuns {
		delete(r.of, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
}

// largeOutcome is how much text an outcome may have to be kept beyond the next prompt.
const largeOutcome = 1 << 20

// forgetLarge forgets runs whose answers take much memory. A request for one of
// those reads it from the session. The caller holds mu.
func (r *runs) forgetLarge() {
	r.order = slices.DeleteFunc(r.order, func(id lathe.MessageID) bool {
		last := r.of[id].Last()
		large := last != nil && textSize(last) > largeOutcome
		if large {
			delete(r.of, id)
		}
		return large
	})
}

// textSize is how much a message says.
func textSize(m *lathe.Message) (n int) {
	for _, p := range m.Parts {
		switch b := p.Body.(type) {
		case *lathe.Text:
			n += len(b.Text)
		case *lathe.Reasoning:
			n += len(b.Text)
		}
	}
	return n
}

func (r *runs) get(id lathe.MessageID) *session.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[id]
}
