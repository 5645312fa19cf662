package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lathe"
	"lathe/internal/config"
	"lathe/internal/llm"
	"lathe/internal/permission"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// purse holds the turns of a session and its subagents to the configured budget: what
// may be used in the session, in a day and in the project. Where a limit is reached the
// person is asked whether to go on; where nobody is there, the turn ends.
//
// What was used before is read from the store when a turn begins, and again as it goes
// on, since other sessions use the same day and project.
type purse struct {
	r      *runner // of the session that the person talks to
	budget config.Budget
	spent  *turn.Spent

	mu    sync.Mutex
	read  time.Time // when used was read; zero: never
	used  [scopes]usage
	base  usage       // what spent had then
	given [scopes]int // how often the person let it go on
	noted bool        // the person was told of a price that is not known
}

// purseAge is after how long what others used is read again.
const purseAge = 30 * time.Second

// scope is what a budget is for.
type scope int

const (
	forSession scope = iota
	forDay
	forProject
	scopes
)

func (s scope) String() string { return [...]string{"this session", "today", "this project"}[s] }

// usage is what was used.
type usage struct {
	cost   lathe.Money
	tokens int64
	steps  int
	time   time.Duration
}

func (u *usage) add(a store.Answer) {
	u.cost += a.Cost
	u.tokens += a.Tokens.Total()
	if a.Beside() {
		return
	}
	u.steps++
	if !a.Completed.IsZero() {
		u.time += a.Completed.Sub(a.Created)
	}
}

// newPurse returns what holds a turn to the budget, or nil where there is none.
func newPurse(r *runner, spent *turn.Spent) *purse {
	if r.inst.Config.Budget == (config.Budget{}) {
		return nil
	}
	return &purse{r: r, budget: r.inst.Config.Budget, spent: spent}
}

func (p *purse) allowance(s scope) config.Allowance {
	return [...]config.Allowance{p.budget.Session, p.budget.Day, p.budget.Project}[s]
}

// check returns why no further request may be made. It asks the person where a limit is
// reached; each yes is worth as much again as the limit.
func (p *purse) check(ctx context.Context, model *provider.Model, ask func(context.Context, tool.Request) error) lathe.Failure {
	p.mu.Lock()
	defer p.mu.Unlock() // subagents wait while the person is asked
	if p.read.IsZero() || p.r.s.opts.Now().Sub(p.read) > purseAge {
		if err := p.readUsed(ctx); err != nil {
			return &lathe.UnknownFailure{Message: "the budget could not be read: " + err.Error()}
		}
	}
	if f := p.priced(ctx, model, ask); f != nil {
		return f
	}
	steps, cost, tokens := p.spent.Total()
	for s := range scopes {
		now := p.used[s]
		now.cost += cost - p.base.cost
		now.tokens += tokens.Total() - p.base.tokens
		now.steps += steps - p.base.steps
		f := over(p.allowance(s), p.given[s]+1, now, s)
		if f == nil {
			continue
		}
		err := ask(ctx, tool.Request{Permission: "budget", Patterns: []string{s.String()}, Metadata: map[string]any{"reason": f.Message, tool.MetaProtected: true}})
		if err != nil {
			if ctx.Err() != nil {
				return &lathe.AbortedFailure{Message: context.Cause(ctx).Error()}
			}
			return f
		}
		p.given[s]++
	}
	return nil
}

// priced sees to it that a budget of money does not take a model whose price is not
// known for one that costs nothing.
func (p *purse) priced(ctx context.Context, model *provider.Model, ask func(context.Context, tool.Request) error) lathe.Failure {
	if p.noted || model.Priced() || p.budget.Session.Cost+p.budget.Day.Cost+p.budget.Project.Cost == 0 {
		return nil
	}
	why := fmt.Sprintf("the price of %s is not known, so a budget of money cannot hold it: set its \"cost\" in the configuration, or a budget of tokens", model.Ref)
	err := ask(ctx, tool.Request{Permission: "budget", Patterns: []string{model.Ref.String()}, Metadata: map[string]any{"reason": why, tool.MetaProtected: true}})
	if err != nil {
		if ctx.Err() != nil {
			return &lathe.AbortedFailure{Message: context.Cause(ctx).Error()}
		}
		return &lathe.LimitFailure{Limit: "cost", Message: why}
	}
	p.noted = true
	return nil
}

