package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/ledger"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/provider"
)

// continueText asks the model to go on after a compaction that it did not ask for.
const continueText = "Continue with the next step if there is one; the work and the task list above say where you are. Otherwise stop and say what is left for the user to decide."

// compaction says why one is needed.
type compaction struct {
	auto     bool // the model goes on afterwards
	manual   bool // a user asked for it: without a summary nothing changes
	overflow bool // the provider refused a request for its size
	ask      *lathe.Message
	weighed  *load // the measured next request, if it was measured already
}

// summary is what the model answered; an empty text means that it did not.
type summary struct {
	text   string
	model  lathe.ModelRef
	usage  lathe.Tokens
	cost   lathe.Money
	finish lathe.Finish
}

// compactor carries out one compaction for the message that is to be answered: it
// asks for the summary and arranges the messages that take the place of the old ones.
type compactor struct {
	draft
	compaction
	load load // what the next request weighs without the compaction
}

// compaction replaces old history with a summary and a ledger. Nothing is stored until the result
// is there and fits: whatever ends it earlier leaves the session as it was. The failure says why it
// cannot be done.
func (t *Turn) compaction(ctx context.Context, who cast, c compaction) (failure lathe.Failure, err error) {
	d := draft{Turn: t, cast: who}
	if c.weighed == nil {
		l, err := d.measure(ctx)
		if err != nil {
			return classify(ctx, err, d.modelRef()), nil
		}
		c.weighed = &l
	}
	l := *c.weighed
	w := t.win()
	if t.budget.steps-w.lastStep > workSteps {
		w.inARow = 0
	}
	if w.inARow++; w.inARow > maxCompactions {
		return d.tooLarge(l, fmt.Sprintf("after %d compactions in a row", maxCompactions)), nil
	}
	if l.usable > 0 && l.fixed+ledger.DefaultBudget/2 >= l.usable {
		return d.tooLarge(l, "whatever is compacted"), nil
	}
	w.lastStep = t.budget.steps
	if err := t.Context.Compacting(ctx, true); err != nil {
		return nil, err
	}
	done, failure, err := t.carryOut(ctx, &compactor{draft: d, compaction: c, load: l})
	if !done {
		save, cancel := Saving(ctx)
		defer cancel()
		err = errors.Join(err, t.Context.Compacting(save, false))
	}
	return failure, err
}

func (t *Turn) carryOut(ctx context.Context, c *compactor) (done bool, failure lathe.Failure, err error) {
	facts, err := t.facts(ctx)
	if err != nil {
		return false, nil, err
	}
	sum, failure := c.summarise(ctx)
	if failure != nil {
		return false, failure, nil
	}
	if sum.text == "" {
		if c.manual {
			return false, &lathe.UnknownFailure{Message: "the model gave no usable summary; nothing was changed. Try again, or with another model"}, nil
		}
		t.Logger.Warn("the model gave no usable summary; the ledger stands in for it", "session", t.Session.ID)
	}
	out, failure := c.arrange(ctx, sum, facts)
	if failure != nil {
		return false, failure, nil
	}
	arrived, err := t.Context.Install(ctx, out)
	if err != nil {
		return false, nil, err
	}
	t.replace(out, arrived)
	t.Logger.Info("history was compacted", "session", t.Session.ID, "auto", c.auto, "tokens", c.load.used)
	return true, nil, nil
}

// facts returns the ledger of the whole session.
func (t *Turn) facts(ctx context.Context) (*ledger.Facts, error) {
	newest := lathe.MessageID("")
	if view := prompt.View(t.History); len(view) > 1 {
		if a := compact.Answer(&view[1]); a != nil && a.Summary {
			newest = view[1].ID
		}
	}
	facts, err := t.Context.Facts(ctx, newest)
	if err != nil {
		return nil, err
	}
	facts.Add(t.History)
	return facts, nil
}

// replace makes what the store now returns the live history.
func (t *Turn) replace(c *Compacted, arrived []lathe.Message) {
	var kept []lathe.Message
	if c.Tail != nil {
		i := slices.IndexFunc(t.History, func(m lathe.Message) bool { return m.ID == c.Tail.ID })
		if i < 0 {
			i = len(t.History)
		}
		for _, m := range t.History[i:] {
			if m.ID != c.Ask.ID {
				kept = append(kept, m)
			}
		}
	}
	kept = append(kept, arrived...)
	kept = append(kept, c.Ask, c.Summary)
	if c.Continue != nil {
		kept = append(kept, *c.Continue)
	}
	t.History = kept
	t.window.counted, t.window.freed = "", 0
	t.Loop.Reset()
}

