package session

import (
	"context"
	"strings"

	"lathe"
	"lathe/internal/builtin"
	"lathe/internal/instance"
	"lathe/internal/prompt"
	"lathe/internal/store"
	"lathe/internal/tool"
	"lathe/internal/window"
)

// news is what the model of a session has to be told of what happened beside its turn: to
// jobs, to subagents, to the mode of approval.
type news struct {
	s       *Service
	inst    *instance.Instance
	window  *window.Window
	current func() *lathe.Session
}

// jobs returns what there is to tell about the session's jobs and about errors that
// language servers found late, or "". A subagent is told nothing, because the session it
// works for is.
func (n news) jobs() string {
	var told []string
	if n.s.opts.Jobs != nil {
		told = n.s.opts.Jobs.News(n.current().ID)
	}
	if late := builtin.LateReport(n.inst.Languages.News()); late != "" {
		told = append(told, late)
	}
	if len(told) == 0 {
		return ""
	}
	return prompt.Reminder(strings.Join(told, "\n"))
}

// planOnly reports whether the session refuses every change. One whose mode cannot be read is
// not said to: see [host.mode].
func (n news) planOnly(ctx context.Context) bool {
	mode, err := n.s.Modes.Of(ctx, n.current().ID)
	return err == nil && mode == lathe.PlanOnly
}

// mode returns what there is to tell of the mode while the model works, or "". It looks at
// what is known without reading the store: the call that has just ended was judged by it.
func (n news) mode() string {
	m := n.s.Modes
	m.mu.Lock()
	mode := m.known[n.current().ID]
	m.mu.Unlock()
	if mode == "" {
		return "" // a subagent, which was told with its prompt
	}
	return n.window.PlanOnlyNews(mode == lathe.PlanOnly)
}

// after adds to a result what has happened to jobs and to the mode of approval in the
// meantime, so that the model learns of it in its next step.
func (n news) after(cut func(tool.Result) tool.Result) func(tool.Result) tool.Result {
	return func(res tool.Result) tool.Result {
		res = cut(res)
		for _, told := range []string{n.jobs(), n.mode()} {
			if told != "" {
				res.Output += "\n\n" + told
			}
		}
		return res
	}
}

// helpers returns what the model of a session has to be told of helpers that ended
// without a report: they were stopped, or lathe ended before them.
func (n news) helpers(ctx context.Context) (notes []string) {
	h := &n.s.helpers
	if h.nothingUntold(n.current().ID) {
		return nil
	}
	children, err := n.s.opts.Store.Sessions(ctx, store.SessionFilter{ParentID: n.current().ID})
	if err != nil {
		n.s.opts.Log.Warn("what became of subagents is not known", "session", n.current().ID, "err", err)
		return nil
	}
	for _, c := range children {
		if c.Helper == nil || !c.Helper.Untold || h.runs(c.ID) || n.s.owed.heldElsewhere(ctx, c.ID) != nil {
			continue
		}
		text, why := n.lastOf(ctx, c.ID)
		notes = append(notes, helperReport(c, text, why, ""))
		n.s.markTold(ctx, c.ID)
	}
	return notes
}

// lastOf returns what a subagent said last, and why it did not finish, if it did not.
func (n news) lastOf(ctx context.Context, id lathe.SessionID) (text, failure string) {
	all, err := n.s.Messages(ctx, id, 1)
	if err != nil || len(all) == 0 {
		return "", "It was interrupted before it began."
	}
	const again = " To have it go on, call the task tool with its id as task_id."
	a, ok := all[0].Info.(*lathe.Assistant)
	switch {
	case !ok:
		return "", "It was interrupted before it answered." + again
	case a.Error != nil:
		failure = a.Error.Error() + again
	case a.Completed.IsZero() || a.Finish == lathe.FinishToolCalls:
		failure = "It was interrupted." + again
	}
	if text = lastText(&all[0]); text != "" && failure != "" {
		failure += "\n\nThe last it said:\n" + text
	}
	return text, failure
}
