// Package permission decides what tools may do: it judges requests by rules and
// keeps the asks that wait for a person's reply. It also holds the detector of
// calls that go round in circles.
package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/tool"
)

// Errors of a Service.
var (
	ErrNotFound = errors.New("no such permission ask is waiting")
	ErrClosed   = errors.New("the permission service is closed")
)

// Rejected means that the user said no; the turn stops.
type Rejected struct{}

// Error is what the model is told.
func (*Rejected) Error() string {
	return "The user rejected permission to use this specific tool call."
}

// Corrected means that the user said no and what to do instead.
type Corrected struct{ Feedback string }

// Error is what the model is told.
func (e *Corrected) Error() string {
	return corrected + e.Feedback
}

const corrected = "The user rejected permission to use this specific tool call with the following feedback: "

// Feedback returns the words of the person from what a model was told of a [Corrected] call.
func Feedback(told string) (words string, ok bool) { return strings.CutPrefix(told, corrected) }

// Unanswered means that nobody could be asked and the answer was no; the turn goes
// on. Why is for the model.
type Unanswered struct{ Why string }

// Error is what the model is told.
func (e *Unanswered) Error() string { return e.Why }

// Options set up a [Service].
type Options struct {
	// Publish is called with asks and replies, in order. It must neither wait
	// nor call the Service. Nil means nobody listens.
	Publish func(lathe.Event)
	IDs     *lathe.IDs // nil means new ones
	// Approved are approvals remembered from before.
	Approved []lathe.Rule
	// OnApprove stores approvals that were given for the project before they
	// take effect. On an error they do not.
	OnApprove func(context.Context, []lathe.Rule) error
	// Shared, when set, holds what was allowed on all servers of a team, in place of Approved,
	// OnApprove and the memory of this Service.
	Shared Shared
	// KeepAlways makes every "always" apply to the project.
	KeepAlways bool
	// Decide may answer an ask at once, for runs without a person. Nil, or false,
	// means that the ask waits.
	Decide func(lathe.Ask) (lathe.Reply, bool)
	// Usual reports whether a host, as a request for [Network] names it, is one that the
	// project's package managers use: commands may reach it unless a rule names it. Nil: none
	// is.
	Usual func(host string) bool
	// Reports reports whether a host is one at which programs only report to their
	// makers, or look for newer versions of themselves: nobody is asked about it. Nil: none is.
	Reports func(host string) bool
}

// Shared is what was allowed from then on, for several processes.
type Shared interface {
	// Allowed returns what is allowed by now.
	Allowed(ctx context.Context) ([]lathe.Rule, error)
	// Allow allows rules, for the project or for as long as a process would remember them.
	Allow(ctx context.Context, rules []lathe.Rule, project bool) error
}

// Service keeps the asks of one instance. It is safe for concurrent use.
type Service struct {
	opts Options

	mu       sync.Mutex
	approved []lathe.Rule
	replies  int      // how often approved was changed here
	waiting  []*entry // oldest first
	closed   bool
}

type entry struct {
	ask    lathe.Ask
	wants  []tool.Request // what the ask is about: at least one request
	answer chan error     // holds one; nil means allowed
}

// New returns a Service.
func New(opts Options) *Service {
	if opts.Publish == nil {
		opts.Publish = func(lathe.Event) {}
	}
	if opts.IDs == nil {
		opts.IDs = lathe.NewIDs(nil, nil)
	}
	return &Service{opts: opts, approved: slices.Clone(opts.Approved)}
}

// AskInput is a request and what it is judged by: the agent's rules, then the
// session's, and what neither may loosen.
type AskInput struct {
	SessionID lathe.SessionID
	Tool      *lathe.ToolRef
	Request   tool.Request
	Policy
	// Freely names permissions that nobody is asked about, although rules ask: the session's mode
	// of approval says so. It lifts no denial.
	Freely []string
}

// Ask returns nil when the request is allowed, by the rules, by an approval or by the reply it
// waits for. Otherwise it returns a *[Denied], *[Rejected], *[Corrected] or *[Unanswered], or
// the cause when the context ends, which withdraws the ask. A request that comes with others
// becomes one ask about those that need it.
func (s *Service) Ask(ctx context.Context, in AskInput) error {
	if err := s.learn(ctx, in); err != nil {
		return err
	}
	wants, err := s.wanted(in)
	if err != nil || len(wants) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = s.wait(ctx, &entry{ask: s.combine(in, wants), wants: wants, answer: make(chan error, 1)})
	if err == nil && in.Request.Next != nil {
		in.Request.Next.Given = true
	}
	return err
}