// tooLarge explains what fills a window from which nothing can be cleared.
func (d *draft) tooLarge(l load, when string) lathe.Failure {
	return &lathe.OverflowFailure{Message: fmt.Sprintf(
		"the conversation does not fit the window of %s, %s: the system prompt and instructions take %d tokens, the tools %d, of %d usable, and the newest messages what is left; "+
			"shorten the instruction files, switch tools off, or choose a model with a larger window (see: lathe context)",
		d.model.Ref, when, l.prompt, l.tools, l.usable)}
}

// summarise asks for the summary. It uses the running prefix, which the provider has cached; if
// that does not fit, or if another model is set for summaries, it sends a transcript. An empty text
// means that no answer was usable. A failure means that the provider could not be asked.
func (c *compactor) summarise(ctx context.Context) (summary, lathe.Failure) {
	agent, model, own := c.summariser(ctx)
	hooked := c.Hooks.Compacting(ctx, plugin.CompactingInput{SessionID: c.Session.ID, Auto: c.auto}, plugin.Compacting{Prompt: c.override(agent)})
	request := compact.Request(hooked.Prompt, hooked.Context)
	window := int64(model.Limit.Context)
	shared := !own && !c.overflow && (window == 0 || c.load.used+2000 < window)
	budget := c.load.usable
	if own || budget <= 0 {
		budget = windowOf(model, c.Context.Settings).Usable()
	}
	if budget <= 0 {
		budget = max(c.load.used/2, 8000)
	}
	for try := 0; try < 3; try++ {
		var sum summary
		var failure lathe.Failure
		if shared {
			req, err := c.sharedRequest(ctx, request)
			if err != nil {
				return summary{}, classify(ctx, err, c.modelRef())
			}
			sum, failure = c.askSummary(ctx, model, req, request)
		} else {
			sum, failure = c.inPasses(ctx, &summariser{agent, model, request}, budget*7/10)
		}
		_, refused := failure.(*lathe.OverflowFailure)
		switch {
		case refused:
			shared, budget = false, budget/2
			continue
		case failure != nil:
			return summary{}, failure
		case sum.text == "" && try == 0:
			continue // try once more; a stray empty answer is not worth losing the summary for
		}
		return sum, nil
	}
	return summary{model: model.Ref}, nil
}

// summariser returns the compaction agent and its model, and whether that model differs from the
// conversation's.
func (c *compactor) summariser(ctx context.Context) (Agent, *provider.Model, bool) {
	agent, err := c.Host.Agent("compaction")
	if err != nil {
		return Agent{}, c.model, false
	}
	if agent.Model.IsZero() || (agent.Model.Provider == c.model.Ref.Provider && agent.Model.Model == c.model.Ref.Model) {
		return agent, c.model, false
	}
	model, err := c.Host.Model(ctx, agent.Model)
	if err != nil {
		c.Logger.Warn("the model of the compaction agent cannot be used; the conversation's is", "model", agent.Model.String(), "err", err)
		return agent, c.model, false
	}
	return agent, model, true
}

// override returns the user's replacement for the built-in request: the configured one, else the
// compaction agent's own prompt.
func (c *compactor) override(agent Agent) string {
	if c.Context.Prompt != "" {
		return c.Context.Prompt
	}
	if agent.Prompt != prompt.AgentText("compaction") {
		return agent.Prompt
	}
	return ""
}

// sharedRequest is the request that the next step would make, with the question
// appended. Anthropic's cache of messages ends where the tool choice changes, so
// there it stays and the question alone forbids calls.
func (c *compactor) sharedRequest(ctx context.Context, question string) (*llm.Request, error) {
	req, err := c.request(ctx)
	if err != nil {
		return nil, err
	}
	ask := llm.Message{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: question}}}
	if n := len(req.Messages); n > 0 {
		last := req.Messages[n-1]
		req.Messages = append(req.Messages[:n-1:n-1], c.model.Normalize([]llm.Message{last, ask})...)
	}
	if len(req.Tools) > 0 && c.model.Protocol != provider.ProtocolAnthropic {
		req.Choice = llm.ChoiceNone
	}
	return req, nil
}

