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

// compaction is what asked for one.
type compaction struct {
	auto     bool // the model goes on afterwards
	manual   bool // a user asked: without a summary nothing changes
	overflow bool // the provider refused a request for its size
	ask      *lathe.Message
	load     *load // of the next request, where it was measured already
}

// summary is what the model answered, or that it did not.
type summary struct {
	text   string
	model  lathe.ModelRef
	usage  lathe.Tokens
	cost   lathe.Money
	finish lathe.Finish
}

// compaction replaces old history by a summary and a ledger. Until the result is
// there and fits, nothing is stored: whatever ends it before leaves the session
// as it was. The failure says why it cannot be done.
func (t *Turn) compaction(ctx context.Context, who cast, c compaction) (failure lathe.Failure, err error) {
	s := &step{Turn: t, cast: who}
	if c.load == nil {
		l, err := s.measure(ctx)
		if err != nil {
			return classify(ctx, err, s.modelRef()), nil
		}
		c.load = &l
	}
	l := *c.load
	w := t.win()
	if t.budget.steps-w.lastStep > workSteps {
		w.inARow = 0
	}
	if w.inARow++; w.inARow > maxCompactions {
		return s.tooLarge(l, fmt.Sprintf("after %d compactions in a row", maxCompactions)), nil
	}
	if l.usable > 0 && l.fixed+ledger.DefaultBudget/2 >= l.usable {
		return s.tooLarge(l, "whatever is compacted"), nil
	}
	w.lastStep = t.budget.steps
	if err := t.Context.Compacting(ctx, true); err != nil {
		return nil, err
	}
	done, failure, err := t.carryOut(ctx, s, l, c)
	if !done {
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
		err = errors.Join(err, t.Context.Compacting(save, false))
	}
	return failure, err
}

func (t *Turn) carryOut(ctx context.Context, s *step, l load, c compaction) (done bool, failure lathe.Failure, err error) {
	facts, err := t.facts(ctx)
	if err != nil {
		return false, nil, err
	}
	sum, failure := s.summarise(ctx, l, c)
	if failure != nil {
		return false, failure, nil
	}
	if sum.text == "" {
		if c.manual {
			return false, &lathe.UnknownFailure{Message: "the model gave no usable summary; nothing was changed. Try again, or with another model"}, nil
		}
		t.Logger.Warn("the model gave no usable summary; the ledger stands in for it", "session", t.Session.ID)
	}
	out, failure := s.arrange(ctx, l, c, sum, facts)
	if failure != nil {
		return false, failure, nil
	}
	arrived, err := t.Context.Install(ctx, out)
	if err != nil {
		return false, nil, err
	}
	t.replace(out, arrived)
	t.Logger.Info("history was compacted", "session", t.Session.ID, "auto", c.auto, "tokens", l.used)
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

// replace makes the live history what the store now returns.
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

// tooLarge explains what fills a window that nothing can be cleared from.
func (s *step) tooLarge(l load, when string) lathe.Failure {
	return &lathe.OverflowFailure{Message: fmt.Sprintf(
		"the conversation does not fit the window of %s, %s: the system prompt and instructions take %d tokens, the tools %d, of %d usable, and the newest messages what is left; "+
			"shorten the instruction files, switch tools off, or choose a model with a larger window (see: lathe context)",
		s.model.Ref, when, l.prompt, l.tools, l.usable)}
}

// summarise asks for the summary: with the running prefix, so that the provider
// has it cached, or where that does not fit or another model is set for it, with
// a transcript. An empty text means that no answer was of use. A failure means
// that the provider could not be asked.
func (s *step) summarise(ctx context.Context, l load, c compaction) (summary, lathe.Failure) {
	agent, model, own := s.summariser()
	hooked := s.Hooks.Compacting(ctx, plugin.CompactingInput{SessionID: s.Session.ID}, plugin.Compacting{Prompt: s.override(agent)})
	request := compact.Request(hooked.Prompt, hooked.Context)
	window := int64(model.Limit.Context)
	shared := !own && !c.overflow && (window == 0 || l.used+2000 < window)
	budget := l.usable
	if own || budget <= 0 {
		budget = windowOf(model, s.Context.Settings).Usable()
	}
	if budget <= 0 {
		budget = max(l.used/2, 8000)
	}
	for try := 0; try < 3; try++ {
		var req *llm.Request
		if shared {
			var err error
			if req, err = s.sharedRequest(ctx, request); err != nil {
				return summary{}, classify(ctx, err, s.modelRef())
			}
		} else {
			req = s.transcriptRequest(agent, model, request, budget*7/10)
		}
		sum, failure := s.askSummary(ctx, l, model, req, request)
		_, refused := failure.(*lathe.OverflowFailure)
		switch {
		case refused:
			shared, budget = false, budget/2
			continue
		case failure != nil:
			return summary{}, failure
		case sum.text == "" && try == 0:
			continue // once more; a stray empty answer is not worth losing the summary for
		}
		return sum, nil
	}
	return summary{model: model.Ref}, nil
}

// summariser returns the compaction agent and its model, and whether that is
// another than the conversation's.
func (s *step) summariser() (Agent, *provider.Model, bool) {
	agent, err := s.Host.Agent("compaction")
	if err != nil {
		return Agent{}, s.model, false
	}
	if agent.Model.IsZero() || (agent.Model.Provider == s.model.Ref.Provider && agent.Model.Model == s.model.Ref.Model) {
		return agent, s.model, false
	}
	model, err := s.Host.Model(agent.Model)
	if err != nil {
		s.Logger.Warn("the model of the compaction agent cannot be used; the conversation's is", "model", agent.Model.String(), "err", err)
		return agent, s.model, false
	}
	return agent, model, true
}

// override returns what the user set in place of the built-in request: the
// configuration's, else the compaction agent's own prompt.
func (s *step) override(agent Agent) string {
	if s.Context.Prompt != "" {
		return s.Context.Prompt
	}
	if agent.Prompt != prompt.AgentText("compaction") {
		return agent.Prompt
	}
	return ""
}

// sharedRequest is the request that the next step would make, with the question
// appended. Anthropic's cache of messages ends where the tool choice changes, so
// there it stays and the question alone forbids calls.
func (s *step) sharedRequest(ctx context.Context, question string) (*llm.Request, error) {
	req, err := s.request(ctx)
	if err != nil {
		return nil, err
	}
	ask := llm.Message{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: question}}}
	if n := len(req.Messages); n > 0 {
		last := req.Messages[n-1]
		req.Messages = append(req.Messages[:n-1:n-1], s.model.Normalize([]llm.Message{last, ask})...)
	}
	if len(req.Tools) > 0 && s.model.Protocol != provider.ProtocolAnthropic {
		req.Choice = llm.ChoiceNone
	}
	return req, nil
}

