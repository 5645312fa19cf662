package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/store"
	"lathe/internal/turn"
)

// frozen is what the system prompt of a session is made of. It is fixed with the
// first prompt, so that every later request has the same beginning; what changes
// afterwards is told in messages.
type frozen struct {
	Dir          string               `json:"dir"`
	Worktree     string               `json:"worktree"`
	Git          bool                 `json:"git"`
	Platform     string               `json:"platform"`
	Shell        string               `json:"shell,omitempty"`
	Date         string               `json:"date"`
	Instructions []prompt.Instruction `json:"instructions,omitempty"`
	Extra        []string             `json:"extra,omitempty"`
	Skills       []instance.Skill     `json:"skills,omitempty"`
	Told         prompt.State         `json:"told"` // what the model knows by now
}

// freezeKey names the record in the store.
const freezeKey = "prompt"

// load returns the session's frozen prompt, making it when there is none.
func (r *runner) loadFrozen(ctx context.Context) (*frozen, error) {
	if r.frozen != nil {
		return r.frozen, nil
	}
	raw, err := r.s.opts.Store.Value(ctx, r.current().ID, freezeKey)
	if err != nil {
		return nil, err
	}
	f := &frozen{}
	if raw == nil {
		f = freeze(ctx, r.inst, r.s.opts.Now())
	} else if err := json.Unmarshal(raw, f); err != nil {
		return nil, fmt.Errorf("frozen prompt of %s: %w", r.current().ID, err)
	}
	r.frozen = f
	return f, nil
}

// reminders returns what the model has to be told before it answers for the
// agent, and notes that it was.
func (r *runner) reminders(ctx context.Context, agent string) []string {
	f, err := r.loadFrozen(ctx)
	if err != nil {
		r.s.opts.Log.Error("the session's frozen prompt could not be read; it is made anew", "session", r.current().ID, "err", err)
		f = freeze(ctx, r.inst, r.s.opts.Now())
		r.frozen = f
	}
	now, contents := knownNow(r.inst, r.s.opts.Now(), f.Told.Instructions)
	now.Agent = agent
	notes := prompt.Changes(f.Told, now, contents)
	notes = append(notes, planNotes(r.inst, *r.current(), f.Told.Agent, agent)...)
	f.Told = now
	return notes
}

func (r *runner) saveFrozen(tx store.Tx) error {
	raw, err := json.Marshal(r.frozen)
	if err != nil {
		return err
	}
	return tx.SetValue(r.current().ID, freezeKey, raw)
}

// System returns the session's system blocks for an agent and a model.
func (h *host) System(ctx context.Context, a turn.Agent, m *provider.Model, u *lathe.User) ([]string, error) {
	f, err := h.loadFrozen(ctx)
	if err != nil {
		return nil, err
	}
	blocks := prompt.System(prompt.SystemInput{
		APIID: m.APIID, AgentPrompt: a.Prompt, Instructions: f.Instructions,
		Extra: append(slices.Clone(f.Extra), instance.SkillsBlock(f.Skills, h.inst.Offering(a, h.rulesOf(a)))),
		Env: prompt.Environment{
			Dir: f.Dir, Worktree: f.Worktree, Git: f.Git, Platform: f.Platform, Shell: f.Shell,
			Date: f.Date, Model: m.Ref.String(),
		},
	})
	if u.System != "" {
		blocks[len(blocks)-1] += "\n\n" + u.System
	}
	return blocks, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// freeze gathers what the system prompt of a new session is made of.
func freeze(ctx context.Context, i *instance.Instance, now time.Time) *frozen {
	f := &frozen{
		Dir: i.Root.Dir, Worktree: i.Root.TopLevel, Git: i.Root.VCS == "git",
		Platform: runtime.GOOS, Shell: filepath.Base(i.Shell.Path), Date: prompt.FormatDate(now), Skills: i.AtStart,
	}
	f.Instructions = append(i.ReadInstructions(), i.FetchInstructions(ctx)...)
	f.Told = prompt.State{Date: f.Date, Instructions: hashes(f.Instructions)}
	return f
}

// knownNow returns what a model should know now, and the text of the instruction
// files. Instructions from addresses are not fetched again: they keep the hash
// that was told.
func knownNow(i *instance.Instance, now time.Time, told map[string]string) (prompt.State, map[string]string) {
	current := i.ReadInstructions()
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
