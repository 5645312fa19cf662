package server

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/opencode/wire"
	"lathe/internal/store"
)

// messages answers a page of messages: those before a sequence number, those after one,
// those around a message, or the newest ones. The text of open parts is in them as far
// as it has streamed.
func (c faces) messages() (any, error) {
	sess, err := c.session()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(maxMessages)
	if err != nil {
		return nil, err
	}
	before, err := c.number("before")
	if err != nil {
		return nil, err
	}
	after, err := c.number("after")
	if err != nil {
		return nil, err
	}
	around := lathe.MessageID(c.query("around"))
	h, err := c.s.page(sess, func(h *api.History, p pager) error {
		p.limit = int(limit)
		switch {
		case around != "":
			return p.around(c.ctx(), h, around)
		case c.query("after") != "":
			return p.after(c.ctx(), h, after)
		}
		return p.before(c.ctx(), h, before)
	})
	if err != nil {
		return nil, err
	}
	return wire.EncodeOwnHistory(h), nil
}

func (s *Server) history(ctx context.Context, sess lathe.Session, before int64, limit int) (api.History, error) {
	return s.page(sess, func(h *api.History, p pager) error {
		p.limit = limit
		return p.before(ctx, h, before)
	})
}

// page reads a page, with the text of open parts and the event that they include.
func (s *Server) page(sess lathe.Session, read func(*api.History, pager) error) (api.History, error) {
	h := api.History{Event: s.events.Here()}
	if err := read(&h, pager{store: s.opts.Store, session: sess.ID}); err != nil {
		return h, err
	}
	s.opts.Service.Follow(sess, h.Messages)
	s.events.Overlay(h.Messages)
	return h, nil
}

// pager reads pages of at most limit messages of a session.
type pager struct {
	store   *store.Store
	session lathe.SessionID
	limit   int
}

// before adds the messages before a sequence number, or the newest ones for 0.
func (p pager) before(ctx context.Context, h *api.History, before int64) error {
	for m, err := range p.store.Messages(ctx, p.session, store.MessageFilter{Before: before, Limit: p.limit + 1}) {
		if err != nil {
			return err
		}
		if len(h.Messages) == p.limit {
			h.More = true
			break
		}
		h.Messages = append(h.Messages, m)
	}
	slices.Reverse(h.Messages)
	return nil
}

// after adds the messages after a sequence number, or the oldest ones for 0. Messages are read backwards and
// their numbers have gaps where some were removed, so it looks further ahead until
// there are enough of them.
func (p pager) after(ctx context.Context, h *api.History, after int64) error {
	last, err := p.last(ctx)
	if err != nil {
		return err
	}
	for ahead := int64(p.limit) + 1; ; ahead *= 2 {
		var list []lathe.Message
		for m, err := range p.store.Messages(ctx, p.session, store.MessageFilter{Before: after + ahead + 1, Limit: int(ahead)}) {
			if err != nil {
				return err
			}
			if m.Seq <= after {
				break
			}
			list = append(list, m)
		}
		if len(list) <= p.limit && after+ahead < last {
			continue
		}
		slices.Reverse(list)
		h.Newer = len(list) > p.limit
		h.Messages = append(h.Messages, list[:min(len(list), p.limit)]...)
		h.More = after > 0
		return nil
	}
}

// last returns the sequence number of the newest message.
func (p pager) last(ctx context.Context) (int64, error) {
	for m, err := range p.store.Messages(ctx, p.session, store.MessageFilter{Limit: 1}) {
		return m.Seq, err
	}
	return 0, nil
}

// around adds the messages on both sides of one.
func (p pager) around(ctx context.Context, h *api.History, id lathe.MessageID) error {
	m, err := p.store.Message(ctx, p.session, id)
	if err != nil {
		return err
	}
	p.limit = max(1, p.limit/2)
	if err := p.before(ctx, h, m.Seq+1); err != nil {
		return err
	}
	more := h.More
	err = p.after(ctx, h, m.Seq)
	h.More = more
	return err
}
