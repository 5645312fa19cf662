package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/store"
	"lathe/internal/tool"
)

// learn looks at what was allowed by now wherever that is shared, if the rules alone do not
// allow a request. So what is allowed by rules costs nothing, and what was taken back elsewhere
// is asked about again at once.
func (s *Service) learn(ctx context.Context, in AskInput) error {
	if s.opts.Shared == nil || in.byRules() {
		return nil
	}
	for {
		s.mu.Lock()
		before := s.replies
		s.mu.Unlock()
		rules, err := s.opts.Shared.Allowed(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, store.ErrAway) {
			return nil // nothing can have been taken back since: that is stored, too
		}
		if err != nil {
			return fmt.Errorf("look at what was allowed: %w", err)
		}
		s.mu.Lock()
		if s.replies == before { // else what was read may lack what was answered meanwhile
			s.approved = rules
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
	}
}

// byRules reports whether the rules allow a request, and what comes with it, without anything
// that a person answered.
func (in AskInput) byRules() bool {
	reqs := append([]tool.Request{in.Request}, in.Request.Also...)
	if in.Request.Next != nil {
		reqs = append(reqs, in.Request.Next.Request)
	}
	return !slices.ContainsFunc(reqs, func(req tool.Request) bool {
		said := actions(req.Permission, req.Patterns, req.Metadata, in.about(req.Permission), nil)
		return protected(req.Metadata) || slices.ContainsFunc(said, func(a lathe.Action) bool { return a != lathe.Allow })
	})
}

// keep stores what was allowed, before it takes effect: lasting for the project, if that was
// meant, and fresh for as long as a process would remember it.
func (s *Service) keep(ctx context.Context, fresh, lasting []lathe.Rule, project bool) error {
	if s.opts.Shared == nil {
		if project && len(lasting) > 0 && s.opts.OnApprove != nil {
			return s.opts.OnApprove(ctx, lasting)
		}
		return nil
	}
	if project && len(lasting) > 0 {
		if err := s.opts.Shared.Allow(ctx, lasting, true); err != nil {
			return err
		}
		fresh = slices.DeleteFunc(slices.Clone(fresh), func(r lathe.Rule) bool { return slices.Contains(lasting, r) })
	}
	if len(fresh) == 0 {
		return nil
	}
	return s.opts.Shared.Allow(ctx, fresh, false)
}