// Settled is [Service.Ask] on behalf of programs for which nobody is asked: what a person
// would have to be asked about is an *[Unanswered].
func (s *Service) Settled(in AskInput) error {
	wants, err := s.wanted(in)
	if err == nil && len(wants) > 0 {
		err = &Unanswered{Why: "no rule allows it, and nobody is asked on behalf of such a program"}
	}
	return err
}

// wanted returns the requests that a person has to be asked about and, if there are any,
// what the call asks for next. If a rule denies one of them, the error is a *[Denied],
// whatever the others are.
func (s *Service) wanted(in AskInput) (wants []tool.Request, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wants, err = s.needed(append([]tool.Request{in.Request}, in.Request.Also...), in)
	if len(wants) == 0 || in.Request.Next == nil {
		return wants, err
	}
	more, err := s.needed([]tool.Request{in.Request.Next.Request}, in)
	if err != nil {
		return nil, err
	}
	return append(wants, more...), nil
}

func (s *Service) needed(reqs []tool.Request, in AskInput) (wants []tool.Request, err error) {
	p := in.Policy
	for _, req := range reqs {
		req.Also, req.Next = nil, nil
		switch s.judge(req, p) {
		case lathe.Allow:
		case lathe.Deny:
			return nil, denied(req, p)
		case lathe.Review:
			if in.free(req.Permission, req.Metadata) {
				continue
			}
			if req.Hold == nil {
				wants = append(wants, req)
			} else {
				req.Hold.Given = true
			}
		default:
			if in.free(req.Permission, req.Metadata) {
				continue
			}
			if s.reports(req, p) {
				return nil, &Reporting{}
			}
			wants = append(wants, req)
		}
	}
	return wants, nil
}

// judge checks every pattern before it settles on asking, so that a denial
// among later ones counts. An approval answers what would be asked; it does not
// lift a denial, because it may have been given to another agent.
func (s *Service) judge(req tool.Request, p Policy) lathe.Action {
	p = p.about(req.Permission)
	action := lathe.Allow
	for _, a := range actions(req.Permission, req.Patterns, req.Metadata, p, s.approved) {
		if a == lathe.Deny {
			return a
		}
		if a == lathe.Review && req.Permission != "bash" {
			a = lathe.AskMe
		}
		action = stricter(action, a)
	}
	if protected(req.Metadata) && !s.named(req, p) {
		return lathe.AskMe
	}
	if action == lathe.AskMe && s.usual(req, p) {
		return lathe.Allow
	}
	return action
}

// about returns the policy for requests of a permission.
func (p Policy) about(permission string) Policy {
	switch permission {
	case Change:
		return p.naming(Change)
	case Network:
		return p.reaching()
	}
	return p
}

// protected requests need a person's consent for this particular call.
func protected(meta map[string]any) bool {
	yes, _ := meta[tool.MetaProtected].(bool)
	return yes
}

// actions judges each pattern, then each prefix under which anything may be meant.
// For reading, only denials count there: the default rules ask about some names in
// any directory, and listing files is no reason to ask.
func actions(permission string, patterns []string, meta map[string]any, policy Policy, approved []lathe.Rule) []lathe.Action {
	var out []lathe.Action
	for _, pattern := range patterns {
		action := policy.Action(permission, pattern)
		if action != lathe.Allow && action != lathe.Deny &&
			(Evaluate(permission, pattern, approved).Action == lathe.Allow || speltOtherwise(permission, pattern, meta, policy, approved)) {
			action = lathe.Allow
		}
		out = append(out, action)
	}
	for _, text := range texts(meta, tool.MetaRuns) {
		if policy.Action(permission, text) == lathe.Deny {
			out = append(out, lathe.Deny)
		}
	}
	if permission == "read" {
		policy = policy.without(lathe.AskMe).without(lathe.Review)
	}
	for _, prefix := range texts(meta, tool.MetaUnder) {
		action := policy.ActionUnder(permission, prefix)
		if action != lathe.Allow && action != lathe.Deny && EvaluateUnder(permission, prefix, approved) == lathe.Allow {
			action = lathe.Allow
		}
		out = append(out, action)
	}
	return out
}

