package window

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/api"
	"lathe/internal/mcp"
	"lathe/internal/prompt"
	"lathe/internal/store"
)

// offerDoc is the record of what tool servers offered when a prompt was frozen. It is
// stored once, apart from the prompt, which is stored with every message.
func offerDoc(id string) store.Document[mcp.Offer] { return store.Document[mcp.Offer]("mcp:" + id) }

// Offer returns what the tool servers offer in this window. It must not be
// changed.
func (w *Window) Offer(ctx context.Context) *mcp.Offer {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	f, err := w.load(ctx)
	if err != nil || f.MCP == "" {
		return nil
	}
	if f.offer == nil {
		f.offer = new(mcp.Offer)
		if kept, ok, err := offerDoc(f.MCP).Get(ctx, w.store, w.id); err == nil && ok {
			f.offer, w.keptOffer = &kept, f.MCP
		} else {
			w.log.Warn("what MCP servers offered in the session is not stored", "session", w.id, "err", err)
		}
	}
	return f.offer
}

// saveOffer stores the offer unless it is stored already. The caller holds fmu.
func (w *Window) saveOffer(tx store.Tx) error {
	f := w.frozen
	if f.MCP != "" && f.offer != nil && w.keptOffer != f.MCP {
		if err := offerDoc(f.MCP).Set(tx, w.id, *f.offer); err != nil {
			return err
		}
		w.keptOffer = f.MCP
	}
	if f.ToldMCP != "" && f.ToldMCP != f.MCP && f.told != nil && w.keptTold != f.ToldMCP {
		if err := offerDoc(f.ToldMCP).Set(tx, w.id, *f.told); err != nil {
			return err
		}
		w.keptTold = f.ToldMCP
	}
	return nil
}

// take freezes an offer.
func (f *frozen) take(o mcp.Offer) {
	f.MCP, f.offer, f.ToldMCP, f.told = "", nil, "", nil
	if !o.Empty() {
		f.MCP, f.offer = o.ID(), &o
	}
}

// Refresh switches to what the tool servers offer now and reports what that changes.
// The next request breaks the prefix deliberately.
func (w *Window) Refresh(ctx context.Context) (api.MCPRefreshed, error) {
	before := w.Offer(ctx)
	w.fmu.Lock()
	f, err := w.load(ctx)
	if err != nil {
		w.fmu.Unlock()
		return api.MCPRefreshed{}, err
	}
	fresh := *f
	fresh.take(w.inst.Servers(ctx).Offer())
	out := differences(before, fresh.offer)
	changed := fresh.MCP != f.MCP
	if changed {
		w.frozen = &fresh
	}
	w.fmu.Unlock()
	if changed {
		w.Broken()
	}
	return out, nil
}

// differences says what one offer has that the other does not.
func differences(before, now *mcp.Offer) api.MCPRefreshed {
	out := api.MCPRefreshed{Added: []string{}, Gone: []string{}, Changed: []string{}}
	old := map[string]mcp.Named{}
	if before != nil {
		for _, t := range before.Tools {
			old[t.Key] = t
		}
	}
	if now != nil {
		for _, t := range now.Tools {
			was, had := old[t.Key]
			switch {
			case !had:
				out.Added = append(out.Added, t.Key)
			case !was.Same(t):
				out.Changed = append(out.Changed, t.Key)
			}
			delete(old, t.Key)
		}
	}
	out.Gone = append(out.Gone, slices.Sorted(maps.Keys(old))...)
	return out
}

// lastTold returns the offer that the model knows of: the newest that it was told
// about, or the frozen one; nil if it cannot be read. The caller holds fmu.
func (w *Window) lastTold(ctx context.Context, f *frozen) *mcp.Offer {
	switch {
	case f.ToldMCP != "" && f.told != nil:
		return f.told
	case f.ToldMCP == "" && f.offer != nil:
		return f.offer
	}
	for _, id := range []string{f.ToldMCP, f.MCP} { // older versions stored only the frozen one
		if id == "" {
			continue
		}
		if kept, ok, err := offerDoc(id).Get(ctx, w.store, w.id); err == nil && ok {
			return &kept
		}
	}
	return nil
}

// serverNews tells the model, once, that the tool servers now offer something other
// than what it was last told. The caller holds fmu.
func (w *Window) serverNews(ctx context.Context, f *frozen) string {
	if f.MCP == "" {
		return ""
	}
	now := w.inst.MCP.Offer()
	id := now.ID()
	if id == cmp.Or(f.ToldMCP, f.MCP) {
		return ""
	}
	before := w.lastTold(ctx, f)
	if before == nil {
		return ""
	}
	f.ToldMCP, f.told = id, &now
	return tellServers(before, &now)
}

// tellServers says what one offer has that the other does not, as the model is told it;
// empty if there is nothing.
func tellServers(before, now *mcp.Offer) string {
	d := differences(before, now)
	var b strings.Builder
	tell := func(what string, names []string) {
		if n := len(names); n > newsShown {
			names = append(slices.Clone(names[:newsShown]), fmt.Sprintf("and %d more", n-newsShown))
		}
		if len(names) > 0 {
			b.WriteString(what + strings.Join(names, ", ") + ". ")
		}
	}
	tell("They can be called from now on, and mcp_search tells their arguments: ", d.Added)
	tell("They are gone: ", d.Gone)
	tell("Their definitions are not what they were, so trust what you were told of them less; mcp_search tells them as they are now: ", d.Changed)
	if b.Len() == 0 {
		return ""
	}
	return prompt.Reminder("MCP servers offer other tools than before. " + strings.TrimSpace(b.String()))
}

// newsShown is how many names are listed.
const newsShown = 40