// askSummary reads one answer, repeating the request as a step does.
func (c *compactor) askSummary(ctx context.Context, model *provider.Model, req *llm.Request, question string) (summary, lathe.Failure) {
	for n := 1; ; n++ {
		sum, err := c.streamSummary(ctx, model, req, question)
		if err == nil {
			return sum, nil
		}
		failure := classify(ctx, err, model.Ref)
		if ctx.Err() != nil {
			return sum, failure
		}
		wait, again := c.Retries.next(n, err)
		if !again {
			return sum, c.Retries.explain(n, failure, err)
		}
		if err := c.wait(ctx, n, wait, failure); err != nil {
			return sum, classify(ctx, err, model.Ref)
		}
	}
}

// maxSummary bounds the bytes of a summary that are read.
const maxSummary = 256 << 10

func (c *compactor) streamSummary(ctx context.Context, model *provider.Model, req *llm.Request, question string) (summary, error) {
	sum := summary{model: model.Ref}
	var text strings.Builder
	for ev, err := range model.LLM.Stream(ctx, req) {
		if err != nil {
			return sum, err
		}
		switch ev := ev.(type) {
		case llm.TextDelta:
			if text.Len() < maxSummary {
				text.WriteString(ev.Text)
			}
		case llm.Finish:
			sum.finish = lathe.Finish(ev.Reason)
			sum.usage = model.Tokens(ev.Usage)
			sum.cost = model.Cost(sum.usage)
			c.budget.spend(sum.cost, sum.usage)
			if answer := strings.TrimSpace(text.String()); compact.Useful(answer, question, c.load.used-c.load.fixed) {
				sum.text = answer
			}
			return sum, nil
		}
	}
	if ctx.Err() != nil {
		return sum, context.Cause(ctx)
	}
	return sum, &llm.Error{Kind: llm.KindCut, Message: "the model's answer ended early", Retryable: true, RetryAfter: -1}
}

// arrange makes the messages of the compaction and checks that they help: the ledger is included,
// and everything fits comfortably in the window. A tail that is too large for that is dropped.
func (c *compactor) arrange(ctx context.Context, sum summary, facts *ledger.Facts) (*Compacted, lathe.Failure) {
	now := c.Now()
	out := &Compacted{Facts: facts, Cost: sum.cost, Tokens: sum.usage}
	out.Ask = c.askMessage(now)
	block := facts.Render(ledger.Options{Root: c.Context.Root, Recall: c.Context.Recall, Budget: c.ledgerBudget()})
	text := sum.text
	if text == "" {
		text = compact.NoSummary
	}
	out.Summary = lathe.Message{
		ID: c.IDs.Message(), SessionID: c.Session.ID, Created: now,
		Info: &lathe.Assistant{
			ParentID: out.Ask.ID, Agent: "compaction", Model: sum.model, Cwd: c.Session.Directory, Root: c.Session.Directory,
			Completed: now, Finish: lathe.FinishStop, Summary: true, Cost: sum.cost, Tokens: sum.usage,
		},
	}
	c.addPart(&out.Summary, &lathe.StepStart{})
	c.addPart(&out.Summary, &lathe.Text{Text: text, Time: lathe.Span{Start: now, End: now}})
	c.addPart(&out.Summary, &lathe.Text{Text: block, Synthetic: true, Time: lathe.Span{Start: now, End: now}})
	c.addPart(&out.Summary, &lathe.StepFinish{Reason: lathe.FinishStop, Cost: sum.cost, Tokens: sum.usage})
	if c.auto && c.Hooks.Autocontinue(ctx, plugin.AutocontinueInput{
		SessionID: c.Session.ID, Agent: c.agent.Name, Model: c.modelRef(), Message: *c.user, Overflow: c.overflow,
	}, true) {
		out.GoOn = func(arrived []lathe.Message) *lathe.Message { return c.continueMessage(now, arrived) }
	}
	i, failure := c.tail(ctx, c.Context.Correction(c.model.Ref).Apply(c.window.meter.Message(&out.Ask)+c.window.meter.Message(&out.Summary)))
	if failure != nil {
		return nil, failure
	}
	if i < len(c.History) {
		out.Tail = &c.History[i]
		mark := prompt.Mark(&out.Ask)
		mark.TailStart = out.Tail.ID
	}
	return out, nil
}

