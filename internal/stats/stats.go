// Package stats sums what sessions used: tokens, money, tools and the providers'
// caches, by day, model and project.
package stats

import (
	"context"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/catalog"
	"lathe/internal/plugin"
	"lathe/internal/store"
)

// Windows says what became of the window of a session, and which model it talked to;
// false when the session is gone.
type Windows func(ctx context.Context, id lathe.SessionID) (api.WindowStats, lathe.ModelRef, bool, error)

// Options say where to read. Store and Windows are needed.
type Options struct {
	Store   store.Stats
	Windows Windows
	Models  *catalog.Catalog // what tokens cost that a cache did not have; nil: nothing
	// Hooks says what hooks cost since a day, in a directory or, if it is empty, in all; nil: nothing.
	Hooks func(since time.Time, dir string) ([]plugin.Account, error)
}

// Gather sums what a filter lets through.
func Gather(ctx context.Context, o Options, f api.StatsFilter) (*api.Stats, error) {
	g := gatherer{
		filter: f, sessions: map[lathe.SessionID]bool{}, costs: map[*api.Tally]lathe.Money{}, times: map[*api.ToolTally]time.Duration{},
		out: &api.Stats{Days: map[string]*api.Tally{}, Models: map[string]*api.Tally{}, Projects: map[string]*api.Tally{}, Tools: map[string]*api.ToolTally{}},
	}
	if err := o.Store.Answers(ctx, f.Since, g.answer); err != nil {
		return nil, err
	}
	if err := o.Store.ToolUses(ctx, f.Since, g.tool); err != nil {
		return nil, err
	}
	g.out.Sessions = len(g.sessions)
	for id := range g.sessions {
		w, ref, ok, err := o.Windows(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok {
			addWindow(&g.out.Windows, w, func(tokens int64) lathe.Money { return missPrice(o.Models, ref, tokens) })
		}
	}
	return g.out, g.hooks(o)
}

func (g *gatherer) hooks(o Options) error {
	if o.Hooks == nil {
		return nil
	}
	accounts, err := o.Hooks(g.filter.Since, g.filter.Directory)
	for _, a := range accounts {
		g.out.Hooks = append(g.out.Hooks, HookAccount(a))
	}
	return err
}

// HookAccount is how the account of a hook is told.
func HookAccount(a plugin.Account) api.PluginAccount {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return api.PluginAccount{Plugin: a.Plugin, Hook: a.Hook, Calls: a.Calls, Failed: a.Failed, Millis: ms(a.Time), Longest: ms(a.Longest), LastError: a.LastError}
}

// gatherer keeps sums exact until they are told.
type gatherer struct {
	filter   api.StatsFilter
	sessions map[lathe.SessionID]bool
	costs    map[*api.Tally]lathe.Money
	times    map[*api.ToolTally]time.Duration
	out      *api.Stats
}

func (g *gatherer) answer(a store.Answer) error {
	if g.filter.Directory != "" && a.Directory != g.filter.Directory {
		return nil
	}
	if a.Beside() {
		g.beside(a)
		return nil
	}
	g.sessions[a.Session] = true
	for _, t := range []*api.Tally{
		&g.out.Total, at(g.out.Days, a.Created.Local().Format("2006-01-02")), at(g.out.Models, a.Model.String()), at(g.out.Projects, a.Directory),
	} {
		t.Answers++
		g.spend(t, a)
	}
	return nil
}

// beside counts what was asked beside the answers: in all sums, but as no answer.
func (g *gatherer) beside(a store.Answer) {
	if g.out.Beside == nil {
		g.out.Beside = map[string]*api.Tally{}
	}
	own := at(g.out.Beside, a.Agent)
	own.Answers++
	for _, t := range []*api.Tally{
		own, &g.out.Total, at(g.out.Days, a.Created.Local().Format("2006-01-02")), at(g.out.Models, a.Model.String()), at(g.out.Projects, a.Directory),
	} {
		g.spend(t, a)
	}
}

func (g *gatherer) spend(t *api.Tally, a store.Answer) {
	t.Tokens = api.TokensOf(t.Tokens.Counted().Add(a.Tokens))
	g.costs[t] += a.Cost
	t.USD = g.costs[t].USD()
}

func (g *gatherer) tool(u store.ToolUse) error {
	if g.filter.Directory != "" && !g.sessions[u.Session] {
		return nil
	}
	t := at(g.out.Tools, u.Tool)
	t.Calls++
	var span lathe.Span
	var meta map[string]any
	switch s := u.State.(type) {
	case *lathe.ToolDone:
		span, meta = s.Time, s.Metadata
	case *lathe.ToolFailed:
		t.Failed++
		span, meta = s.Time, s.Metadata
	}
	if !span.End.IsZero() {
		took, _ := span.Worked(meta)
		g.times[t] += took
		t.Millis = g.times[t].Milliseconds()
	}
	return nil
}

func at[T any](m map[string]*T, key string) *T {
	if m[key] == nil {
		m[key] = new(T)
	}
	return m[key]
}

func addWindow(w *api.WindowTally, s api.WindowStats, price func(int64) lathe.Money) {
	c := s.Cache
	w.Compactions += s.Compactions
	w.Prunes += s.Prunes
	w.Pruned += s.Pruned
	w.Requests += c.Requests
	w.Expected += c.Expected
	w.Read += c.Read
	w.Announced += c.Announced
	w.Ours += c.Ours
	w.Theirs += c.Theirs
	missed := max(0, c.Expected-c.Read)
	w.Missed += missed
	w.MissedUSD += price(missed).USD()
}

// missPrice is what tokens cost more when they are sent than when they are read
// from a cache. A model without known prices costs nothing.
func missPrice(models *catalog.Catalog, ref lathe.ModelRef, tokens int64) lathe.Money {
	if models == nil {
		return 0
	}
	p, err := models.Provider(ref.Provider)
	if err != nil || p == nil {
		return 0
	}
	m := p.Model(ref.Model)
	if m == nil {
		return 0
	}
	price := m.Cost.For(0)
	if price.CacheRead == 0 { // no cache to read from
		return 0
	}
	return lathe.Money(max(0, price.Input-price.CacheRead)) * lathe.Money(tokens)
}
