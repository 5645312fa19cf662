package about

import (
	"slices"

	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Now is what the person is doing, which decides what keys the help begins with.
type Now struct {
	Busy    bool // a turn runs
	Session bool
	Can     func(keys.Action) bool // whether an action would do something
}

// group is keys that belong together. The key of an entry without an action is fixed.
type group struct {
	head string
	rows []entry
}

type entry struct {
	action    keys.Action
	key, help string
}

func does(actions ...keys.Action) (out []entry) {
	for _, a := range actions {
		out = append(out, entry{action: a})
	}
	return out
}

// groups returns what can be done now, the most immediate first.
func (n Now) groups() []group {
	signs := []entry{{key: "@", help: "a file or an agent"}, {key: "/", help: "a command"}, {key: "!", help: "a shell command"}}
	writing := group{"writing", slices.Concat(does(keys.Submit, keys.Newline), signs, does(keys.HistoryPrevious, keys.AgentNext, keys.Stash, keys.Editor, keys.Exit))}
	screen := group{"the screen", does(keys.Commands, keys.NewSession, keys.Sessions, keys.Models, keys.Agents, keys.Status, keys.Suspend)}
	if !n.Session {
		screen.rows = append(screen.rows, does(keys.Elsewhere, keys.ApprovalMode, keys.Tips)...)
		return []group{writing, screen}
	}
	talk := group{"the conversation", does(keys.PageUp, keys.PageDown, keys.Last, keys.PromptPrev, keys.Find, keys.Timeline, keys.Undo, keys.Redo,
		keys.Copy, keys.Bookmark, keys.Review, keys.Details, keys.Sidebar, keys.Compact, keys.Parent)}
	if n.Busy {
		return []group{{"a turn runs", does(keys.Interrupt)}, writing, talk, screen}
	}
	return []group{writing, talk, screen}
}

// cheat draws the keys of what the person is doing, in as many columns as fit.
func (h help) cheat(l look.Look) []styled.Line {
	const narrowest, widest = 38, 4
	columns := max(1, min(widest, (l.Width-2)/narrowest))
	width := (l.Width - 2) / columns
	var cells [][]styled.Line // lines that stay together
	for _, g := range h.now.groups() {
		rows := h.known(g.rows)
		for i, e := range rows {
			cell := pair(l, e.key, e.help, 12, width-2)
			if i == 0 {
				cell = append([]styled.Line{styled.Plain(l.T(g.head), l.FG(theme.Secondary, styled.Bold))}, cell...)
			}
			cells = append(cells, cell)
		}
	}
	return append(pour(cells, columns, width, l), nil)
}

// known returns the entries that have a key and would do something, with both told.
func (h help) known(rows []entry) (out []entry) {
	for _, e := range rows {
		if e.action == "" {
			out = append(out, e)
			continue
		}
		for _, b := range h.keys.Bindings() {
			if b.Action == e.action && len(b.Keys) > 0 && h.now.Can(e.action) {
				out = append(out, entry{e.action, h.keys.Pretty(b.Keys[0]), b.Help})
			}
		}
	}
	return out
}

// pair draws a key and what it does in at most width columns, the first left of them for
// the key. Nothing is cut.
func pair(l look.Look, key, does string, left, width int) (out []styled.Line) {
	first := styled.Plain(key, l.FG(theme.Accent))
	if styled.Width(key, l.Method) >= left {
		out, first = styled.Wrap(first, width, l.Method), nil
	}
	for _, text := range styled.Wrap(styled.Plain(l.T(does), l.FG(theme.Text)), max(10, width-left), l.Method) {
		out = append(out, styled.Join(first.Pad(left, l.Method, ""), text))
		first = nil
	}
	return out
}

// pour fills columns of equal height with cells, from the top of the first on.
func pour(cells [][]styled.Line, columns, width int, l look.Look) []styled.Line {
	total := 0
	for _, c := range cells {
		total += len(c)
	}
	for height := (total + columns - 1) / columns; ; height++ {
		var out [][]styled.Line
		for _, c := range cells {
			if n := len(out); n == 0 || len(out[n-1])+len(c) > height {
				out = append(out, nil)
			}
			out[len(out)-1] = append(out[len(out)-1], c...)
		}
		if len(out) <= columns {
			return beside(out, height, width, l)
		}
	}
}

func beside(columns [][]styled.Line, height, width int, l look.Look) []styled.Line {
	out := make([]styled.Line, height)
	for i, c := range columns {
		for y, line := range c {
			out[y] = styled.Join(out[y].Pad(i*width, l.Method, ""), line)
		}
	}
	return out
}
