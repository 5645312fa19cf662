package window

import (
	"fmt"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/order"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/tokens"
)

// maxParts is how many single parts are listed.
const maxParts = 12

// Input is what the next request of a session is made of.
type Input struct {
	Model   *provider.Model
	System  []string
	Tools   []llm.Tool
	History []lathe.Message // what the model still sees, at least in part
	Usable  int64           // where compaction begins, in tokens; 0: unknown
	Compact compact.Settings
}

// Weigh returns what the input weighs, and what it costs to send.
func Weigh(in Input, k *tokens.Correction) api.Window {
	w := api.Window{Limit: int64(in.Model.Limit.Context), Factor: k.Factor(), Kinds: []api.Portion{}, Parts: []api.Portion{}}
	t := tally{kinds: map[string]*api.Portion{}, weigh: k.Apply, meter: compact.NewMeter()}
	sys, tools := compact.Fixed(in.System, in.Tools)
	t.add("system prompt and instructions", "", sys, len(in.System))
	t.add("tool definitions", "", tools, len(in.Tools))
	view := prompt.View(in.History)
	for i := range view {
		t.message(&view[i])
		if a := compact.Answer(&view[i]); a != nil && a.Finish != "" && !a.Summary {
			w.Counted = a.Tokens.Total()
		}
	}
	t.finish(&w, func(n int64) lathe.Money { return in.Model.Cost(lathe.Tokens{Input: n}) })
	w.Usable, w.Frees = in.Usable, min(w.Used, freed(in, view, k))
	w.Cost, w.CostCached = in.Model.Cost(lathe.Tokens{Input: w.Used}), in.Model.Cost(lathe.Tokens{CacheRead: w.Used})
	w.Fresh, w.Cached = w.Cost.String(), w.CostCached.String()
	return w
}

// freed returns how many tokens a compaction would replace by a summary.
func freed(in Input, view []lathe.Message, k *tokens.Correction) (n int64) {
	turns, meter := 0, compact.NewMeter()
	if in.Compact.TailTurns != nil {
		turns = *in.Compact.TailTurns
	}
	weigh := func(m *lathe.Message) int64 { return k.Apply(meter.Message(m)) }
	kept := compact.Tail(view, turns, in.Compact.TailBudget(in.Usable), weigh)
	for i := range view[:kept.Start] {
		n += weigh(&view[i])
	}
	return n
}

// tally sums what a window holds by kind.
type tally struct {
	kinds map[string]*api.Portion
	parts []api.Portion
	weigh func(int64) int64
	meter *compact.Meter
}

func (t *tally) add(kind, part string, raw int64, n int) {
	w := t.weigh(raw)
	e := t.kinds[kind]
	if e == nil {
		e = &api.Portion{Name: kind}
		t.kinds[kind] = e
	}
	e.Tokens += w
	e.Count += n
	if part != "" && w > 0 {
		t.parts = append(t.parts, api.Portion{Name: kind, Part: part, Count: 1, Tokens: w})
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

// kindOf names a part the way people think of it.
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

func (t *tally) finish(out *api.Window, cost func(int64) lathe.Money) {
	for _, e := range t.kinds {
		out.Used += e.Tokens
		out.Kinds = append(out.Kinds, *e)
	}
	larger := func(a, b api.Portion) int {
		if a.Tokens != b.Tokens {
			return int(b.Tokens - a.Tokens)
		}
		if a.Name != b.Name {
			return map[bool]int{true: -1, false: 1}[a.Name < b.Name]
		}
		return map[bool]int{true: -1, false: 1}[a.Part < b.Part]
	}
	order.Stable(out.Kinds, larger)
	order.Stable(t.parts, larger)
	out.Parts = append(out.Parts, t.parts[:min(len(t.parts), maxParts)]...)
	for i := range out.Kinds {
		out.Kinds[i].Cost = cost(out.Kinds[i].Tokens)
	}
	for i := range out.Parts {
		out.Parts[i].Cost = cost(out.Parts[i].Tokens)
	}
}
