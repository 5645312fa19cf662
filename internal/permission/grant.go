package permission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lathe"
	"lathe/internal/tool"
)

// What bounds the patterns that a person writes.
const (
	maxPatterns = 50
	maxPattern  = 2000
)

// Everything reports whether a pattern would allow anything that is asked for:
// it has a wildcard and nothing else that narrows it down.
func Everything(pattern string) bool {
	return strings.Contains(pattern, "*") && strings.Trim(pattern, "*?/\\. ") == ""
}

// grant carries out an "always": it remembers what the ask offers, or the patterns
// that the person wrote in place of it.
func (s *Service) grant(ctx context.Context, e *entry, reply lathe.Reply) error {
	wants := slices.Clone(e.wants)
	if len(reply.Patterns) > 0 {
		first, err := withPatterns(wants[0], reply.Patterns)
		if err != nil {
			return err
		}
		wants[0] = first
		for i := range wants[1:] { // nobody saw a pattern that allows everything
			wants[i+1].Always = narrowed(wants[i+1])
		}
	}
	if err := s.approve(ctx, wants, reply.Project || s.opts.KeepAlways); err != nil {
		return fmt.Errorf("remember approval %q: %w", e.ask.ID, err)
	}
	return nil
}

// withPatterns returns a request with the patterns that the person wrote instead
// of those it offers. A request that offers none accepts none, and no pattern may
// allow everything: that is what rules are for.
func withPatterns(req tool.Request, patterns []string) (tool.Request, error) {
	if len(req.Always) == 0 {
		return req, lathe.Errorf(lathe.CodeInvalid, "allow it once", "this cannot be allowed for good")
	}
	if len(patterns) > maxPatterns {
		return req, lathe.Errorf(lathe.CodeInvalid, "", "%d patterns are more than %d", len(patterns), maxPatterns)
	}
	for _, p := range patterns {
		if p == "" || len(p) > maxPattern || strings.ContainsFunc(p, unicode.IsControl) {
			return req, lathe.Errorf(lathe.CodeInvalid, "write one like those that are offered", "%.60q is not a pattern", p)
		}
		if Everything(p) && !(p == "*" && slices.Contains(req.Patterns, p)) {
			return req, lathe.Errorf(lathe.CodeInvalid, "name what it begins with, or set a rule in the configuration", "the pattern %q would allow everything", p)
		}
	}
	if name := nameOf(req.Metadata); name != "" && slices.ContainsFunc(patterns, func(p string) bool { return !strings.HasPrefix(p, name) }) {
		return req, lathe.Errorf(lathe.CodeInvalid, "write patterns that begin with "+name, "this can only be allowed by its name")
	}
	req.Always = patterns
	return req, nil
}

// approve remembers what an "always" allows. For a protected request it applies
// to that call only, unless the request has a name: its patterns would allow
// what nobody was asked about. A pattern that allows everything is never stored;
// what was asked for is stored instead.
func (s *Service) approve(ctx context.Context, wants []tool.Request, store bool) error {
	if slices.ContainsFunc(wants, func(r tool.Request) bool { return protected(r.Metadata) && nameOf(r.Metadata) == "" }) {
		return nil
	}
	var fresh, lasting []lathe.Rule
	add := func(list []lathe.Rule, permission, pattern string) []lathe.Rule {
		rule := lathe.Rule{Permission: Literal(permission), Pattern: pattern, Action: lathe.Allow}
		if slices.Contains(list, rule) {
			return list
		}
		return append(list, rule)
	}
	for _, req := range wants {
		for _, pattern := range req.Always {
			fresh = add(fresh, req.Permission, pattern)
			for _, p := range Narrow(req.Patterns, pattern) {
				lasting = add(lasting, req.Permission, p)
			}
		}
	}
	if err := s.keep(ctx, fresh, lasting, store); err != nil {
		return err
	}
	s.replies++
	for _, r := range fresh {
		if !slices.Contains(s.approved, r) {
			s.approved = append(s.approved, r)
		}
	}
	return nil
}

// Narrow returns what may be remembered permanently of a pattern that a request
// offers: the pattern, or, if that would allow everything, exactly what the
// request asks for. A tool whose uses are all alike asks for "*" itself.
func Narrow(asked []string, offered string) []string {
	if !Everything(offered) || offered == "*" && slices.Contains(asked, "*") {
		return []string{offered}
	}
	var out []string
	for _, p := range asked {
		if !Everything(p) {
			out = append(out, Literal(p))
		}
	}
	return out
}

func narrowed(req tool.Request) (out []string) {
	for _, p := range req.Always {
		out = append(out, Narrow(req.Patterns, p)...)
	}
	return out
}

// release grants those asks of a session that approvals alone allow.
func (s *Service) release(session lathe.SessionID) {
	for _, e := range slices.Clone(s.waiting) {
		if e.ask.SessionID == session && !slices.ContainsFunc(e.wants, s.unapproved) {
			s.settle(e, lathe.Always, nil)
		}
	}
}

// unapproved reports whether a request needs more than approvals to be allowed.
func (s *Service) unapproved(req tool.Request) bool {
	return protected(req.Metadata) && !byName(req, s.approved) || slices.ContainsFunc(actions(req.Permission, req.Patterns, req.Metadata, Policy{}, s.approved), func(a lathe.Action) bool { return a != lathe.Allow })
}

// Approved returns a copy of what "always" replies have allowed.
func (s *Service) Approved() []lathe.Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.approved)
}

// Revoke forgets approvals, so that what they allowed is asked about again. It
// returns how many it knew.
func (s *Service) Revoke(rules ...lathe.Rule) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies++
	before := len(s.approved)
	s.approved = slices.DeleteFunc(s.approved, func(r lathe.Rule) bool { return slices.Contains(rules, r) })
	return before - len(s.approved)
}