// speltOtherwise reports whether a pattern that needs an ask is only another
// spelling of a command that is allowed by its name: by an approval, or by a rule
// if no rule names the other spelling.
func speltOtherwise(permission, pattern string, meta map[string]any, policy Policy, approved []lathe.Rule) bool {
	spelt, _ := meta[tool.MetaSpelt].(map[string]string)
	text, ok := spelt[pattern]
	if !ok {
		return false
	}
	if Evaluate(permission, text, approved).Action == lathe.Allow {
		return true
	}
	return policy.Action(permission, text) == lathe.Allow && policy.unnamed(permission, pattern)
}

func texts(meta map[string]any, key string) []string {
	list, _ := meta[key].([]string)
	return list
}

func (s *Service) wait(ctx context.Context, e *entry) error {
	if err := s.enter(e); err != nil {
		return err
	}
	if s.opts.Decide != nil {
		if reply, ok := s.opts.Decide(e.ask); ok {
			if err := s.Reply(ctx, e.ask.ID, reply); err != nil && !errors.Is(err, ErrNotFound) {
				s.withdraw(e)
				return err
			}
		}
	}
	select {
	case err := <-e.answer:
		return err
	case <-ctx.Done():
		s.withdraw(e)
		select {
		case err := <-e.answer: // the reply came first
			return err
		default:
			return context.Cause(ctx)
		}
	}
}

func (s *Service) enter(e *entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.waiting = append(s.waiting, e)
	s.opts.Publish(lathe.PermissionAsked{Ask: e.ask})
	return nil
}

// withdraw ends an ask that nobody is waiting for any more.
func (s *Service) withdraw(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, e); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
		s.publishReply(e, lathe.Reject)
	}
}

// Reply answers a waiting ask. "always" remembers its Always patterns and releases the asks of the
// session that they allow; "reject" also rejects the other asks of the session, unless Alone is set. It
// returns [ErrNotFound] for an ask that is not waiting.
func (s *Service) Reply(ctx context.Context, id lathe.AskID, reply lathe.Reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(e *entry) bool { return e.ask.ID == id })
	if i < 0 {
		return fmt.Errorf("reply to %q: %w", id, ErrNotFound)
	}
	e := s.waiting[i]
	switch reply.Kind {
	case lathe.Once:
		s.settle(e, lathe.Once, nil)
	case lathe.Always:
		if err := s.grant(ctx, e, reply); err != nil {
			return err
		}
		s.settle(e, lathe.Always, nil)
		s.release(e.ask.SessionID)
	case lathe.Reject:
		s.reject(e, reply)
	default:
		return lathe.Errorf(lathe.CodeInvalid, "reply once, always or reject", "reply %q is not known", reply.Kind)
	}
	return nil
}

func (s *Service) reject(e *entry, reply lathe.Reply) {
	var err error = &Rejected{}
	switch {
	case reply.Alone:
		s.settle(e, lathe.Reject, unanswered(e.wants, reply.Message))
		return
	case reply.Message != "":
		err = &Corrected{Feedback: reply.Message}
	}
	s.settle(e, lathe.Reject, err)
	for _, other := range slices.Clone(s.waiting) {
		if other.ask.SessionID == e.ask.SessionID {
			s.settle(other, lathe.Reject, &Rejected{})
		}
	}
}

func (s *Service) settle(e *entry, kind lathe.ReplyKind, err error) {
	s.waiting = slices.DeleteFunc(s.waiting, func(w *entry) bool { return w == e })
	s.publishReply(e, kind)
	e.answer <- err
}

func (s *Service) publishReply(e *entry, kind lathe.ReplyKind) {
	s.opts.Publish(lathe.PermissionReplied{SessionID: e.ask.SessionID, AskID: e.ask.ID, Reply: kind})
}

// Pending lists the asks that wait, oldest first.
func (s *Service) Pending() []lathe.Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]lathe.Ask, len(s.waiting))
	for i, e := range s.waiting {
		out[i] = e.ask
	}
	return out
}

// Close rejects what waits and refuses new asks. It may be called twice.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, e := range slices.Clone(s.waiting) {
		s.settle(e, lathe.Reject, &Rejected{})
	}
}