func (s *step) transcriptRequest(agent Agent, model *provider.Model, question string, budget int64) *llm.Request {
	text := compact.Transcript(prompt.View(s.History), budget) + "\n\n" + question
	system := agent.Prompt
	if system == "" {
		system = prompt.AgentText("compaction")
	}
	req := &llm.Request{
		System:   []string{system},
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: text}}}},
	}
	model.Prepare(req, provider.Params{Temperature: agent.Temperature, TopP: agent.TopP, Options: agent.Options, SessionID: s.Session.ID})
	return req
}

// askSummary takes in one answer, repeating the request as a step does.
func (s *step) askSummary(ctx context.Context, l load, model *provider.Model, req *llm.Request, question string) (summary, lathe.Failure) {
	for n := 1; ; n++ {
		sum, err := s.streamSummary(ctx, l, model, req, question)
		if err == nil {
			return sum, nil
		}
		failure := classify(ctx, err, model.Ref)
		if ctx.Err() != nil {
			return sum, failure
		}
		wait, again := s.Retries.next(n, err, s.Jitter)
		if !again {
			return sum, s.Retries.explain(n, failure, err)
		}
		if err := s.wait(ctx, n, wait, failure); err != nil {
			return sum, classify(ctx, err, model.Ref)
		}
	}
}

// maxSummary bounds the bytes of a summary that is taken in.
const maxSummary = 256 << 10

