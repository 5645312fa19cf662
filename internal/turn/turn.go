// Package turn is the agent loop: a model request, the tool calls it asks for,
// and again, until the model has nothing left to do, a limit is reached or the
// caller stops it.
//
// A turn works on a session's live history in memory and records everything
// through its [Log], which stores before it publishes. It owns no storage, no
// clock and no network of its own.
//
// A [Turn] runs in rounds (turn.go): it makes room in the window where that is short
// (context.go, compact.go, tail.go, cut.go), and otherwise does a step. A step (step.go)
// builds its request (request.go), streams the answer, repeating it where that may help
// (retry.go), and folds its events into parts (fold.go). Each call of a tool runs itself
// while the answer still streams (call.go), and waits for the snapshot that makes its
// changes undoable (snapshot.go). A turn ends well even where the model stops short or a
// limit is reached (lapse.go, cutoff.go, closing.go). replay.go rebuilds requests of the past.
package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/permission"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/tool"
)

// ErrAborted is the cause of a turn that its user stopped.
var ErrAborted = errors.New("aborted by the user")

// Change is one thing a turn records. Exactly one field is set. The log gives
// new messages and parts their sequence numbers through the pointers.
type Change struct {
	Message *lathe.Message // its info; parts are recorded one by one
	Part    *lathe.Part
	Remove  *lathe.Part
	Event   lathe.Event // is not stored; it is told in its place among the others
}

// Log records what a turn does. Its methods are safe for concurrent use.
type Log interface {
	// Commit stores the changes in one transaction, then publishes them in order.
	Commit(ctx context.Context, changes ...Change) error
	// Delta publishes text appended to an open part, whose whole text is whole, and checkpoints it
	// soon.
	Delta(ctx context.Context, part *lathe.Part, text string, whole lathe.Streamed)
	// Progress publishes the state of a running tool call; it may be stored later.
	Progress(part lathe.Part)
	// Publish publishes what is not stored: status and failures.
	Publish(ev lathe.Event)
}

// Agent is a named preset, resolved for a turn.
type Agent struct {
	Name        string
	Prompt      string
	Model       lathe.ModelRef
	Rules       []lathe.Rule
	Ceilings    [][]lathe.Rule // no answer may be looser than any of them
	Temperature *float64
	TopP        *float64
	Options     map[string]any
	Steps       int // most steps in one turn; 0: no limit of its own
}

// Host is what a turn asks its session for. Everything it returns may be cached
// by the host, and must not change what was sent to a model before.
type Host interface {
	// Agent returns an agent by name.
	Agent(name string) (Agent, error)
	// Model returns a model that can be called, with the keys of the person for whom ctx is
	// ([people.From]).
	Model(ctx context.Context, ref lathe.ModelRef) (*provider.Model, error)
	// System returns the session's system blocks for the agent and model.
	System(ctx context.Context, a Agent, m *provider.Model, u *lathe.User) ([]string, error)
	// Tools returns what the agent may use, in a fixed order.
	Tools(a Agent, m *provider.Model, u *lathe.User) *Toolset
	// Arrived returns the user messages stored since the last call.
	Arrived() []lathe.Message
	// Ask asks for permission; see permission.Service.
	Ask(ctx context.Context, in permission.AskInput) error
}

// Limits bound a turn. A zero field sets no limit.
type Limits struct {
	Steps  int
	Cost   lathe.Money
	Tokens int64
	Time   time.Duration
}

// Told describes the limits in words for the model; "" if there are none.
func (l Limits) Told() string {
	var all []string
	if l.Steps > 0 {
		all = append(all, fmt.Sprintf("%d requests to you", l.Steps))
	}
	if l.Cost > 0 {
		all = append(all, "a cost of "+l.Cost.String())
	}
	if l.Tokens > 0 {
		all = append(all, fmt.Sprintf("%d tokens", l.Tokens))
	}
	if l.Time > 0 {
		all = append(all, l.Time.String())
	}
	if len(all) == 0 {
		return ""
	}
	return "This run ends after " + strings.Join(all, ", or ") + ". Do what matters first, and leave room to verify it."
}

// Retries says how failed model requests are repeated.
type Retries struct {
	Max  int           // repetitions of one request; default 5
	Base time.Duration // first delay, doubled each time; default 2 s
	Cap  time.Duration // longest delay of our own; default 30 s
	// Longest is the longest delay a provider may ask for; a longer one fails the turn and names
	// the time. Default 10 minutes.
	Longest time.Duration
	Jitter  func() float64 // 0 to 1, scales a jitter of a quarter of our own delays; default random
}

func (r Retries) withDefaults() Retries {
	if r.Max == 0 {
		r.Max = 5
	}
	if r.Base == 0 {
		r.Base = 2 * time.Second
	}
	if r.Cap == 0 {
		r.Cap = 30 * time.Second
	}
	if r.Longest == 0 {
		r.Longest = 10 * time.Minute
	}
	if r.Jitter == nil {
		r.Jitter = rand.Float64
	}
	return r
}

