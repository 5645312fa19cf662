package turn

import (
	"context"
	"slices"
	"time"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/ledger"
	"lathe/internal/llm"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/tokens"
)

// Context keeps a turn's history within the model's window, and says what it needs from the session
// to do so. The functions are called from the turn's own goroutine.
type Context struct {
	compact.Settings
	// Correction returns how a model's counts differ from the estimates, as learned so far.
	Correction func(lathe.ModelRef) *tokens.Correction
	// Facts returns what the ledger knows about the messages before the live history, and the
	// newest summary among them ("" if there is none), including everything stored so far.
	Facts func(ctx context.Context, newest lathe.MessageID) (*ledger.Facts, error)
	// Compacting reports that a compaction begins, or that it ended without success.
	Compacting func(ctx context.Context, on bool) error
	// Install makes a compaction take effect, completely or not at all, and publishes it. It
	// returns the user messages that arrived in the meantime.
	Install func(ctx context.Context, c *Compacted) ([]lathe.Message, error)
	// Sent is called with each request before it is made; may be nil.
	Sent func(req *llm.Request)
	// Pruned is called with the number of parts that a prune changed and the tokens it freed.
	Pruned func(ctx context.Context, parts int, freed int64)
	// Recall is set if the model has a tool to read what left the window.
	Recall bool
	// Root is what paths in the ledger are relative to.
	Root string
}

// CompactNow is a compaction that a user asked for.
type CompactNow struct {
	Model lathe.ModelRef // zero: the newest message's
	Auto  bool           // the model goes on afterwards
	By    string         // who asked for it, where people have names
}

// Compacted is a compaction that is ready to take effect. Install gives the new messages their
// sequence numbers.
type Compacted struct {
	Ask      lathe.Message // the user message that asks for it; stored already if it has a Seq
	Summary  lathe.Message
	Continue *lathe.Message // tells the model to go on; nil: it waits for the user
	// GoOn makes Continue from the messages that arrived in the meantime; nil if there is none.
	GoOn   func(arrived []lathe.Message) *lathe.Message
	Tail   *lathe.Message // the first message that stays word for word; nil: none
	Facts  *ledger.Facts
	Cost   lathe.Money
	Tokens lathe.Tokens
}

// window is what a turn knows about how full its model's window is.
type window struct {
	meter    *compact.Meter
	learned  int64           // the most that the model accepted, learned from a refusal; 0: unknown
	counted  lathe.MessageID // the newest answer whose usage was taken into account
	freed    int64           // by prunes since then
	pruned   time.Time       // when the newest of them was
	inARow   int             // compactions in a row with too little work between them
	lastStep int             // the step count at the latest compaction

	system       []string // the blocks that promptWeight and toolsWeight were measured for
	tools        *Toolset
	promptWeight int64
	toolsWeight  int64
}

// maxCompactions is how often a turn may compact without working in between.
const maxCompactions = 3

// workSteps is how many steps count as having worked.
const workSteps = 10

// load is what the next request weighs.
type load struct {
	used   int64 // tokens, as well as is known
	usable int64 // 0: unknown
	fixed  int64 // the system prompt and tools, corrected
	prompt int64
	tools  int64
}

func (l load) full() bool { return l.usable > 0 && l.used >= l.usable }

// measure weighs the next request. It starts from the provider's count for the last answer if that
// can be trusted, and estimates only what came after; otherwise it estimates everything.
func (d *draft) measure(ctx context.Context) (load, error) {
	w := d.win()
	system, err := d.Host.System(ctx, d.agent, d.model, d.user.Info.(*lathe.User))
	if err != nil {
		return load{}, err
	}
	k := d.Context.Correction(d.model.Ref)
	var l load
	promptRaw, toolsRaw := d.fixed(ctx, system)
	view := prompt.View(d.History)
	i := lastAnswer(view)
	if i >= 0 {
		a := compact.Answer(&view[i])
		before := promptRaw + toolsRaw + w.meter.Messages(view[:i])
		if view[i].ID != w.counted {
			w.counted, w.freed = view[i].ID, 0
			k.Observe(before, a.Tokens.Prompt())
		}
		if tokens.Plausible(before, a.Tokens.Prompt()) {
			l.used = a.Tokens.Total() + k.Apply(w.meter.Results(&view[i])+w.meter.Messages(view[i+1:])) - w.freed
		}
	}
	l.prompt, l.tools = k.Apply(promptRaw), k.Apply(toolsRaw)
	l.fixed = l.prompt + l.tools
	if l.used == 0 {
		l.used = l.fixed + k.Apply(w.meter.Messages(view))
	}
	l.usable = d.usable()
	return l, nil
}

// fixed weighs what every request begins with; it weighs it again only when that changed.
func (d *draft) fixed(ctx context.Context, system []string) (prompt, tools int64) {
	w := &d.window
	if w.tools == nil || w.tools != d.tools || !slices.Equal(w.system, system) {
		w.system, w.tools = slices.Clone(system), d.tools
		w.promptWeight, w.toolsWeight = compact.Fixed(system, d.toolDefs(ctx))
	}
	return w.promptWeight, w.toolsWeight
}

// lastAnswer returns the newest answer whose count applies to this view: if there is a summary, one
// that is later than it.
func lastAnswer(view []lathe.Message) int {
	var since int64
	for i := range view {
		if a := compact.Answer(&view[i]); a != nil && a.Summary {
			since = view[i].Seq
		}
	}
	for i := len(view) - 1; i >= 0; i-- {
		a := compact.Answer(&view[i])
		if a != nil && a.Finish != "" && !a.Summary {
			if view[i].Seq < since {
				return -1
			}
			return i
		}
	}
	return -1
}

