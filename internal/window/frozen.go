package window

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/mcp"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// frozen is what the system prompt of a session is made of. It is fixed with the
// first prompt, so that every later request has the same beginning; later
// changes are announced in messages.
type frozen struct {
	Dir          string               `json:"dir"`
	Worktree     string               `json:"worktree"`
	Git          bool                 `json:"git"`
	Platform     string               `json:"platform"`
	Shell        string               `json:"shell,omitempty"`
	Date         string               `json:"date"`
	Scratch      string               `json:"scratch,omitempty"`
	Alone        bool                 `json:"alone,omitempty"` // nobody could answer when it was made
	Facts        []prompt.Fact        `json:"facts,omitempty"`
	Instructions []prompt.Instruction `json:"instructions,omitempty"`
	Extra        []string             `json:"extra,omitempty"`
	Skills       []instance.Skill     `json:"skills,omitempty"`
	Told         prompt.State         `json:"told"`           // what the model has been told so far
	MCP          string               `json:"mcp,omitempty"`  // which offer of the tool servers; see Offer
	Late         []string             `json:"late,omitempty"` // tools of plugins; see LateTools

	ToldMCP string `json:"toldMCP,omitempty"` // the newest offer that the model was told about; empty: the frozen one

	offer, told *mcp.Offer
}

// frozenDoc is the record in the store.
const frozenDoc store.Document[frozen] = "prompt"

// load returns the frozen prompt, making it when there is none. The caller holds fmu.
func (w *Window) load(ctx context.Context) (*frozen, error) {
	if w.frozen != nil {
		return w.frozen, nil
	}
	f, ok, err := frozenDoc.Get(ctx, w.store, w.id)
	switch {
	case err != nil:
		return nil, err
	case ok:
		w.frozen = &f
	default:
		w.frozen = freeze(ctx, w.inst, w.now())
	}
	return w.frozen, nil
}

// Stored reports whether the system prompt is the one that was sent: without a stored
// one, System makes it from what exists now.
func (w *Window) Stored(ctx context.Context) (bool, error) {
	_, ok, err := frozenDoc.Get(ctx, w.store, w.id)
	return ok, err
}

// leftDoc is the record of the frozen prompt from the window that a summary closed.
// Only replay reads it.
func leftDoc(summary lathe.MessageID) store.Document[frozen] {
	return store.Document[frozen]("prompt:" + string(summary))
}

// SaveCompacted is SaveFrozen for a compaction: it also stores what was frozen before it.
func (w *Window) SaveCompacted(tx store.Tx, summary lathe.MessageID) error {
	w.fmu.Lock()
	left := w.left
	w.fmu.Unlock()
	if left != nil {
		if err := leftDoc(summary).Set(tx, w.id, *left); err != nil {
			return err
		}
	}
	return w.SaveFrozen(tx)
}

// Before returns the window as it was before a summary, for reading only, and
// whether what was frozen in it is stored; sessions of older versions lack that.
func (w *Window) Before(ctx context.Context, summary lathe.MessageID) (before *Window, ok bool, err error) {
	f, ok, err := leftDoc(summary).Get(ctx, w.store, w.id)
	if err != nil || !ok {
		return w, false, err
	}
	before = New(Options{Session: w.id, Instance: w.inst, Store: w.store, Now: w.now, Log: w.log})
	before.frozen = &f
	return before, true, nil
}

// Reminders returns what the model has to be told before it answers as the agent, and
// notes that it was told. Alone says whether nobody can answer; nil: as before. PlanOnly says
// that the session refuses every change. Before is the agent that it answered as until now.
func (w *Window) Reminders(ctx context.Context, agent string, alone *bool, planOnly bool) (notes []string, before string) {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	f, err := w.load(ctx)
	if err != nil {
		w.log.Error("the session's frozen prompt could not be read; it is made anew", "session", w.id, "err", err)
		f = freeze(ctx, w.inst, w.now())
		w.frozen = f
	}
	now, contents := knownNow(w.inst, w.now(), f.Told.Instructions)
	now.Agent, now.Alone, now.PlanOnly, before = agent, f.Told.Alone, planOnly, f.Told.Agent
	if alone != nil {
		now.Alone = *alone
	}
	notes = prompt.Changes(f.Told, now, contents)
	if news := w.serverNews(ctx, f); news != "" {
		notes = append(notes, news)
	}
	f.Told = now
	return notes, before
}

// PlanOnlyNews returns what the model has to be told while it works, once, when the session begins
// or ends to refuse every change; "" if it knows.
func (w *Window) PlanOnlyNews(on bool) string {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	if w.frozen == nil {
		return "" // nothing was sent yet
	}
	note := prompt.PlanOnlyChange(w.frozen.Told.PlanOnly, on)
	w.frozen.Told.PlanOnly = on
	return note
}

