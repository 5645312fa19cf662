package turn

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe"
	"lathe/internal/compact"
	"lathe/internal/llm"
	"lathe/internal/plugin"
	"lathe/internal/prompt"
)

// Answers reports whether the message at i is a model's answer to a request, or an attempt at one.
// All is the whole session, oldest first.
func Answers(all []lathe.Message, i int) bool {
	info, ok := all[i].Info.(*lathe.Assistant)
	if !ok || !slices.ContainsFunc(all[i].Parts, func(p lathe.Part) bool { _, starts := p.Body.(*lathe.StepStart); return starts }) {
		return false
	}
	return !runsSubtasks(all[:i], info.ParentID)
}

// runsSubtasks reports whether the next answer to a user message comes from its subtasks, for which
// no model is asked.
func runsSubtasks(before []lathe.Message, user lathe.MessageID) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if a, ok := before[i].Info.(*lathe.Assistant); ok && a.ParentID == user {
			return false
		}
		if before[i].ID == user {
			return slices.ContainsFunc(before[i].Parts, func(p lathe.Part) bool { _, task := p.Body.(*lathe.Subtask); return task })
		}
	}
	return false
}

// Replay rebuilds the request that the message at i answered; see [Answers]. It uses the turn's
// Session, Host, Hooks and Context, and changes nothing. The notes say where it may differ from
// what was sent. A failure says why there is none.
func (t *Turn) Replay(ctx context.Context, all []lathe.Message, i int) (req *llm.Request, notes []string, failure lathe.Failure) {
	r := *t
	r.setDefaults()
	info := all[i].Info.(*lathe.Assistant)
	user := asked(all[:i], info)
	if user == nil {
		return nil, nil, &lathe.UnknownFailure{Message: "the message that it answers was removed"}
	}
	ctx = askedBy(ctx, user)
	c, failure := r.castFor(ctx, user)
	if failure != nil {
		return nil, nil, failure
	}
	d := draft{Turn: &r, cast: c}
	r.History = past(all, i, user)
	if info.Summary {
		c := &compactor{draft: d}
		return c.replay(ctx, all[:i], info)
	}
	d.toolDefs(ctx) // what counts as a lapse depends on what was offered
	d.last, r.closing.nudge = d.wasLast(all[:i]), r.nudgedBy(user)
	req, err := d.request(ctx)
	if err != nil {
		return nil, nil, classify(ctx, err, info.Model)
	}
	return req, d.unoffered(ctx, &all[i]), nil
}

// asked returns the user message that an answer was made for; for a summary, the newest one before
// the compaction.
func asked(before []lathe.Message, a *lathe.Assistant) *lathe.Message {
	for i := len(before) - 1; i >= 0; i-- {
		m := &before[i]
		if _, user := m.Info.(*lathe.User); !user {
			continue
		}
		if a.Summary && prompt.Mark(m) == nil || !a.Summary && m.ID == a.ParentID {
			return m
		}
	}
	return nil
}

// past returns the history as it was when the answer at i was requested: without what arrived after
// the message being answered, and with outputs that have been pruned since.
func past(all []lathe.Message, i int, user *lathe.Message) []lathe.Message {
	out := make([]lathe.Message, 0, i)
	summary := all[i].Info.(*lathe.Assistant).Summary
	for _, m := range all[:i] {
		if _, is := m.Info.(*lathe.User); is && !summary && m.Seq > user.Seq && prompt.Mark(&m) == nil {
			continue
		}
		m.Parts = slices.Clone(m.Parts)
		for j := range m.Parts {
			m.Parts[j].Body = uncleared(m.Parts[j].Body, &all[i])
		}
		out = append(out, m)
	}
	return out
}

func uncleared(b lathe.PartBody, at *lathe.Message) lathe.PartBody {
	call, ok := b.(*lathe.ToolCall)
	if !ok {
		return b
	}
	done, ok := call.State.(*lathe.ToolDone)
	if !ok || !done.Compacted.After(at.Created) {
		return b
	}
	next, state := *call, *done
	state.Compacted = time.Time{}
	next.State = &state
	return &next
}