// over returns the limit that was reached, counted as often as it was given.
func over(a config.Allowance, times int, u usage, s scope) *lathe.LimitFailure {
	n := int64(times)
	say := func(limit, format string, args ...any) *lathe.LimitFailure {
		return &lathe.LimitFailure{Limit: limit, Message: fmt.Sprintf("the budget for %s is used up: ", s) + fmt.Sprintf(format, args...)}
	}
	switch cost := lathe.Money(a.Cost*1e12) * lathe.Money(n); {
	case a.Cost > 0 && u.cost >= cost:
		return say("cost", "%s of %s", u.cost, cost)
	case a.Tokens > 0 && u.tokens >= a.Tokens*n:
		return say("tokens", "%d of %d tokens", u.tokens, a.Tokens*n)
	case a.Steps > 0 && int64(u.steps) >= a.Steps*n:
		return say("steps", "%d of %d steps", u.steps, a.Steps*n)
	case a.Time > 0 && u.time >= time.Duration(a.Time)*time.Duration(n):
		return say("time", "%s of %s", u.time.Round(time.Second), time.Duration(a.Time)*time.Duration(n))
	}
	return nil
}

// readUsed reads what was used so far. What runs at the moment is counted by spent.
func (p *purse) readUsed(ctx context.Context) error {
	now := p.r.s.opts.Now()
	family, err := p.family(ctx)
	if err != nil {
		return err
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	since := midnight
	sess := p.r.current()
	if p.budget.Session != (config.Allowance{}) && sess.Created.Before(since) {
		since = sess.Created
	}
	if p.budget.Project != (config.Allowance{}) {
		since = time.Time{}
	}
	steps, cost, tokens := p.spent.Total()
	var used [scopes]usage
	err = p.r.s.opts.Store.Answers(ctx, since, func(a store.Answer) error {
		if family[a.Session] {
			used[forSession].add(a)
		}
		if !a.Created.Before(midnight) {
			used[forDay].add(a)
		}
		if a.Project == sess.ProjectID {
			used[forProject].add(a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.used, p.read, p.base = used, now, usage{cost: cost, tokens: tokens.Total(), steps: steps}
	return nil
}

// family returns the session and those of its subagents.
func (p *purse) family(ctx context.Context) (map[lathe.SessionID]bool, error) {
	out := map[lathe.SessionID]bool{p.r.current().ID: true}
	for next := []lathe.SessionID{p.r.current().ID}; len(next) > 0; next = next[1:] {
		children, err := p.r.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: next[0]})
		if err != nil {
			return nil, err
		}
		for _, c := range children {
			if !out[c.ID] {
				out[c.ID] = true
				next = append(next, c.ID)
			}
		}
	}
	return out, nil
}

// mayAside reports whether something may be asked of a model beside the work, such as a
// title: only what nobody has to be asked about.
func (p *purse) mayAside(ctx context.Context, model *provider.Model) bool {
	return p == nil || p.check(ctx, model, func(context.Context, tool.Request) error { return errOverBudget }) == nil
}

// count counts what was asked beside the work.
func (p *purse) count(m *provider.Model, u llm.Usage) {
	if p != nil {
		used := m.Tokens(u)
		p.spent.Add(m.Cost(used), used)
	}
}

var errOverBudget = errors.New("the budget is used up")

// budgetCheck is what a turn asks before each request; nil where there is no budget.
func (r *runner) budgetCheck(h *host, p *purse) func(context.Context, turn.Agent, *provider.Model) lathe.Failure {
	if p == nil {
		return nil
	}
	return func(ctx context.Context, agent turn.Agent, model *provider.Model) lathe.Failure {
		return p.check(ctx, model, func(ctx context.Context, req tool.Request) error {
			return h.Ask(ctx, permission.AskInput{
				SessionID: r.current().ID, Request: req,
				Policy: permission.Policy{Rules: h.rulesOf(agent), Ceilings: append([][]lathe.Rule{{{Permission: "budget", Pattern: "*", Action: lathe.AskMe}}}, h.runCeilings()...)},
			})
		})
	}
}
