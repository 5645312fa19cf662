package session

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lathe"
	"lathe/internal/instance"
	"lathe/internal/mcp"
	"lathe/internal/permission"
	"lathe/internal/provider"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// host answers what a turn asks of its session.
type host struct {
	*runner
	rules []lathe.Rule // for this run only, after the session's
	past  *past        // nil: the present

	mu       sync.Mutex
	toolsets map[string]*turn.Toolset
}

// Agent returns an agent by name.
func (h *host) Agent(name string) (turn.Agent, error) {
	a, err := h.inst.Agents.Get(name)
	if err != nil {
		return turn.Agent{}, err
	}
	return a.Agent, nil
}

// Model returns a model that can be called, with the keys of the person that ctx names.
func (h *host) Model(ctx context.Context, ref lathe.ModelRef) (*provider.Model, error) {
	return h.inst.Models.GetFor(ctx, ref)
}

// Tools returns what the agent may use. An agent's set is made once per run, so
// its order and bytes stay the same.
func (h *host) Tools(a turn.Agent, m *provider.Model, u *lathe.User) *turn.Toolset {
	ceilings, late, mode := h.runCeilings(), h.lateTools(), h.mode(h.s.ctx)
	key := string(mode) + "\x00" + a.Name + "\x00" + m.Ref.String() + "\x00" + strings.Join(disabled(u.Tools), ",") + "\x00" + strconv.Itoa(len(ceilings)) + "\x00" + strings.Join(h.quiet(), ",") + "\x00" + strings.Join(late, ",") + "\x00" + strconv.Itoa(h.inst.MCP.State())
	h.mu.Lock()
	defer h.mu.Unlock()
	if set := h.toolsets[key]; set != nil {
		return set
	}
	policy := permission.Policy{Rules: h.rulesOf(a), Ceilings: slices.Concat(a.Ceilings, ceilings)}
	var kept []tool.Tool
	offer := permission.Policy{Rules: h.inst.Agents.Offering(a, policy.Rules), Ceilings: policy.Ceilings}
	suits := func(name string) bool {
		off, named := u.Tools[name]
		return !(named && !off) && !offer.Hidden(name)
	}
	servers := h.inst.MCP.Tools(h.offered(), m.Limit.Context, suits)
	for _, t := range append(h.inst.Tools.For(m, late), servers...) {
		if t = h.inst.Tools.ForAgent(t, offer); t == nil {
			continue
		}
		spec := t.Spec()
		if off, named := u.Tools[spec.Name]; named && !off {
			continue
		}
		if !m.Caps.ToolCall || offer.Hidden(permissionOf(spec)) {
			continue
		}
		kept = append(kept, t)
	}
	bounded := boundBy(policy, mode, h.inst) // which tools are offered stays the same in all modes
	set := &turn.Toolset{Registry: tool.NewRegistry(kept...).Quietly(h.quiet()...), Policy: bounded, Reading: h.inst.Readable.By(bounded), Cut: h.news.after(cutResults(h.inst, a.Name, h.outputs.of(h.s, h.current())))}
	h.toolsets[key] = set
	return set
}

// offered returns what the tool servers offered when the window began.
func (h *host) offered() *mcp.Offer {
	if h.past != nil {
		return h.past.frozen.Offer(h.s.ctx)
	}
	return h.window.Offer(h.s.ctx)
}

// lateTools names the tools of plugins that joined before the window began.
func (h *host) lateTools() []string {
	if h.past != nil {
		return h.past.frozen.LateTools(h.s.ctx)
	}
	return h.window.LateTools(h.s.ctx)
}

// quiet names the tools that have nothing to do yet: a call is understood, but
// they are not offered. It changes only with a compaction, which makes a new
// prefix anyway.
func (h *host) quiet() (names []string) {
	w, compacted := h.window, h.window.HasCompacted()
	if h.past != nil {
		w, compacted = h.past.frozen, h.past.compacted
	}
	if !compacted {
		names = append(names, "recall")
	}
	if len(w.Skills(h.s.ctx)) == 0 {
		names = append(names, "skill")
	}
	if !h.inst.Languages.OffersTool() {
		names = append(names, "lsp")
	}
	return names
}

func disabled(tools map[string]bool) []string {
	var off []string
	for _, name := range sortedKeys(tools) {
		if !tools[name] {
			off = append(off, name)
		}
	}
	return off
}

func permissionOf(s tool.Spec) string {
	if s.Permission != "" {
		return s.Permission
	}
	return s.Name
}

// Arrived returns the user messages stored since the last call.
func (h *host) Arrived() []lathe.Message {
	h.runner.mu.Lock()
	defer h.runner.mu.Unlock()
	out := h.arrived
	h.arrived = nil
	return out
}

// Ask asks for permission.
func (h *host) Ask(ctx context.Context, in permission.AskInput) error {
	mode := h.mode(ctx)
	in.Policy = boundBy(in.Policy, mode, h.inst) // it may have changed since the call began
	return h.s.asksOf(ctx, h.runner).Permission.Ask(ctx, in.In(mode))
}

// asksOf returns the instance that holds the asks of a session: those of a helper in a
// worktree are shown where the session that it works for is.
func (s *Service) asksOf(ctx context.Context, r *runner) *instance.Instance {
	for range maxAncestors {
		sess := r.current()
		if sess.Helper == nil || sess.Helper.Branch == "" || sess.ParentID == "" {
			break
		}
		parent, err := s.runner(ctx, sess.ParentID)
		if err != nil {
			break
		}
		r = parent
	}
	return r.inst
}

var _ turn.Host = (*host)(nil)

// rulesOf returns the rules that an agent is judged by in this run.
func (h *host) rulesOf(a turn.Agent) []lathe.Rule {
	return slices.Concat(a.Rules, h.current().Rules, h.rules)
}

// runCeilings returns what no agent of this run may go beyond.
func (h *host) runCeilings() [][]lathe.Rule {
	h.runner.mu.Lock()
	defer h.runner.mu.Unlock()
	return slices.Clone(h.bounds.ceilings)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
