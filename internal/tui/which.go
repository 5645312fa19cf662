package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// leaderHint is how long the leader key waits before the screen shows what may
// follow it; a person who knows the key never sees that.
const leaderHint = 400 * time.Millisecond

// hintMsg says that the hint may be due or may have to go.
type hintMsg struct{}

// lead begins a leader sequence.
func (k *keyboard) lead(a *App) tea.Cmd {
	k.leader = a.opts.Now()
	later := func(d time.Duration) tea.Cmd {
		wait := a.after(d)
		if wait == nil {
			return nil
		}
		return func() tea.Msg {
			if wait() == nil {
				return nil
			}
			return hintMsg{}
		}
	}
	return tea.Batch(later(leaderHint), later(a.opts.Leader+10*time.Millisecond))
}

// hint draws what may follow the leader key, in columns.
func (k *keyboard) hint(v *view, l look.Look) []styled.Line {
	waited := v.opts.Now().Sub(k.leader)
	if k.leader.IsZero() || waited < leaderHint || waited > v.opts.Leader {
		return nil
	}
	const column = 38
	columns := max(1, (l.Width-2)/column)
	var cells []styled.Line
	for _, s := range v.keys.Sequences() {
		if c := commandFor(s.Action); c != nil && !c.can(v) || keys.Quick(s.Action) > 1 {
			continue
		}
		cell := append(styled.Plain(s.Key, l.FG(theme.Accent, styled.Bold)).Pad(7, l.Method, ""), styled.Span{Text: l.T(s.Help), Style: l.FG(theme.Text)})
		cells = append(cells, cell.Cut(column-2, l.Method).Pad(column, l.Method, ""))
	}
	rows := min((len(cells)+columns-1)/columns, max(1, v.height/2))
	out := []styled.Line{l.Title(v.keys.Leader(), "esc leave")}
	for r := range rows {
		line := styled.Line{{Text: "  "}}
		for c := r; c < len(cells); c += rows {
			line = append(line, cells[c]...)
		}
		out = append(out, line.Cut(l.Width, l.Method))
	}
	return out
}

// meaningless says that a key means nothing after the leader.
func (k *keyboard) meaningless(a *App, stroke string) tea.Cmd {
	if stroke != "esc" && !a.keys.IsLeader(stroke) {
		a.notify(dialog.Info, a.keys.Leader()+" "+stroke+" stands for nothing; "+a.keys.For(keys.Help)+" lists the keys")
	}
	return a.tick()
}
