package turn

import (
	"context"

	"lathe"
	"lathe/internal/compact"
)

// unseen returns where in the history the results stand that no request has shown to
// the model yet: those of the newest step. It is -1 if there are none.
func (t *Turn) unseen() int {
	for i := len(t.History) - 1; i >= 0; i-- {
		a := compact.Answer(&t.History[i])
		switch {
		case a == nil || a.Error != nil && !called(&t.History[i]): // what arrived, or a refused request
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

// cutUnseen shortens the results that the model has not seen to a budget of tokens,
// and reports whether they fit it then. They are told to be cut, and are stored
// whole.
func (d *draft) cutUnseen(ctx context.Context, budget int64) (fits bool, err error) {
	i := d.unseen()
	if i < 0 {
		return false, nil
	}
	msg, meter, k := &d.History[i], d.window.meter, d.Context.Correction(d.model.Ref)
	parts := meter.Cut(msg, int64(float64(budget)/k.Factor()))
	if len(parts) == 0 {
		return k.Apply(meter.Message(msg)) <= budget, nil
	}
	changes := make([]Change, len(parts))
	for j := range parts {
		changes[j] = Change{Part: &parts[j]}
	}
	if err := d.Log.Commit(ctx, changes...); err != nil {
		return false, err
	}
	for j := range msg.Parts {
		for n := range parts {
			if msg.Parts[j].ID == parts[n].ID {
				msg.Parts[j].Body = parts[n].Body
			}
		}
	}
	d.Logger.Info("results were cut to fit the model's window", "session", d.Session.ID, "parts", len(parts))
	return k.Apply(meter.Message(msg)) <= budget, nil
}