// SaveFrozen stores the frozen prompt within a transaction.
func (w *Window) SaveFrozen(tx store.Tx) error {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	if err := w.saveOffer(tx); err != nil {
		return err
	}
	return frozenDoc.Set(tx, w.id, *w.frozen)
}

// System returns the system blocks for an agent and a model. Offered are the rules
// that decide which skills are advertised, and said is what the user adds.
func (w *Window) System(ctx context.Context, a turn.Agent, m *provider.Model, offered []lathe.Rule, said string) ([]string, error) {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	f, err := w.load(ctx)
	if err != nil {
		return nil, err
	}
	blocks := prompt.System(prompt.SystemInput{
		APIID: m.APIID, AgentPrompt: a.Prompt, Instructions: f.Instructions,
		Extra: append(slices.Clone(f.Extra), instance.SkillsBlock(f.Skills, offered)),
		Env: prompt.Environment{
			Dir: f.Dir, Worktree: f.Worktree, Git: f.Git, Platform: f.Platform, Shell: f.Shell,
			Date: f.Date, Model: m.Ref.String(), Scratch: f.Scratch, Alone: f.Alone, Facts: f.Facts,
		},
	})
	if said != "" {
		blocks[len(blocks)-1] += "\n\n" + said
	}
	return blocks, nil
}

// Skills returns the skills that the system prompt mentions.
func (w *Window) Skills(ctx context.Context) []instance.Skill {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	f, err := w.load(ctx)
	if err != nil {
		return nil
	}
	return f.Skills
}

// LateTools names the tools of plugins that joined after the directory's tools were made
// and before the window began.
func (w *Window) LateTools(ctx context.Context) []string {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	f, err := w.load(ctx)
	if err != nil {
		return nil
	}
	return f.Late
}

// HasCompacted reports whether a summary has replaced part of the session's window.
func (w *Window) HasCompacted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats.Compactions > 0
}

// Frozen is a new system prompt that is not in use yet.
type Frozen struct{ f *frozen }

// Renew makes a new system prompt, as after a compaction.
func (w *Window) Renew(ctx context.Context) Frozen { return Frozen{freeze(ctx, w.inst, w.now())} }

// Compacted replaces the frozen system prompt with a renewed one and counts a
// compaction. With keepAgent, the model counts as having been told which agent it
// answers as. The returned function undoes both, in case they could not be stored.
func (w *Window) Compacted(fresh Frozen, keepAgent bool) (restore func()) {
	w.fmu.Lock()
	defer w.fmu.Unlock()
	old := w.frozen
	if old != nil {
		fresh.f.Alone, fresh.f.Told.Alone = old.Told.Alone, old.Told.Alone
	}
	if old != nil && keepAgent {
		fresh.f.Told.Agent = old.Told.Agent // the message that continues the work repeats it
	}
	w.frozen, w.left = fresh.f, old
	w.count(1)
	return func() {
		w.fmu.Lock()
		defer w.fmu.Unlock()
		w.frozen = old
		w.count(-1)
	}
}

func (w *Window) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Compactions += n
}

// freeze gathers what the system prompt of a new session is made of.
func freeze(ctx context.Context, i *instance.Instance, now time.Time) *frozen {
	f := &frozen{
		Dir: i.Root.Dir, Worktree: i.Root.TopLevel, Git: i.Root.VCS == "git",
		Platform: runtime.GOOS, Shell: filepath.Base(i.Shell.Path), Date: prompt.FormatDate(now), Skills: i.Skills.Started(),
		Scratch: i.Shell.Scratch, Late: i.Tools.Late(),
	}
	facts := i.Surroundings.Facts(ctx)
	f.Instructions = append(i.Instructions.Read(), i.Instructions.Fetch(ctx)...)
	f.Told = prompt.State{Date: f.Date, Instructions: hashes(f.Instructions)}
	f.Facts = facts()
	if servers := i.Servers(ctx); servers.Any() {
		f.take(servers.Offer())
		if told := f.offer.Instructions(); told != "" {
			f.Extra = append(f.Extra, told)
		}
	}
	return f
}

// knownNow returns what a model should know now, and the text of the instruction
// files. Instructions from URLs are not fetched again: they keep the hash that
// the model was told.
func knownNow(i *instance.Instance, now time.Time, told map[string]string) (prompt.State, map[string]string) {
	current := i.Instructions.Read()
	st := prompt.State{Date: prompt.FormatDate(now), Instructions: hashes(current)}
	for path, hash := range told {
		if instance.IsURL(path) {
			st.Instructions[path] = hash
		}
	}
	contents := make(map[string]string, len(current))
	for _, in := range current {
		contents[in.Path] = in.Content
	}
	return st, contents
}

func hashes(in []prompt.Instruction) map[string]string {
	out := make(map[string]string, len(in))
	for _, i := range in {
		out[i.Path] = prompt.Hash(i.Content)
	}
	return out
}
