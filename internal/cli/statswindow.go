package cli

import (
	"context"
	"errors"
	"fmt"

	"lathe"
	"lathe/internal/catalog"
	"lathe/internal/store"
)

// windowTally sums what became of the sessions' windows: compactions, prunes, and
// how much of the prefix that requests shared came from the providers' caches.
type windowTally struct {
	Compactions int     `json:"compactions"`
	Prunes      int     `json:"prunes"`
	Pruned      int64   `json:"pruned"` // tokens that prunes freed
	Requests    int     `json:"requests"`
	Expected    int64   `json:"expected"` // tokens shared with the request before, estimated
	Read        int64   `json:"read"`     // of these, read from a cache
	Announced   int     `json:"announced"`
	Ours        int     `json:"ours"`
	Theirs      int     `json:"theirs"`
	Missed      int64   `json:"missed"`     // tokens that were sent anew
	MissedUSD   float64 `json:"missed_usd"` // what that cost more than reading them would have
}

// addWindows adds the windows of the sessions that were counted.
func (st *statistics) addWindows(ctx context.Context, a *app) error {
	models, err := catalog.Open(a.catalogOptions())
	if err != nil {
		return err
	}
	for id := range st.seen {
		sess, err := a.svc.Get(ctx, id)
		if lathe.CodeOf(err) == lathe.CodeNotFound {
			continue // it was deleted
		}
		if err != nil {
			return err
		}
		stats, err := a.svc.ContextStats(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		w, c := &st.Windows, stats.Cache
		w.Compactions += stats.Compactions
		w.Prunes += stats.Prunes
		w.Pruned += stats.Pruned
		w.Requests += c.Requests
		w.Expected += c.Expected
		w.Read += c.Read
		w.Announced += c.Announced
		w.Ours += c.Ours
		w.Theirs += c.Theirs
		missed := max(0, c.Expected-c.Read)
		w.Missed += missed
		w.MissedUSD += missPrice(models, sess.Model, missed).USD()
	}
	return nil
}

// missPrice is what tokens cost more when they are sent than when they are read
// from a cache. A model without known prices costs nothing.
func missPrice(models *catalog.Catalog, ref lathe.ModelRef, tokens int64) lathe.Money {
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

func (w *windowTally) print(env *Env, s style) {
	if w.Requests == 0 && w.Compactions == 0 {
		return
	}
	fmt.Fprintf(env.Stdout, "\n%s\n", s.bold("windows"))
	fmt.Fprintf(env.Stdout, "%8d compactions, %d prunes that freed %d tokens\n", w.Compactions, w.Prunes, w.Pruned)
	fmt.Fprintf(env.Stdout, "%8d requests after another: %d tokens shared with it, %d read from a cache; %d sent anew cost %s more\n",
		w.Requests, w.Expected, w.Read, w.Missed, lathe.Money(w.MissedUSD*1e12))
	fmt.Fprintf(env.Stdout, "         prefixes broken: %d by prunes and compactions, %d by lathe; %d missing at the provider\n",
		w.Announced, w.Ours, w.Theirs)
}
