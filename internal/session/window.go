package session

import (
	"context"
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/turn"
)

// Window tells what occupies a session's window, for people.
type Window struct {
	Session lathe.Session
	Model   lathe.ModelRef
	Used    int64 // tokens of the next request, estimated and corrected
	Context int   // of the model; 0: unknown
	Usable  int64 // what is compacted at; 0: unknown
	Counted int64 // what the provider counted for the newest answer; 0: it did not
	Factor  float64

	Kinds []WindowEntry // what there is, largest first
	Parts []WindowEntry // the largest parts
	Stats ContextStats

	// Cached and Fresh are what the next request costs, with the prefix in the
	// provider's cache and without.
	Cached, Fresh lathe.Money
}

// WindowEntry is something that occupies the window.
type WindowEntry struct {
	Name   string
	Part   string // where it stands, for the recall tool: "12.3"
	Count  int
	Tokens int64
	Cost   lathe.Money // to send it once without a cache
}

// maxWindowParts is how many single parts are listed.
const maxWindowParts = 12

// Window weighs what a session would send with its next request.
func (s *Service) Window(ctx context.Context, id lathe.SessionID) (*Window, error) {
	r, err := s.runner(ctx, id)
	if err != nil {
		return nil, err
	}
	sess, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	agent, err := r.inst.PickAgent("", sess.Agent)
	if err != nil {
		return nil, err
	}
	ref, err := r.inst.PickModel(ctx, lathe.ModelRef{}, agent, sess.Model)
	if err != nil {
		return nil, err
	}
	model, err := r.inst.Model(ref)
	if err != nil {
		return nil, err
	}
	history, err := s.Live(ctx, id)
	if err != nil {
		return nil, err
	}
	h := &host{runner: r, toolsets: map[string]*turn.Toolset{}}
	user := &lathe.User{Agent: agent.Name, Model: ref}
	system, err := h.System(ctx, agent.Agent, model, user)
	if err != nil {
		return nil, err
	}
	var defs []llm.Tool
	for _, sp := range h.Tools(agent.Agent, model, user).Specs() {
		defs = append(defs, llm.Tool{Name: sp.Name, Description: sp.Description, Schema: model.Schema(sp.Schema)})
	}
	out := &Window{Session: sess, Model: ref, Context: model.Limit.Context, Usable: turn.Usable(model, r.turnContext(ctx).Settings)}
	if out.Stats, err = s.loadStats(ctx, id); err != nil {
		return nil, err
	}
	k := r.context.correction(model.Ref)
	out.Factor = k.Factor()
	t := tally{kinds: map[string]*WindowEntry{}, weigh: k.Apply, meter: compact.NewMeter()}
	sys, tools := compact.Fixed(system, defs)
	t.add("system prompt and instructions", "", sys, len(system))
	t.add("tool definitions", "", tools, len(defs))
	view := prompt.View(history)
	for i := range view {
		t.message(&view[i])
		if a := compact.Answer(&view[i]); a != nil && a.Finish != "" && !a.Summary {
			out.Counted = a.Tokens.Total()
		}
	}
	t.finish(out, func(n int64) lathe.Money { return model.Cost(lathe.Tokens{Input: n}) })
	out.Fresh = model.Cost(lathe.Tokens{Input: out.Used})
	out.Cached = model.Cost(lathe.Tokens{CacheRead: out.Used})
	return out, nil
}

// tally sums what a window holds by kind.
type tally struct {
	kinds map[string]*WindowEntry
	parts []WindowEntry
	weigh func(int64) int64
	meter *compact.Meter
}

func (t *tally) add(kind, part string, raw int64, n int) {
	w := t.weigh(raw)
	e := t.kinds[kind]
	if e == nil {
		e = &WindowEntry{Name: kind}
		t.kinds[kind] = e
	}
	e.Tokens += w
	e.Count += n
	if part != "" && w > 0 {
		t.parts = append(t.parts, WindowEntry{Name: kind, Part: part, Count: 1, Tokens: w})
	}
}

func (t *tally) message(m *lathe.Message) {
	if a := compact.Answer(m); a != nil && a.Error != nil && t.meter.Message(m) == 0 {
		return
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if w := t.meter.Part(p.Body); w > 0 {
			t.add(kindOf(m, p.Body), fmt.Sprintf("%d.%d", m.Seq, p.Seq), w, 1)
		}
	}
}

// kindOf names a part as people think of it.
func kindOf(m *lathe.Message, b lathe.PartBody) string {
	a := compact.Answer(m)
	switch b := b.(type) {
	case *lathe.Text:
		switch {
		case a != nil && a.Summary && b.Synthetic:
			return "ledger"
		case a != nil && a.Summary:
			return "summary"
		case a != nil:
			return "answers"
		case b.Synthetic:
			return "attached text and reminders"
		}
		return "your messages"
	case *lathe.Reasoning:
		return "reasoning"
	case *lathe.File:
		return "images and files"
	case *lathe.ToolCall:
		if done, ok := b.State.(*lathe.ToolDone); ok && !done.Compacted.IsZero() {
			return "cleared tool output"
		}
		return "tool " + b.Tool
	}
	return "other"
}

func (t *tally) finish(out *Window, cost func(int64) lathe.Money) {
	for _, e := range t.kinds {
		out.Used += e.Tokens
		out.Kinds = append(out.Kinds, *e)
	}
	larger := func(a, b WindowEntry) int {
		if a.Tokens != b.Tokens {
			return int(b.Tokens - a.Tokens)
		}
		if a.Name != b.Name {
			return map[bool]int{true: -1, false: 1}[a.Name < b.Name]
		}
		return map[bool]int{true: -1, false: 1}[a.Part < b.Part]
	}
	slices.SortFunc(out.Kinds, larger)
	slices.SortFunc(t.parts, larger)
	out.Parts = t.parts[:min(len(t.parts), maxWindowParts)]
	for i := range out.Kinds {
		out.Kinds[i].Cost = cost(out.Kinds[i].Tokens)
	}
	for i := range out.Parts {
		out.Parts[i].Cost = cost(out.Parts[i].Tokens)
	}
}