func (t *Turn) win() *window {
	if t.window.meter == nil {
		t.window.meter = compact.NewMeter()
	}
	return &t.window
}

func (d *draft) usable() int64 {
	n := windowOf(d.model, d.Context.Settings).Usable()
	if learned := d.window.learned; learned > 0 && (n == 0 || learned < n) {
		return learned
	}
	return n
}

func windowOf(m *provider.Model, set compact.Settings) compact.Window {
	out := m.Limit.Output
	if out <= 0 || out > provider.DefaultOutputMax {
		out = provider.DefaultOutputMax
	}
	return compact.Window{Context: m.Limit.Context, Input: m.Limit.Input, Output: out, Reserved: set.Reserved}
}

// fit makes room before a step: it prunes if that pays off and compacts if the window is full.
// again means that the history changed and the loop has to look at it again.
func (t *Turn) fit(ctx context.Context, c cast) (again bool, failure lathe.Failure, err error) {
	if t.Context == nil {
		return false, nil, nil
	}
	if mark := prompt.Mark(c.user); mark != nil {
		failure, err = t.compaction(ctx, c, compaction{auto: mark.Auto, overflow: mark.Overflow, ask: c.user})
		return true, failure, err
	}
	d := &draft{Turn: t, cast: c}
	l, err := d.measure(ctx)
	if err != nil {
		return false, nil, nil // the step reports it
	}
	if t.Context.Prune {
		freed, err := t.prune(ctx, compact.PruneByWorth(t.History, t.window.meter, l.used, l.usable))
		if err != nil {
			return false, nil, err
		}
		l.used -= t.Context.Correction(d.model.Ref).Apply(freed)
	}
	if !t.Context.Auto || !l.full() {
		return false, nil, nil
	}
	// What one step has read may be more than a window holds. It gets half of the window.
	if _, err := d.cutUnseen(ctx, (l.usable-l.fixed)/2); err != nil {
		return false, nil, err
	}
	if l, err = d.measure(ctx); err != nil || !l.full() {
		return false, nil, nil // the step reports it
	}
	failure, err = t.compaction(ctx, c, compaction{auto: true, weighed: &l})
	return true, failure, err
}

// prune clears the outputs of a plan from the model's view, all at once.
func (t *Turn) prune(ctx context.Context, p compact.Plan) (freed int64, err error) {
	if len(p.Parts) == 0 {
		return 0, nil
	}
	now := t.pruneTime()
	changes := make([]Change, len(p.Parts))
	for i, part := range p.Parts {
		call := *part.Body.(*lathe.ToolCall)
		done := *call.State.(*lathe.ToolDone)
		done.Compacted = now
		call.State = &done
		next := *part
		next.Body = &call
		changes[i] = Change{Part: &next}
	}
	if err := t.Log.Commit(ctx, changes...); err != nil {
		return 0, err
	}
	for i, part := range p.Parts {
		part.Body = changes[i].Part.Body
	}
	t.window.freed += p.Tokens
	t.Logger.Info("old tool output was cleared from the model's view", "session", t.Session.ID, "parts", len(p.Parts), "tokens", p.Tokens)
	if t.Context.Pruned != nil {
		t.Context.Pruned(ctx, len(p.Parts), p.Tokens)
	}
	return p.Tokens, nil
}

// pruneTime returns the time at which outputs count as cleared: after the step that still saw them
// and before the next one, in the milliseconds that are stored.
func (t *Turn) pruneTime() time.Time {
	now := t.Now()
	if m := t.newestAssistant(); m != nil {
		if next := m.Created.Truncate(time.Millisecond).Add(time.Millisecond); now.Before(next) {
			now = next
		}
	}
	t.window.pruned = now
	return now
}

// pruneEnd prunes by age when a turn has ended.
func (t *Turn) pruneEnd(ctx context.Context) error {
	if t.Context == nil || !t.Context.Prune || ctx.Err() != nil {
		return nil
	}
	_, err := t.prune(ctx, compact.PruneOld(t.History, t.win().meter))
	return err
}

// run carries out a compaction that was asked for, then the loop, then prunes.
func (t *Turn) run(ctx context.Context) (Outcome, error) {
	if t.Compact != nil && t.Context != nil {
		user := t.newestUser()
		if user == nil || len(prompt.View(t.History)) < 2 {
			return Outcome{}, lathe.Errorf(lathe.CodeInvalid, "send a prompt first", "session %s has nothing to compact", t.Session.ID)
		}
		user = t.Compact.asks(user)
		ctx := askedBy(ctx, user)
		c, f := t.castFor(ctx, user)
		var err error
		if f == nil {
			f, err = t.compaction(ctx, c, compaction{auto: t.Compact.Auto, manual: true})
		}
		if f != nil {
			t.Log.Publish(lathe.SessionFailed{SessionID: t.Session.ID, Failure: f})
		}
		if err != nil || f != nil || !t.Compact.Auto {
			return Outcome{Failure: f}, err
		}
	}
	out, err := t.loop(ctx)
	if err == nil {
		err = t.pruneEnd(ctx)
	}
	return out, err
}

// sent passes each request to the session before it is made.
func (d *draft) sent(req *llm.Request) {
	if d.Context != nil && d.Context.Sent != nil {
		d.Context.Sent(req)
	}
}

// Usable returns how full a model's window may get before history is compacted,
// or 0 when that is not known.
func Usable(m *provider.Model, set compact.Settings) int64 { return windowOf(m, set).Usable() }

// asks returns the newest user message as if whoever asked for the compaction had sent it.
func (c *CompactNow) asks(user *lathe.Message) *lathe.Message {
	other, info := *user, *user.Info.(*lathe.User)
	info.By = c.By
	if !c.Model.IsZero() {
		info.Model = c.Model
	}
	other.Info = &info
	return &other
}