// ledgerBudget makes the ledger smaller for a small window.
func (c *compactor) ledgerBudget() int {
	if c.load.usable <= 0 {
		return ledger.DefaultBudget
	}
	return int(min(ledger.DefaultBudget, max(400, (c.load.usable-c.load.fixed)/4)))
}

// askMessage returns the message that asks for the compaction, whether it is stored already or new.
// Its mark may be changed.
func (c *compactor) askMessage(now time.Time) lathe.Message {
	info := *c.user.Info.(*lathe.User)
	info.Steers, info.System, info.Tools, info.Summary = false, "", nil, nil
	ask := lathe.Message{ID: c.IDs.Message(), SessionID: c.Session.ID, Created: now, Info: &info}
	if c.ask == nil {
		c.addPart(&ask, &lathe.CompactionMark{Auto: c.auto, Overflow: c.overflow})
		return ask
	}
	ask = *c.ask
	ask.Parts = slices.Clone(ask.Parts)
	for i, p := range ask.Parts {
		if mark, ok := p.Body.(*lathe.CompactionMark); ok {
			next := *mark
			ask.Parts[i].Body = &next
		}
	}
	return ask
}

// continueMessage asks the model to go on in the way the newest prompt asked, and repeats what only
// the messages that left the window said: the agent's mode.
func (c *compactor) continueMessage(now time.Time, arrived []lathe.Message) *lathe.Message {
	newest := c.user
	if n := len(arrived); n > 0 {
		newest = &arrived[n-1]
	}
	info := *newest.Info.(*lathe.User)
	info.Steers, info.Summary = false, nil
	m := &lathe.Message{ID: c.IDs.Message(), SessionID: c.Session.ID, Created: now, Info: &info}
	span := lathe.Span{Start: now, End: now}
	c.addPart(m, &lathe.Text{Text: continueText, Synthetic: true, Time: span})
	for _, note := range prompt.Changes(prompt.State{}, prompt.State{Agent: info.Agent}, nil) {
		c.addPart(m, &lathe.Text{Text: note, Synthetic: true, Time: span})
	}
	return m
}

func (c *compactor) addPart(m *lathe.Message, body lathe.PartBody) {
	m.Parts = append(m.Parts, lathe.Part{
		ID: c.IDs.Part(), MessageID: m.ID, SessionID: m.SessionID, Seq: int64(len(m.Parts) + 1), Body: body,
	})
}

// refusedForSize reports whether an answer failed because the request was too large and a
// compaction can help.
func (s *step) refusedForSize(failure lathe.Failure) bool {
	_, overflow := failure.(*lathe.OverflowFailure)
	return overflow && s.Context != nil && s.Context.Auto && len(s.calls) == 0
}

// endRefused closes the answer to a request that was refused for its size. It stays as a failed
// attempt, and the step is repeated after a compaction.
func (s *step) endRefused(ctx context.Context, failure lathe.Failure) (stepResult, error) {
	save, done := Saving(ctx)
	defer done()
	if _, err := s.dropAttempt(save); err != nil {
		return stepResult{}, err
	}
	note := s.fold.add(&lathe.Retry{Attempt: 1, Error: failure, Created: s.Now()})
	s.msg.Info = s.info(nil, s.Now())
	if err := s.Log.Commit(save, Change{Part: note}, Change{Message: &s.msg}); err != nil {
		return stepResult{}, err
	}
	s.msg.Parts = s.fold.values()
	s.History = append(s.History, s.msg)
	s.learn(ctx)
	return stepResult{refused: true}, nil
}

// failRefused says in the refused answer why no compaction could make it fit.
func (t *Turn) failRefused(ctx context.Context, failure lathe.Failure) error {
	if failure == nil {
		return nil
	}
	last := &t.History[len(t.History)-1]
	msg, info := *last, *last.Info.(*lathe.Assistant)
	info.Error = failure
	msg.Info = &info
	save, done := Saving(ctx)
	defer done()
	if err := t.Log.Commit(save, Change{Message: &msg}); err != nil {
		return err
	}
	*last = msg
	t.Log.Publish(lathe.SessionFailed{SessionID: t.Session.ID, Failure: failure})
	return nil
}

// learn notes that the model accepts less than was sent.
func (d *draft) learn(ctx context.Context) {
	l, err := d.measure(ctx)
	if err != nil {
		return
	}
	limit := l.used * 8 / 10
	if known := d.window.learned; known == 0 || limit < known {
		d.window.learned = limit
	}
}