// Turn is one run of the loop. The zero values of optional fields are usable.
//
// It has many fields because a caller sets each of them once, by name; what changes while
// it runs is its course.
type Turn struct {
	Session lathe.Session
	History []lathe.Message // live history, oldest first; the turn appends to it
	Host    Host
	Log     Log
	IDs     *lathe.IDs
	Limits  Limits
	Retries Retries
	Outputs string // see [tool.Call]
	// Snapshots records the tree before tools change it; nil means that nothing
	// can be undone.
	Snapshots Snapshots
	// Loop detects a model that repeats itself; nil means a new one.
	Loop *permission.Loop
	// Spent is shared by the turns that count against the same limits; nil means that this turn
	// counts alone.
	Spent *Spent
	// StandIns answer where a model's provider refuses or is down; nil: nobody does.
	StandIns *StandIns
	// Budget returns why no further request may be made; nil means that nothing beyond
	// Limits bounds the turn. It may ask the person, and is called before each request.
	Budget func(ctx context.Context, a Agent, m *provider.Model) lathe.Failure
	// Task runs the subtasks that a user message asks for; nil means it cannot.
	Task tool.Tool
	// Hooks are the plugins' hooks; nil means none.
	Hooks *plugin.Chain
	// Context keeps the history within the model's window; nil means that nothing does.
	Context *Context
	// Asked is the newest message to be answered. It distinguishes a prompt that came during a
	// compaction from the messages that the compaction answered. If empty, the newest user message
	// is to be answered.
	Asked lathe.MessageID
	// Compact is a compaction that the user asked for; the turn begins with it if set.
	Compact *CompactNow
	// Leave reports, between two steps, whether the turn is to end here unfinished because another
	// server goes on with it; nil means never.
	Leave func(ctx context.Context) bool
	// ContinueOnDeny keeps the turn going after a rejected permission.
	ContinueOnDeny bool
	Now            func() time.Time // nil: time.Now
	Logger         *slog.Logger     // nil: none

	course
}

// course is how far a turn has come since Run began.
type course struct {
	budget   budget
	failures int // failed requests since the last complete answer
	cuts     int // answers in a row that were cut off
	window   window
	offered  offered
	closing  closing
	warned   bool // the model was warned that it repeats itself
}

// Outcome is how a turn ended. Failure is nil when the model finished its work.
// Blocked is set when a rejected permission or question stopped it, Left when it is not
// over and another server goes on with it.
type Outcome struct {
	Last    *lathe.Message // the newest assistant message; nil if there is none
	Failure lathe.Failure
	Blocked bool
	Left    bool
	Steps   int
	Cost    lathe.Money
	Tokens  lathe.Tokens
}

// Run carries out the turn. It returns when the newest user message is answered or the turn cannot
// go on; by then everything that happened is recorded and none of its tools is running. The error
// is for what could not be recorded; failures of models and tools are in the Outcome. Cancelling
// ctx ends the turn with the context's cause.
func (t *Turn) Run(ctx context.Context) (Outcome, error) {
	t.setDefaults()
	if t.Limits.Time > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, t.Limits.Time, errTimeLimit)
		defer cancel()
		ctx = limited
	}
	out, err := t.run(ctx)
	out.Last, out.Steps, out.Cost, out.Tokens = t.newestAssistant(), t.budget.steps, t.budget.cost, t.budget.tokens
	return out, err
}

func (t *Turn) setDefaults() {
	t.Retries = t.Retries.withDefaults()
	if t.Now == nil {
		t.Now = time.Now
	}
	if t.Logger == nil {
		t.Logger = slog.New(slog.DiscardHandler)
	}
	if t.Spent == nil {
		t.Spent = &Spent{}
	}
	t.budget = budget{limits: t.Limits, shared: t.Spent}
	if t.Loop == nil {
		t.Loop = &permission.Loop{}
	}
}

func (t *Turn) loop(ctx context.Context) (Outcome, error) {
	for {
		t.takeArrived()
		user := t.toAnswer()
		if user == nil {
			return Outcome{}, lathe.Errorf(lathe.CodeInvalid, "send a prompt first", "session %s has no user message", t.Session.ID)
		}
		ctx := askedBy(ctx, user)
		if t.answered(user) && !t.nudges(user) && !t.heldOn(ctx, user) {
			return Outcome{}, nil
		}
		if ctx.Err() != nil {
			res, err := t.failEarly(ctx, user, abortFailure(context.Cause(ctx)))
			return Outcome{Failure: res.failure}, err
		}
		if t.Leave != nil && t.Leave(ctx) {
			return Outcome{Left: true}, nil
		}
		if m, tasks := t.pendingSubtasks(); tasks != nil {
			if res, err := t.subtasks(ctx, m, tasks); err != nil || res.stop {
				return Outcome{Failure: res.failure, Blocked: res.blocked}, err
			}
			continue
		}
		res, err := t.round(ctx, user)
		if err != nil || res.stop {
			return Outcome{Failure: res.failure, Blocked: res.blocked}, err
		}
	}
}