// nudgedBy returns what the request pointed out about the answer before it, or "".
func (t *Turn) nudgedBy(user *lathe.Message) string {
	if len(t.History) == 0 || prompt.Mark(user) != nil {
		return ""
	}
	text := t.lapse()
	if text == "" || called(&t.History[len(t.History)-1]) || t.History[len(t.History)-1].Info.(*lathe.Assistant).ParentID != user.ID {
		return ""
	}
	return text
}

// wasLast reports whether a step limit made the step after these messages the turn's last: the
// agent's limit, or the run's, which the model was told about.
func (d *draft) wasLast(before []lathe.Message) bool {
	steps, limit := 1, 0
	for i := len(before) - 1; i >= 0; i-- {
		m := &before[i]
		if info, ok := m.Info.(*lathe.User); ok {
			if info.Steers || prompt.Mark(m) != nil || goesOn(m) {
				continue
			}
			limit = toldSteps(m)
			break
		}
		if a := compact.Answer(m); a != nil && !a.Summary && Answers(before, i) {
			steps++
		}
	}
	return d.agent.Steps > 0 && steps >= d.agent.Steps || limit > 0 && steps > limit
}

// goesOn reports whether a message is the one with which a compaction continues the work.
func goesOn(m *lathe.Message) bool {
	return len(m.Parts) > 0 && slices.ContainsFunc(m.Parts, func(p lathe.Part) bool {
		text, ok := p.Body.(*lathe.Text)
		return ok && text.Synthetic && text.Text == continueText
	})
}

// toldSteps returns how many steps a message says the run may take, or 0.
func toldSteps(m *lathe.Message) int {
	for _, p := range m.Parts {
		text, ok := p.Body.(*lathe.Text)
		if !ok || !text.Synthetic {
			continue
		}
		if _, told, ok := strings.Cut(text.Text, "This run ends after "); ok {
			n, _, _ := strings.Cut(told, " requests to you")
			steps, _ := strconv.Atoi(n) // 0 if the message names another limit
			return steps
		}
	}
	return 0
}

// unoffered notes tools that an answer called although they are not offered now.
func (d *draft) unoffered(ctx context.Context, answer *lathe.Message) (notes []string) {
	var names []string
	for _, p := range answer.Parts {
		call, ok := p.Body.(*lathe.ToolCall)
		if !ok || slices.Contains(names, call.Tool) || slices.ContainsFunc(d.toolDefs(ctx), func(d llm.Tool) bool { return d.Name == call.Tool }) {
			continue
		}
		names = append(names, call.Tool)
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("the model called %s here, which is not among the tools that would be offered now", strings.Join(names, ", "))}
}

// replay rebuilds the request for a summary if it began like the conversation; too little is known
// about one that used a transcript.
func (c *compactor) replay(ctx context.Context, before []lathe.Message, info *lathe.Assistant) (*llm.Request, []string, lathe.Failure) {
	if c.Context == nil {
		return nil, nil, &lathe.UnknownFailure{Message: "compactions are not made again here"}
	}
	i := slices.IndexFunc(before, func(m lathe.Message) bool { return m.ID == info.ParentID })
	agent, model, own := c.summariser(ctx)
	if i < 0 || own || prompt.Mark(&before[i]) != nil && prompt.Mark(&before[i]).Overflow || info.Model.Model != model.Ref.Model {
		return nil, nil, &lathe.UnknownFailure{Message: "the summary was asked for with a transcript of the conversation, which is not stored"}
	}
	hooked := c.Hooks.Compacting(ctx, plugin.CompactingInput{SessionID: c.Session.ID, Auto: c.auto}, plugin.Compacting{Prompt: c.override(agent)})
	req, err := c.sharedRequest(ctx, compact.Request(hooked.Prompt, hooked.Context))
	if err != nil {
		return nil, nil, classify(ctx, err, info.Model)
	}
	return req, []string{"a transcript of the conversation was sent in place of this where this did not fit the window, which is not stored"}, nil
}
