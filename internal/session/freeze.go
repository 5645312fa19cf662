package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"lathe"
	"lathe/internal/prompt"
	"lathe/internal/provider"
	"lathe/internal/store/sqlite"
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
	Skills       []Skill              `json:"skills,omitempty"`
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
		f = r.inst.freeze(ctx, r.s.opts.Now())
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
		f = r.inst.freeze(ctx, r.s.opts.Now())
		r.frozen = f
	}
	now, contents := r.inst.state(r.s.opts.Now(), f.Told.Instructions)
	now.Agent = agent
	notes := prompt.Changes(f.Told, now, contents)
	notes = append(notes, r.inst.planNotes(*r.current(), f.Told.Agent, agent)...)
	f.Told = now
	return notes
}

func (r *runner) saveFrozen(tx *sqlite.Tx) error {
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
		Extra: append(slices.Clone(f.Extra), skillsBlock(f.Skills, h.inst.offering(a, h.rulesOf(a)))),
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
