package turn

import (
	"context"
	"slices"

	"lathe"
	"lathe/internal/compact"
)

// unseen returns where in the history the results begin that no request has shown to the model yet:
// those of the newest step. It is -1 if there are none.
func (t *Turn) unseen() int {
	for i := len(t.History) - 1; i >= 0; i-- {
		a := compact.Answer(&t.History[i])
		switch {
		case a == nil || a.Error != nil && !called(&t.History[i]): // a message that arrived, or a refused request
			continue
		case !a.Summary && called(&t.History[i]):
			return i
		}
		return -1
	}
	return -1
}

func called(m *lathe.Message) bool {
	for i := range m.Parts {
		if _, ok := m.Parts[i].Body.(*lathe.ToolCall); ok {
			return true
		}
	}
	return false
}

// cutUnseen shortens the results that the model has not seen to a budget of tokens, and reports
// whether they then fit.
func (d *draft) cutUnseen(ctx context.Context, budget int64) (fits bool, err error) {
	i := d.unseen()
	if i < 0 {
		return false, nil
	}
	return d.cutResults(ctx, i, budget)
}

// cutResults shortens the results of a message to a budget of tokens, and reports whether they then
// fit. The model is told that they are cut; they are stored whole.
func (d *draft) cutResults(ctx context.Context, i int, budget int64) (fits bool, err error) {
	msg := &d.History[i]
	parts, cut := d.planCut(msg, budget)
	if len(parts) > 0 {
		changes := make([]Change, len(parts))
		for j := range parts {
			changes[j] = Change{Part: &parts[j]}
		}
		if err := d.Log.Commit(ctx, changes...); err != nil {
			return false, err
		}
		msg.Parts = cut.Parts
		d.Logger.Info("results were cut to fit the model's window", "session", d.Session.ID, "parts", len(parts))
	}
	return d.weighs(msg) <= budget, nil
}

// planCut returns the parts that have to be cut for a message to fit a budget, and the message with
// them cut.
func (d *draft) planCut(msg *lathe.Message, budget int64) (parts []lathe.Part, cut lathe.Message) {
	factor := d.Context.Correction(d.model.Ref).Factor()
	parts, cut = d.window.meter.Cut(msg, int64(float64(budget)/factor)), *msg
	cut.Parts = slices.Clone(msg.Parts)
	for _, p := range parts {
		j := slices.IndexFunc(cut.Parts, func(q lathe.Part) bool { return q.ID == p.ID })
		cut.Parts[j].Body = p.Body
	}
	return parts, cut
}

func (d *draft) weighs(msg *lathe.Message) int64 {
	return d.Context.Correction(d.model.Ref).Apply(d.window.meter.Message(msg))
}
