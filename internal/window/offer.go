package window

import (
	"context"

	"lathe/internal/mcp"
	"lathe/internal/store"
)

// offerDoc is the record of what servers of tools offered when a prompt was frozen. It
// is stored once, beside the prompt, which is stored with every message.
func offerDoc(id string) store.Document[mcp.Offer] { return store.Document[mcp.Offer]("mcp:" + id) }

// Offer returns what the servers of tools offer in this window. It is not to be
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

// saveOffer stores the offer unless it is. The caller holds fmu.
func (w *Window) saveOffer(tx store.Tx) error {
	f := w.frozen
	if f.MCP == "" || f.offer == nil || w.keptOffer == f.MCP {
		return nil
	}
	if err := offerDoc(f.MCP).Set(tx, w.id, *f.offer); err != nil {
		return err
	}
	w.keptOffer = f.MCP
	return nil
}

// take freezes an offer.
func (f *frozen) take(o mcp.Offer) {
	f.MCP, f.offer = "", nil
	if !o.Empty() {
		f.MCP, f.offer = o.ID(), &o
	}
}
