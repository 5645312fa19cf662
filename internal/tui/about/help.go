package about

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Fixed are keystrokes that no configuration changes: those of writing, of
// dialogs and of asks.
var Fixed = [...]struct {
	Head string
	Rows [][2]string
}{
	{"writing", [][2]string{
		{"@", "a file, a directory or an agent; @file#5-20 for lines"}, {"/", "a command"}, {"!", "a shell command, run at once"},
		{"tab, enter", "take it; tab goes on into a directory"}, {"esc", "wave it away"},
	}},
	{"lists", [][2]string{
		{"up, down, pgup, pgdown", "move"}, {"letters", "search"}, {"enter", "choose"}, {"esc", "leave"},
		{"tab", "in sessions: all that can be done with one; in themes: dark or light"},
	}},
	{"pages such as this", [][2]string{
		{"up, down, j, k", "a line"}, {"pgup, pgdown, space", "a page"}, {"home, end", "first or last line"}, {"/", "search"}, {"esc, q, enter", "leave"},
	}},
	{"a permission is asked for", [][2]string{
		{"y", "allow once"}, {"a", "see what could be allowed from now on; " + dialog.GiveKey + " allows it"},
		{"n, esc", "refuse"}, {"t", "refuse and tell why"}, {"up, down, enter", "choose"},
		{"pgup, pgdown, home, end", "read what does not fit"}, {dialog.FillKey, "fill the screen with it, and back"},
	}},
	{"a question is asked", [][2]string{
		{"1 to 9", "choose"}, {"space", "mark, where several can be chosen"}, {"left, right, tab", "the other questions"},
		{"enter", "answer"}, {"esc", "dismiss"},
	}},
	{"a repository asks for trust", [][2]string{{"y", "trust it until lathe ends"}, {"r, then " + dialog.GiveKey, "trust it as it is now, and remember"}, {"n, esc", "do not trust it"}}},
}

// Command is a command of the screen as the help shows it.
type Command struct {
	Names  []string // after "/"; commands without a name have only keys
	Title  string
	Action keys.Action
}

// help is what the help reports.
type help struct {
	keys     *keys.Map
	commands []Command
	project  []api.Command
	now      Now
}

// HelpTitle is what the page of [Help] is called.
const HelpTitle = "help"

// Help shows the keys of what the person is doing now, and below them every key and
// command: those of the screen, and those of the project.
func Help(m *keys.Map, commands []Command, project []api.Command, now Now) tea.Msg {
	h := help{m, commands, project, now}
	return dialog.Open{Sheet: &dialog.Page{Title: HelpTitle, First: h.cheat, Lines: h.lines}}
}

func (h help) lines(l look.Look) []styled.Line {
	var out []styled.Line
	line := func(key, does, far string) {
		left, room := 31, l.Width-4
		if l.Width < 60 {
			left = 12
		}
		if l.Width >= 100 {
			room -= 34
		}
		for _, row := range pair(l, key, does, left, room) {
			if far != "" && l.Width >= 100 {
				row, far = append(row.Pad(l.Width-36, l.Method, ""), styled.Span{Text: " " + far, Style: l.FG(theme.Muted)}), ""
			}
			out = append(out, row)
		}
	}
	head := func(s string) styled.Line { return styled.Plain(l.T(s), l.FG(theme.Secondary, styled.Bold)) }
	section := func(f int) {
		out = append(out, head(Fixed[f].Head))
		for _, r := range Fixed[f].Rows {
			line(r[0], r[1], "")
		}
		out = append(out, nil)
	}
	section(0)
	out = append(out, head("commands"))
	for _, c := range h.commands {
		if len(c.Names) > 0 {
			line("/"+strings.Join(c.Names, " /"), c.Title, h.keys.For(c.Action))
		}
	}
	for _, c := range h.project {
		line("/"+styled.OneLine(c.Name), styled.OneLine(c.Description), "")
	}
	out = append(out, nil, head("keys"), styled.Plain(l.T("Configure them as keybinds in lathe.json; a wide window shows their names."), l.FG(theme.Muted)))
	line(h.keys.Leader(), "the leader key, before another one", "leader")
	var unbound []string
	for _, b := range h.keys.Bindings() {
		var pretty []string
		for _, k := range b.Keys {
			pretty = append(pretty, h.keys.Pretty(k))
		}
		if len(pretty) == 0 {
			unbound = append(unbound, string(b.Action)+": "+b.Help)
			continue
		}
		text := b.Help
		if b.List {
			text += " (in a list)"
		}
		line(strings.Join(pretty[:min(len(pretty), 2)], ", "), text, string(b.Action))
		for _, k := range pretty[min(len(pretty), 2):] {
			line("  "+k, "", "")
		}
	}
	out = append(out, nil)
	for i := range Fixed[1:] {
		section(i + 1)
	}
	out = append(out, head("actions without a key"))
	for _, u := range unbound {
		name, what, _ := strings.Cut(u, ": ")
		line(name, what, "")
	}
	if idle := h.keys.Idle(); len(idle) > 0 {
		out = append(out, nil, head("configured, but not there"))
		for _, name := range idle {
			line(styled.OneLine(name), "OpenCode has it, this screen does not", "")
		}
	}
	return out
}
