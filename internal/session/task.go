package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/bus"
	"lathe/internal/instance"
	"lathe/internal/permission"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

const (
	maxAncestors   = 32
	maxTaskSummary = 100 // how many calls of a subagent the parent's part lists, newest ones
)

// Spawn runs a subagent in a session of its own and returns when it has ended, or at once
// if it works in the background. The end of ctx aborts one that is waited for, and Spawn
// waits for that.
func (s sessions) Spawn(ctx context.Context, i *instance.Instance, in builtin.SpawnInput) (builtin.SpawnResult, error) {
	if in.Merge && in.Prompt == "" {
		return s.mergeOnly(ctx, in)
	}
	h, err := s.newHelper(ctx, i, in)
	if err != nil {
		return builtin.SpawnResult{}, err
	}
	if !in.Background {
		return h.result(ctx)
	}
	s.helpers.start(h)
	return builtin.SpawnResult{Session: h.child.ID, Running: true, Metadata: h.watch.metadata()}, nil
}

// taskFiles returns the files that a task names with "@". Since a model wrote it,
// only those are returned that the subagent may read without an ask, and the name
// of an agent stays text: a mention by the user would be permission to call it.
func taskFiles(i *instance.Instance, text string, agent instance.Agent, rules []lathe.Rule, ceilings [][]lathe.Rule) []lathe.PartBody {
	return slices.DeleteFunc(references(i, text, readableBy(i, agent, rules, ceilings)), func(p lathe.PartBody) bool {
		_, file := p.(*lathe.File)
		return !file
	})
}

// childSession returns the session that a subagent works in: the one to resume,
// or a new child of the caller's.
func (s sessions) childSession(ctx context.Context, i *instance.Instance, agent instance.Agent, in builtin.SpawnInput) (lathe.Session, error) {
	parent, err := s.Get(ctx, in.Call.SessionID)
	if err != nil {
		return lathe.Session{}, err
	}
	if in.Resume != "" {
		old, err := s.Get(ctx, in.Resume)
		switch {
		case err == nil && old.ParentID == parent.ID:
			return s.placeAgain(ctx, parent, old, in)
		case err == nil:
			return old, fmt.Errorf("session %s is not one of this session's subagents; leave task_id out to start a new one", in.Resume)
		case lathe.CodeOf(err) != lathe.CodeNotFound:
			return old, err
		} // an id that a model made up starts a new one
	}
	limit := 2
	if d := i.Config.SubagentDepth; d != nil {
		limit = *d
	}
	above, err := s.ancestors(ctx, parent)
	if err != nil {
		return lathe.Session{}, err
	}
	if len(above) >= limit {
		return lathe.Session{}, fmt.Errorf("subagents may be nested %d deep here (subagent_depth); do the work yourself", limit)
	}
	caller, err := i.Agents.Get(in.Call.Agent)
	if err != nil {
		return lathe.Session{}, err
	}
	c := Create{
		Directory: parent.Directory, ParentID: parent.ID, Agent: agent.Name,
		Title: fmt.Sprintf("%s (@%s subagent)", cmp.Or(strings.TrimSpace(in.Description), "Task"), agent.Name),
		Rules: childRules(parent.Rules, caller, agent, i.Config.Experimental.PrimaryTools),
	}
	if in.Background {
		c.Helper = &lathe.Helper{Background: true, Untold: true}
	}
	if in.Worktree {
		if err := s.ownPlace(ctx, parent, in, &c); err != nil {
			return lathe.Session{}, fmt.Errorf("make a worktree for the subagent: %w", err)
		}
	}
	return s.Create(ctx, c)
}

// ancestors returns the sessions that a subagent works for, nearest first.
func (s sessions) ancestors(ctx context.Context, sess lathe.Session) (out []lathe.SessionID, err error) {
	for sess.ParentID != "" && len(out) < maxAncestors {
		out = append(out, sess.ParentID)
		if sess, err = s.Get(ctx, sess.ParentID); err != nil {
			return out, err
		}
	}
	return out, nil
}

// childRules derives the rules of a subagent's session. It inherits what the
// parent's session denies and its rules for outside directories, but nothing else
// that is allowed there. It gets no task list and no subagents of its own unless
// its agent says so, and no edits if the calling agent makes none.
func childRules(parent []lathe.Rule, caller, agent instance.Agent, primary []string) []lathe.Rule {
	var rules []lathe.Rule
	deny := func(name string) {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
	}
	for _, r := range parent {
		if r.Action == lathe.Deny || r.Permission == "external_directory" {
			rules = append(rules, r)
		}
	}
	for _, name := range []string{"todowrite", "todoread", "task"} {
		if !slices.ContainsFunc(agent.Rules, func(r lathe.Rule) bool { return r.Permission == name }) {
			deny(name)
		}
	}
	for _, name := range primary {
		deny(permission.Literal(name))
	}
	if readOnly(caller) {
		deny("edit")
	}
	return rules
}

// readOnly reports whether an agent's last rule for editing any file denies.
func readOnly(a instance.Agent) bool {
	denied := false
	for _, r := range a.Rules {
		if r.Pattern == "*" && permission.Match(r.Permission, "edit") {
			denied = r.Action == lathe.Deny
		}
	}
	return denied
}

