package tui

import (
	"lathe"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// drawInput draws the line above the input, what it offers to complete and the input itself,
// and returns where in it the caret stands.
func (v *view) drawInput() (lines []styled.Line, x, y int) {
	l := v.look
	mark, key := l.Glyph(" ❯ ", " > "), theme.Primary
	if name := v.choice.AgentName(); name != "" && name != "build" {
		key = theme.Secondary
	}
	if v.input.IsShell() {
		mark, key = " $ ", theme.Warning
	}
	offers := v.input.DrawOffer(l, v.offerRows())
	body, x, y := v.input.Draw(l, styled.Plain(mark, l.FG(key, styled.Bold)), l.T(v.inputHint()))
	for i, line := range body {
		body[i] = line.Pad(l.Width, l.Method, "").Over(l.Theme.BG(theme.Panel))
	}
	lines = append(append(append(lines, offers...), v.rule()), body...)
	return lines, x, y + len(offers) + 1
}

// foreign is the other process that works in the session; empty if none does.
func (v *visit) foreign() string {
	b, _ := v.status[v.session.ID].(lathe.Busy)
	return styled.OneLine(b.In)
}

// inputHint says what the input is for while it is empty.
func (v *view) inputHint() string {
	switch {
	case v.session.ParentID != "":
		return "a subagent works here; " + v.keys.For(keys.Parent) + " goes back"
	case v.foreign() != "":
		return "another lathe works here; what you send has to wait until it is done"
	case v.busy():
		return "write on; it is taken up at the next step"
	}
	return "ask anything"
}
