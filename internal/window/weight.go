package window

import (
	"fmt"
	"slices"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/tokens"
)

// Weight tells what occupies a session's window, for people.
type Weight struct {
	Session lathe.Session
	Model   lathe.ModelRef
	Used    int64 // tokens of the next request, estimated and corrected
	Context int   // of the model; 0: unknown
	Usable  int64 // what is compacted at; 0: unknown
	Counted int64 // what the provider counted for the newest answer; 0: it did not
	Factor  float64

	Kinds []Entry // what there is, largest first
	Parts []Entry // the largest parts
	Stats Stats

	// Cached and Fresh are what the next request costs, with the prefix in the
	// provider's cache and without.
	Cached, Fresh lathe.Money
}

// Entry is something that occupies the window.
type Entry struct {
	Name   string
	Part   string // where it stands, for the recall tool: "12.3"
	Count  int
	Tokens int64
	Cost   lathe.Money // to send it once without a cache
}

// maxParts is how many single parts are listed.
const maxParts = 12

// Input is what the next request of a session is made of.
type Input struct {
	Model   *provider.Model
	System  []string
	Tools   []llm.Tool
	History []lathe.Message // what the model still sees something of
}

// Weigh fills in what the input weighs. What of it is known already stays.
func (w *Weight) Weigh(in Input, k *tokens.Correction) {
	w.Factor = k.Factor()
	t := tally{kinds: map[string]*Entry{}, weigh: k.Apply, meter: compact.NewMeter()}
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
	t.finish(w, func(n int64) lathe.Money { return in.Model.Cost(lathe.Tokens{Input: n}) })
	w.Fresh = in.Model.Cost(lathe.Tokens{Input: w.Used})
	w.Cached = in.Model.Cost(lathe.Tokens{CacheRead: w.Used})
}

// tally sums what a window holds by kind.
type tally struct {
	kinds map[string]*Entry
	parts []Entry
	weigh func(int64) int64
	meter *compact.Meter
}

func (t *tally) add(kind, part string, raw int64, n int) {
	w := t.weigh(raw)
	e := t.kinds[kind]
	if e == nil {
		e = &Entry{Name: kind}
		t.kinds[kind] = e
	}
	e.Tokens += w
	e.Count += n
	if part != "" && w > 0 {
		t.parts = append(t.parts, Entry{Name: kind, Part: part, Count: 1, Tokens: w})
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

func (t *tally) finish(out *Weight, cost func(int64) lathe.Money) {
	for _, e := range t.kinds {
		out.Used += e.Tokens
		out.Kinds = append(out.Kinds, *e)
	}
	larger := func(a, b Entry) int {
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
	out.Parts = t.parts[:min(len(t.parts), maxParts)]
	for i := range out.Kinds {
		out.Kinds[i].Cost = cost(out.Kinds[i].Tokens)
	}
	for i := range out.Parts {
		out.Parts[i].Cost = cost(out.Parts[i].Tokens)
	}
}