// round makes room in the window if it is short, and otherwise does a step. If it neither stops nor
// fails, the loop looks at the history again.
func (t *Turn) round(ctx context.Context, user *lathe.Message) (stepResult, error) {
	c, f := t.castFor(ctx, user)
	if f != nil {
		return t.failEarly(ctx, user, f)
	}
	if t.Budget != nil {
		if f := t.Budget(ctx, c.agent, c.model); f != nil {
			return t.failEarly(ctx, user, f)
		}
	}
	again, f, err := t.fit(ctx, c)
	if err == nil && f == nil && !again {
		f = t.budget.step()
	}
	switch {
	case err != nil:
		return stepResult{failure: f}, err
	case f != nil && t.farewell(f):
		return t.lastWords(ctx, c, f)
	case f != nil:
		return t.failEarly(ctx, user, f)
	case again:
		return stepResult{}, nil
	}
	res, err := t.step(ctx, c, false)
	if err == nil && res.failure != nil && t.standIn(ctx, c, res.failure) {
		return stepResult{}, nil
	}
	if err == nil && res.failure == nil && !res.refused && t.StandIns.back(c.ref, t.Now()) {
		t.Log.Publish(lathe.Notice{Title: "Model is back", Text: c.ref.String() + " works again and answers in its own place"})
	}
	if !res.refused {
		return res, err
	}
	if f, err := t.compaction(ctx, c, compaction{auto: true, overflow: true}); err != nil || f != nil {
		return stepResult{stop: true, failure: f}, errors.Join(err, t.failRefused(ctx, f))
	}
	return stepResult{}, nil
}

func (t *Turn) takeArrived() {
	for _, m := range t.Host.Arrived() {
		if slices.ContainsFunc(t.History, func(known lathe.Message) bool { return known.ID == m.ID }) {
			continue // it was stored by another server, whose turn this one goes on with
		}
		t.History = append(t.History, m)
		t.Loop.Reset()
	}
}

// toAnswer returns the user message that the next step answers: the newest one, but not the request
// for a finished compaction if a prompt was waiting before it.
func (t *Turn) toAnswer() *lathe.Message {
	user := t.newestUser()
	if t.Asked == "" || user == nil || !t.summarised(user) {
		return user
	}
	if i := slices.IndexFunc(t.History, func(m lathe.Message) bool { return m.ID == t.Asked }); i >= 0 {
		return &t.History[i]
	}
	return user
}

// summarised reports whether a message asks for a compaction that is done.
func (t *Turn) summarised(user *lathe.Message) bool {
	return prompt.Mark(user) != nil && slices.ContainsFunc(t.History, func(m lathe.Message) bool {
		a, ok := m.Info.(*lathe.Assistant)
		return ok && a.Summary && a.ParentID == user.ID && a.Finish != ""
	})
}

func (t *Turn) newestUser() *lathe.Message {
	for i := len(t.History) - 1; i >= 0; i-- {
		if _, ok := t.History[i].Info.(*lathe.User); ok {
			return &t.History[i]
		}
	}
	return nil
}

func (t *Turn) newestAssistant() *lathe.Message {
	for i := len(t.History) - 1; i >= 0; i-- {
		if _, ok := t.History[i].Info.(*lathe.Assistant); ok {
			m := t.History[i]
			return &m
		}
	}
	return nil
}

// answered is the exit rule: the newest message is an assistant's, has ended and asked for no tool.
// Order is that of the history, never that of identifiers.
func (t *Turn) answered(user *lathe.Message) bool {
	last := &t.History[len(t.History)-1]
	info, ok := last.Info.(*lathe.Assistant)
	if !ok || last.Seq < user.Seq || info.Finish == "" || info.Summary != (prompt.Mark(user) != nil) {
		return false
	}
	if user.ID == t.Asked && info.ParentID != user.ID {
		return false // the answer had begun before the message came
	}
	for _, p := range last.Parts {
		if _, calls := p.Body.(*lathe.ToolCall); calls {
			return false
		}
	}
	return true
}

// Toolset is what a model may use in a turn.
type Toolset struct {
	*tool.Registry
	// Policy decides the tools' asks: the agent's rules, then the session's, under the ceilings of
	// the agent and of this run.
	permission.Policy
	// Reading returns what the policy currently says about reading files; nil means that it says
	// nothing.
	Reading func() tool.Reading
	// Cut bounds what a result tells the model; nil means it may be any length.
	Cut func(tool.Result) tool.Result
}