func (s *step) streamSummary(ctx context.Context, l load, model *provider.Model, req *llm.Request, question string) (summary, error) {
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
			s.budget.spend(sum.cost, sum.usage)
			if answer := strings.TrimSpace(text.String()); compact.Useful(answer, question, l.used-l.fixed) {
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

// arrange makes the messages of the compaction and checks that they help: the
// ledger is there, and all of it fits well under the window. A tail that is too
// large for that goes.
func (s *step) arrange(ctx context.Context, l load, c compaction, sum summary, facts *ledger.Facts) (*Compacted, lathe.Failure) {
	now := s.Now()
	out := &Compacted{Facts: facts, Cost: sum.cost, Tokens: sum.usage}
	out.Ask = s.askMessage(c, now)
	block := facts.Render(ledger.Options{Root: s.Context.Root, Recall: s.Context.Recall, Budget: s.ledgerBudget(l)})
	text := sum.text
	if text == "" {
		text = compact.NoSummary
	}
	out.Summary = lathe.Message{
		ID: s.IDs.Message(), SessionID: s.Session.ID, Created: now,
		Info: &lathe.Assistant{
			ParentID: out.Ask.ID, Agent: "compaction", Model: sum.model, Cwd: s.Session.Directory, Root: s.Session.Directory,
			Completed: now, Finish: lathe.FinishStop, Summary: true, Cost: sum.cost, Tokens: sum.usage,
		},
	}
	s.addPart(&out.Summary, &lathe.StepStart{})
	s.addPart(&out.Summary, &lathe.Text{Text: text, Time: lathe.Span{Start: now, End: now}})
	s.addPart(&out.Summary, &lathe.Text{Text: block, Synthetic: true, Time: lathe.Span{Start: now, End: now}})
	s.addPart(&out.Summary, &lathe.StepFinish{Reason: lathe.FinishStop, Cost: sum.cost, Tokens: sum.usage})
	if c.auto {
		out.GoOn = func(arrived []lathe.Message) *lathe.Message { return s.continueMessage(now, arrived) }
	}
	meter, k := s.window.meter, s.Context.Correction(s.model.Ref)
	head := l.fixed + k.Apply(meter.Message(&out.Ask)+meter.Message(&out.Summary))
	most := l.usable * 8 / 10
	budget := s.Context.TailBudget(l.usable)
	if l.usable > 0 {
		if head >= most {
			return nil, s.tooLarge(l, "even with a summary in place of the conversation")
		}
		budget = min(budget, most-head)
	}
	turns := 0
	if s.Context.TailTurns != nil {
		turns = *s.Context.TailTurns
	}
	i := compact.Tail(s.History, turns, budget, func(m *lathe.Message) int64 { return k.Apply(meter.Message(m)) })
	if n := s.unseen(); n >= 0 && n < i {
		room := most - head
		if l.usable <= 0 {
			room = budget
		}
		fits, err := s.cutUnseen(ctx, room)
		if err != nil {
			return nil, classify(ctx, err, s.modelRef())
		}
		if fits {
			i = n
		}
	}
	if i < len(s.History) {
		out.Tail = &s.History[i]
		mark := prompt.Mark(&out.Ask)
		mark.TailStart = out.Tail.ID
	}
	return out, nil
}

// ledgerBudget gives the ledger less in a small window.
func (s *step) ledgerBudget(l load) int {
	if l.usable <= 0 {
		return ledger.DefaultBudget
	}
	return int(min(ledger.DefaultBudget, max(400, (l.usable-l.fixed)/4)))
}

// askMessage returns the message that asks for the compaction, stored already or
// new. Its mark may be changed.
func (s *step) askMessage(c compaction, now time.Time) lathe.Message {
	info := *s.user.Info.(*lathe.User)
	info.Steers, info.System, info.Tools, info.Summary = false, "", nil, nil
	ask := lathe.Message{ID: s.IDs.Message(), SessionID: s.Session.ID, Created: now, Info: &info}
	if c.ask == nil {
		s.addPart(&ask, &lathe.CompactionMark{Auto: c.auto, Overflow: c.overflow})
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

// continueMessage asks the model to go on, as the newest prompt wants it, and tells
// again what only the messages that left said: the mode of the agent.
func (s *step) continueMessage(now time.Time, arrived []lathe.Message) *lathe.Message {
	newest := s.user
	if n := len(arrived); n > 0 {
		newest = &arrived[n-1]
	}
	info := *newest.Info.(*lathe.User)
	info.Steers, info.Summary = false, nil
	m := &lathe.Message{ID: s.IDs.Message(), SessionID: s.Session.ID, Created: now, Info: &info}
	span := lathe.Span{Start: now, End: now}
	s.addPart(m, &lathe.Text{Text: continueText, Synthetic: true, Time: span})
	for _, note := range prompt.Changes(prompt.State{}, prompt.State{Agent: info.Agent}, nil) {
		s.addPart(m, &lathe.Text{Text: note, Synthetic: true, Time: span})
	}
	return m
}

func (s *step) addPart(m *lathe.Message, body lathe.PartBody) {
	m.Parts = append(m.Parts, lathe.Part{
		ID: s.IDs.Part(), MessageID: m.ID, SessionID: m.SessionID, Seq: int64(len(m.Parts) + 1), Body: body,
	})
}

// refusedForSize reports whether an answer failed because the request was too
// large, and a compaction can help.
func (s *step) refusedForSize(failure lathe.Failure) bool {
	_, overflow := failure.(*lathe.OverflowFailure)
	return overflow && s.Context != nil && s.Context.Auto && len(s.calls) == 0
}

// endRefused closes the answer of a request that was refused for its size: it
// stays as a failed attempt, and the step is made again after a compaction.
func (s *step) endRefused(ctx context.Context, failure lathe.Failure) (stepResult, error) {
	save, done := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
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
	save, done := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer done()
	if err := t.Log.Commit(save, Change{Message: &msg}); err != nil {
		return err
	}
	*last = msg
	t.Log.Publish(lathe.SessionFailed{SessionID: t.Session.ID, Failure: failure})
	return nil
}

// learn notes that the model takes less than was sent.
func (s *step) learn(ctx context.Context) {
	l, err := s.measure(ctx)
	if err != nil {
		return
	}
	limit := l.used * 8 / 10
	if known := s.window.learned; known == 0 || limit < known {
		s.window.learned = limit
	}
}
