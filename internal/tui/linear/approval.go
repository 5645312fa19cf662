package linear

import (
	"lathe"
	"lathe/internal/tui/modes"
)

// approval lists how much can be asked, to choose from.
func (t *talk) approval() {
	m := t.Engine.Can().Modes
	if m == nil || t.session.ID == "" {
		t.say("This can be chosen once the session has begun.")
		return
	}
	now, err := m.ApprovalMode(t.ctx, t.session.ID)
	if t.fail(err) {
		return
	}
	var out []choice
	for _, mode := range lathe.ApprovalModes() {
		name, means := modes.Words(mode)
		label := t.in(name) + ", " + t.in(means)
		if mode == now {
			label += t.in(", chosen")
		}
		out = append(out, choice{label, func() {
			if !t.fail(m.SetApprovalMode(t.ctx, t.session.ID, mode)) {
				t.say("Chosen: %s", t.in(name))
			}
		}})
	}
	t.menu.offer(out)
}