// childRunRules returns what the rules of one run mean for its subagents:
// everything except allowing what the subagent's agent denies.
func childRunRules(run []lathe.Rule, agent instance.Agent) []lathe.Rule {
	return slices.DeleteFunc(slices.Clone(run), func(r lathe.Rule) bool {
		return r.Action == lathe.Allow && slices.ContainsFunc(agent.Rules, func(a lathe.Rule) bool {
			return a.Action == lathe.Deny && (permission.Match(a.Permission, r.Permission) || permission.Match(r.Permission, a.Permission))
		})
	})
}

// shared returns what a running turn passes on to its subagents.
func (r *runner) shared() (turn.Limits, *turn.Spent, []lathe.Rule, [][]lathe.Rule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bounds.limits, r.bounds.spent, r.bounds.rules, slices.Clone(r.bounds.ceilings)
}

// purse returns what holds a running turn, and its subagents, to the budget.
func (r *runner) purse() *purse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bounds.purse
}

// timeLeft returns what is left of the time that a running turn was given; 0 is no limit.
func (r *runner) timeLeft(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bounds.limits.Time == 0 {
		return 0
	}
	return max(r.bounds.limits.Time-now.Sub(r.bounds.began), time.Millisecond)
}

// stopRun stops a run if it is still the running one.
func (r *runner) stopRun(run *Run, cause error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work.runs(run) {
		r.work.cancel(cause)
	}
}

// lastText returns the last text of a message.
func lastText(m *lathe.Message) string {
	if m == nil {
		return ""
	}
	for _, p := range slices.Backward(m.Parts) {
		if t, ok := p.Body.(*lathe.Text); ok && strings.TrimSpace(t.Text) != "" {
			return t.Text
		}
	}
	return ""
}

// whyFailed returns why a subagent did not finish, followed by what it said before, or "".
func whyFailed(out turn.Outcome) string {
	why := ""
	switch {
	case out.Failure != nil:
		why = out.Failure.Error()
	case out.Blocked:
		why = "the user rejected what it wanted to do"
	default:
		return ""
	}
	if text := lastText(out.Last); text != "" {
		why += "\n\nThe last it said:\n" + text
	}
	return why
}

// taskWatch shows a subagent's work in the part of the call that started it.
type taskWatch struct {
	call  *tool.Call
	title string
	child lathe.Session
	model lathe.ModelRef
	calls []taskCall
}

type taskCall struct {
	id            lathe.PartID
	tool          string
	status, title string
}

func newTaskWatch(in builtin.SpawnInput, child lathe.Session, model lathe.ModelRef) *taskWatch {
	return &taskWatch{call: in.Call, title: in.Description, child: child, model: model}
}

// wants picks the events to follow.
func (w *taskWatch) wants(ev lathe.Event) bool {
	switch ev := ev.(type) {
	case lathe.PartUpdated:
		_, ok := ev.Part.Body.(*lathe.ToolCall)
		return ok
	case lathe.SessionStatus:
		_, idle := ev.Status.(lathe.Idle)
		return idle
	}
	return false
}

// follow shows the calls of the subagent until it is idle or the events end.
func (w *taskWatch) follow(sub *bus.Subscription) {
	for e, err := range sub.All() {
		if err != nil {
			return
		}
		p, ok := e.Event.(lathe.PartUpdated)
		if !ok {
			return
		}
		if w.update(p.Part) {
			w.show()
		}
	}
}

// update applies a tool part; it reports whether the part's state or title changed.
func (w *taskWatch) update(p lathe.Part) bool {
	body := p.Body.(*lathe.ToolCall)
	now := taskCall{id: p.ID, tool: body.Tool}
	switch st := body.State.(type) {
	case *lathe.ToolPending:
		now.status = "pending"
	case *lathe.ToolRunning:
		now.status, now.title = "running", st.Title
	case *lathe.ToolDone:
		now.status, now.title = "completed", st.Title
	case *lathe.ToolFailed:
		now.status = "error"
	}
	i := slices.IndexFunc(w.calls, func(c taskCall) bool { return c.id == p.ID })
	if i < 0 {
		if len(w.calls) == maxTaskSummary {
			w.calls = slices.Delete(w.calls, 0, 1)
		}
		w.calls = append(w.calls, now)
		return true
	}
	changed := w.calls[i] != now
	w.calls[i] = now
	return changed
}

func (w *taskWatch) show() {
	if w.call.Progress != nil {
		w.call.Progress(w.title, w.metadata())
	}
}

// metadata is what clients read: how to find the child, and what it is doing.
func (w *taskWatch) metadata() map[string]any {
	summary := make([]any, len(w.calls))
	for i, c := range w.calls {
		state := map[string]any{"status": c.status}
		if c.title != "" {
			state["title"] = c.title
		}
		summary[i] = map[string]any{"id": string(c.id), "tool": c.tool, "state": state}
	}
	return map[string]any{
		"sessionId": string(w.child.ID), "parentSessionId": string(w.child.ParentID), "summary": summary,
		"model": map[string]any{"providerID": w.model.Provider, "modelID": w.model.Model},
	}
}

// Children returns the sessions below one, newest first.
func (s *Service) Children(ctx context.Context, id lathe.SessionID) ([]lathe.Session, error) {
	return s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: id})
}

// callerPolicy is what a subagent's caller is judged by: its agent, its session
// and its run.
func callerPolicy(caller instance.Agent, parent lathe.Session, run []lathe.Rule) permission.Policy {
	p := caller.Policy()
	p.Rules = slices.Concat(p.Rules, parent.Rules, run)
	return p
}
