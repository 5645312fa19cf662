package turn

import (
	"context"

	"lathe"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
	"lathe/internal/tool"
)

// closing brings a turn to a good end where the model or a limit would not.
type closing struct {
	nudged []string // reasons the model was nudged for
	nudge  string   // what the next request says in addition
	last   bool     // the newest step was to be the last
	held   int      // times that a hook made the model go on
}

// mostHeld is how often hooks can make the model go on in one turn.
const mostHeld = 8

// heldOn reports whether a hook wants the model to go on; if so, the next request says why.
func (t *Turn) heldOn(ctx context.Context, user *lathe.Message) bool {
	last, ok := t.History[len(t.History)-1].Info.(*lathe.Assistant)
	if !ok || last.Error != nil || prompt.Mark(user) != nil || t.closing.held == mostHeld || ctx.Err() != nil {
		return false
	}
	why := t.Hooks.Stop(ctx, plugin.StopInput{
		SessionID: t.Session.ID, Agent: last.Agent, Subagent: t.Session.ParentID != "", Continued: t.closing.held > 0,
	})
	if why == "" {
		return false
	}
	t.closing.held++
	t.closing.nudge = why
	return true
}

// note appends text that the model sees in this request only.
func note(messages []llm.Message, text string) []llm.Message {
	return append(messages, llm.Message{Role: llm.RoleUser, Content: []llm.Content{llm.Text{Text: prompt.Reminder(text)}}})
}

// farewell reports whether a limit that forbids another step would leave work without an answer. If
// so, the model may still say, without tools, what was done and what was not.
func (t *Turn) farewell(f lathe.Failure) bool {
	limit, ok := f.(*lathe.LimitFailure)
	if !ok || limit.Limit != "steps" || t.budget.steps == 0 {
		return false
	}
	_, answer := t.History[len(t.History)-1].Info.(*lathe.Assistant)
	return answer
}

// lastWords lets the model answer once more before the limit ends the turn.
func (t *Turn) lastWords(ctx context.Context, c cast, f lathe.Failure) (stepResult, error) {
	c.tools = &Toolset{Registry: refusing(c.tools.Registry), Policy: c.tools.Policy, Reading: c.tools.Reading, Cut: c.tools.Cut}
	t.budget.steps++
	res, err := t.step(ctx, c, true)
	if err != nil || res.failure != nil && !isSteps(res.failure) {
		return res, err
	}
	t.Log.Publish(lathe.SessionFailed{SessionID: t.Session.ID, Failure: f})
	return stepResult{stop: true, failure: f}, nil
}

func isSteps(f lathe.Failure) bool {
	limit, ok := f.(*lathe.LimitFailure)
	return ok && limit.Limit == "steps"
}

// refusing returns tools with the same descriptions, so that the request begins with the same
// bytes, but none of them can be called.
func refusing(r *tool.Registry) *tool.Registry {
	var list []tool.Tool
	for _, t := range r.Tools() {
		list = append(list, refused{t})
	}
	return tool.NewRegistry(list...).Quietly(r.Quiet()...)
}

type refused struct{ tool.Tool }

// Run answers that no tool can be called any more.
func (refused) Run(context.Context, *tool.Call) (tool.Result, error) {
	return tool.Failf("The step limit is reached: no more tools can be called, and nothing was done."), nil
}
