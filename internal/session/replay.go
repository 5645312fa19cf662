package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/say"
	"lathe/internal/turn"
	"lathe/internal/window"
)

// Replay rebuilds the requests of a session from what is stored, with the code that
// made them, and compares each with the one before it. If step is not 0, only that
// request is returned, in full; otherwise all are, each with only what the one before
// did not have.
func (v *Windows) Replay(ctx context.Context, id lathe.SessionID, step int) (api.Replay, error) {
	r, err := v.s.runner(ctx, id)
	if err != nil {
		return api.Replay{}, err
	}
	all, err := v.s.Messages(ctx, id, 0)
	if err != nil {
		return api.Replay{}, err
	}
	p := &replaying{runner: r, all: all}
	for i := range all {
		if turn.Answers(all, i) {
			p.answers = append(p.answers, i)
		}
	}
	if step < 0 || step > len(p.answers) {
		return api.Replay{}, lathe.Errorf(lathe.CodeNotFound, "they are numbered from 1; leave the number out to see them all",
			"session %s has %s, not %d", id, say.Plural(len(p.answers), "request"), step)
	}
	out := api.Replay{SessionID: id, Title: r.current().Title, Count: len(p.answers), Steps: []api.ReplayStep{}}
	if out.Notes, err = p.notes(ctx); err != nil {
		return api.Replay{}, err
	}
	for n := range p.answers {
		if step != 0 && n != step-1 && n != step-2 {
			continue
		}
		told, err := p.step(ctx, n, step != 0)
		if err != nil {
			return api.Replay{}, err
		}
		if step == 0 || n == step-1 {
			out.Steps = append(out.Steps, told)
		}
	}
	return out, nil
}

// replaying rebuilds the requests of a session, in order.
type replaying struct {
	*runner
	all     []lathe.Message
	answers []int        // their indexes in all
	before  *llm.Request // the last request that could be rebuilt
}

// notes says what is not stored for any request.
func (p *replaying) notes(ctx context.Context) ([]string, error) {
	notes := []string{"tools, agents, models and their settings are those of now: what the configuration said before, and the rules of a single run, are not stored"}
	sess := p.current()
	if sess.Version != lathe.Version {
		notes = append(notes, fmt.Sprintf("the session was begun with lathe %s, whose texts may have been others than those of %s", sess.Version, lathe.Version))
	}
	stored, err := p.window.Stored(ctx)
	if err == nil && !stored {
		notes = append(notes, "no system prompt is stored with the session, as with one that was imported: it is made of what there is now")
	}
	if p.inst.Hooks.Has() {
		notes = append(notes, "hooks of plugins took part, and have taken part again")
	}
	return notes, err
}

func (p *replaying) step(ctx context.Context, n int, whole bool) (api.ReplayStep, error) {
	i := p.answers[n]
	info := p.all[i].Info.(*lathe.Assistant)
	out := api.ReplayStep{Number: n + 1, Answer: p.all[i].ID, Kind: "step", Agent: info.Agent, Model: info.Model.String()}
	if info.Summary {
		out.Kind = "compaction"
	}
	frozen, ok, err := p.frozen(ctx, i)
	if err != nil {
		return out, err
	}
	if !ok {
		out.Notes = []string{"a compaction has made the system prompt anew since, and what it was before is not stored: date, branch, instructions and skills in it are those of a later window"}
	}
	req, notes, failure := p.turn(ctx, i, frozen).Replay(ctx, p.all, i)
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if failure != nil {
		out.Notes = append(out.Notes, "the request cannot be made again: "+failure.Error())
		return out, nil
	}
	out.Notes, out.Request = append(out.Notes, notes...), window.Request(req)
	if p.before != nil {
		out.Change = window.Changed(p.before, req)
		out.Change.Because = p.because(n, out.Change)
	}
	if !whole {
		out.Request = window.Added(out.Request, out.Change)
	}
	p.before = req
	return out, nil
}

// turn returns the turn that answered the message at i, as far as its requests go.
func (p *replaying) turn(ctx context.Context, i int, frozen *window.Window) *turn.Turn {
	h := &pastHost{host{runner: p.runner, toolsets: map[string]*turn.Toolset{}, past: &past{frozen, summarised(p.all[:i])}}}
	if prompt.Alone(p.all[:i]) {
		h.rules = []lathe.Rule{{Permission: "question", Pattern: "*", Action: lathe.Deny}}
	}
	return &turn.Turn{
		Session: *p.current(), Host: h, IDs: p.ids.Load(), Hooks: p.inst.Hooks, Now: p.s.opts.Now, Context: p.turnContext(ctx),
	}
}

// frozen returns the window in which the message at i was answered, and whether it
// is known: the one that the next summary closed, or the newest.
func (p *replaying) frozen(ctx context.Context, i int) (w *window.Window, ok bool, err error) {
	for _, m := range p.all[i:] {
		if a, is := m.Info.(*lathe.Assistant); is && a.Summary && a.Error == nil {
			return p.window.Before(ctx, m.ID)
		}
	}
	return p.window, true, nil
}

// pastHost answers a turn with what was frozen in an earlier window.
type pastHost struct{ host }

// past is what a session's window was when a request was made.
type past struct {
	frozen    *window.Window
	compacted bool // something had already left the window
}

// summarised reports whether messages hold a summary that took effect.
func summarised(list []lathe.Message) bool {
	return slices.ContainsFunc(list, func(m lathe.Message) bool {
		a, ok := m.Info.(*lathe.Assistant)
		return ok && a.Summary && a.Error == nil
	})
}

// System returns the system blocks of that window.
func (h *pastHost) System(ctx context.Context, a turn.Agent, m *provider.Model, u *lathe.User) ([]string, error) {
	return h.past.frozen.System(ctx, a, m, h.inst.Agents.Offering(a, h.rulesOf(a)), u.System)
}

// because says why a request does not begin with the one before it, if that is known.
func (p *replaying) because(n int, c *api.Change) string {
	if c.Differs == "" {
		return ""
	}
	before, now := &p.all[p.answers[n-1]], &p.all[p.answers[n]]
	a, b := before.Info.(*lathe.Assistant), now.Info.(*lathe.Assistant)
	switch {
	case a.Summary:
		return "compaction"
	case a.Agent != b.Agent && !b.Summary:
		return "another agent"
	case a.Model != b.Model:
		return "another model"
	case p.pruned(before.Created, now.Created):
		return "prune"
	}
	return ""
}

// pruned reports whether outputs were cleared between two times.
func (p *replaying) pruned(from, to time.Time) bool {
	return slices.ContainsFunc(p.all, func(m lathe.Message) bool {
		return slices.ContainsFunc(m.Parts, func(part lathe.Part) bool {
			call, ok := part.Body.(*lathe.ToolCall)
			if !ok {
				return false
			}
			done, ok := call.State.(*lathe.ToolDone)
			return ok && done.Compacted.After(from) && !done.Compacted.After(to)
		})
	})
}
