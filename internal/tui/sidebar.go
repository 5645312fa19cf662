package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

const (
	sideWidth  = 38  // columns of the sidebar, its border included
	sideAlways = 120 // columns from which on it is shown without being asked for
	sideAtAll  = 90  // and can be shown
)

// side is what the sidebar shows beyond what the rest of the screen knows.
type side struct {
	open     bool            // where there is little room, the person asked for it
	of       lathe.SessionID // that changes were read for
	changes  []engine.FileChange
	asked    bool // for the servers
	mcp, lsp []api.Configured
}

// sideMsg brings what the sidebar shows.
type sideMsg struct {
	of      lathe.SessionID
	changes []engine.FileChange
	setup   *api.Setup
}

// sidebar returns how wide the sidebar is; 0: it is not shown.
func (a *App) sidebar() int {
	switch {
	case a.opts.Inline || a.session.ID == "" || a.look.Width < sideAtAll:
		return 0
	case a.look.Width < sideAlways && !a.side.open, a.look.Width >= sideAlways && a.prefs.NoSidebar:
		return 0
	}
	return sideWidth
}

// pane is the look of the conversation, beside which other things may stand.
func (a *App) pane() look.Look {
	l := a.look
	l.Width -= a.sidebar() + a.barWidth()
	return l
}

// widen changes how wide the conversation is; the person reads on where they did.
func (a *App) widen(change func()) {
	read := a.conv.Reading()
	change()
	a.conv.ReadOn(read)
}

// toggleSidebar shows the sidebar or hides it. Where there is no room beside the
// conversation it is a page.
func (a *App) toggleSidebar() tea.Cmd {
	switch {
	case a.opts.Inline || a.look.Width < sideAtAll:
		a.push(&dialog.Page{Title: "session", Lines: func(l look.Look) []styled.Line {
			l.Width -= 3
			return a.sideLines(l, 1<<20)
		}})
		return a.fillSide()
	case a.look.Width < sideAlways:
		a.widen(func() { a.side.open = !a.side.open })
		return a.loadSide()
	}
	a.widen(func() { a.prefs.NoSidebar = !a.prefs.NoSidebar })
	return tea.Batch(a.prefs.Save(), a.loadSide())
}

// loadSide reads what the sidebar shows, where it is shown.
func (a *App) loadSide() tea.Cmd {
	if a.sidebar() == 0 {
		return nil
	}
	return a.fillSide()
}

// fillSide reads what the sidebar shows and is not known yet.
func (a *App) fillSide() tea.Cmd {
	d, i := a.access.Able.Changes, a.access.Able.Setup
	changes := d != nil && a.side.of != a.session.ID && a.session.Summary != nil
	servers := i != nil && !a.side.asked
	if !changes && !servers {
		return nil
	}
	id := a.session.ID
	a.side.asked = true
	return func() tea.Msg { // what cannot be read is not shown: a screen without it is still one
		m := sideMsg{}
		if changes {
			if list, err := d.Changes(a.access.Context(), id); err == nil {
				m.of, m.changes = id, list
			}
		}
		if servers {
			if s, err := i.Setup(a.access.Context()); err == nil {
				m.setup = &s
			}
		}
		return m
	}
}

// sideRead takes what was read. What an event told meanwhile is newer.
func (a *App) sideRead(m sideMsg) {
	if m.of == a.session.ID && a.side.of != m.of {
		a.side.of, a.side.changes = m.of, m.changes
	}
	if m.setup != nil {
		a.side.mcp, a.side.lsp = m.setup.MCP, m.setup.LSP
	}
}

// changedFiles takes what a session changed so far.
func (a *App) changedFiles(ev lathe.SessionDiff) {
	if ev.SessionID != a.session.ID {
		return
	}
	a.side.of, a.side.changes = ev.SessionID, nil
	for _, d := range ev.Diff {
		a.side.changes = append(a.side.changes, engine.FileChange{File: d.File, Added: d.Additions, Removed: d.Deletions})
	}
}

// beside puts the scroll bar and the sidebar beside the conversation.
func (a *App) beside(lines []styled.Line, height int) []styled.Line {
	wide := a.pane().Width
	if wide == a.look.Width {
		return lines
	}
	l := a.look
	var bar, rows []styled.Line
	if a.barWidth() > 0 {
		bar = a.conv.BarLines(a.sidebar() > 0)
	}
	border := styled.Span{Text: l.Glyph("│", "|") + " ", Style: l.FG(theme.Border)}
	if bar != nil { // it is border enough
		border.Text = "  "
	}
	if a.sidebar() > 0 {
		inner := l
		inner.Width = sideWidth - 3
		rows = a.sideLines(inner, height)
	}
	out := make([]styled.Line, height)
	for y := range out {
		var line styled.Line
		if y < len(lines) {
			line = lines[y]
		}
		line = line.Cut(wide, l.Method).Pad(wide, l.Method, "")
		if bar != nil {
			line = append(line, bar[y]...)
		}
		if a.sidebar() > 0 {
			line = append(line, border)
			if y < len(rows) {
				line = append(line, rows[y]...)
			}
		}
		out[y] = line
	}
	return out
}

// section is a part of the sidebar.
type section struct {
	head styled.Line
	rows []styled.Line
	more int // rows for which there is no room
}

func (s section) height() int { return min(len(s.head), 1) + len(s.rows) + min(s.more, 1) }

// sideLines draws the sidebar in at most height lines.
func (a *App) sideLines(l look.Look, height int) []styled.Line {
	list := []section{a.sideTitle(l), a.sideContext(l), a.sideTodos(l, height), a.sideFiles(l, height), sideServers(l, "MCP", a.side.mcp), sideServers(l, "LSP", a.side.lsp)}
	list = slices.DeleteFunc(list, func(s section) bool { return len(s.rows) == 0 })
	fitSections(list, height)
	var out []styled.Line
	for i, s := range list {
		if i > 0 {
			out = append(out, nil)
		}
		if len(s.head) > 0 {
			out = append(out, s.head.Cut(l.Width, l.Method))
		}
		for _, row := range s.rows {
			out = append(out, row.Cut(l.Width, l.Method))
		}
		if s.more > 0 {
			out = append(out, styled.Plain(fmt.Sprintf("%s %d more", l.Glyph("…", "..."), s.more), l.FG(theme.Muted)))
		}
	}
	return out[:min(len(out), height)]
}

// fitSections takes rows from the longest sections until all fit, as far as that
// goes.
func fitSections(list []section, height int) {
	total := -1
	for _, s := range list {
		total += 1 + s.height()
	}
	for total > height {
		s := &list[0]
		for i := range list {
			if len(list[i].rows) >= len(s.rows) {
				s = &list[i]
			}
		}
		if len(s.rows) < 3 {
			return
		}
		before := s.height()
		s.rows, s.more = s.rows[:len(s.rows)-1], s.more+1
		total += s.height() - before
	}
}

func sideHead(l look.Look, text, detail string) styled.Line {
	return styled.Line{{Text: text, Style: l.FG(theme.Secondary, styled.Bold)}, {Text: " " + detail, Style: l.FG(theme.Muted)}}
}

func (a *App) sideTitle(l look.Look) section {
	title := styled.Wrap(styled.Plain(look.Or(a.title(), "no title yet"), l.FG(theme.Text, styled.Bold)), l.Width, l.Method)
	return section{rows: title[:min(len(title), 3)]}
}

// sideContext tells how full the window is and what the session cost.
func (a *App) sideContext(l look.Look) section {
	s := section{head: sideHead(l, "context", "")}
	used, window := a.contextUsed()
	if used == 0 {
		text := "nothing was sent yet"
		switch {
		case a.busy():
			text = "the first answer is on its way"
		case a.conv.Some():
			text = "no answer told its tokens yet"
		}
		s.rows = append(s.rows, styled.Plain(text, l.FG(theme.Muted)))
		return s
	}
	text, key := look.Short(used)+" tokens", theme.Text
	if window > 0 {
		text += fmt.Sprintf(", %d%% of %s", used*100/window, look.Short(window))
		if used*100/window >= 80 {
			key = theme.Warning
		}
	}
	s.rows = append(s.rows, styled.Plain(text, l.FG(key)))
	if hit, ok := a.conv.CacheHit(); ok {
		s.rows = append(s.rows, styled.Plain(fmt.Sprintf("%d%% from the cache", hit), l.FG(theme.Muted)))
	}
	return section{head: s.head, rows: append(s.rows, styled.Plain(a.session.Cost.String()+" spent", l.FG(theme.Muted)))}
}

// sideTodos shows at most so many rows of the task list; of one that is done only
// that it is.
func (a *App) sideTodos(l look.Look, most int) section {
	done := 0
	for _, t := range a.todos {
		if t.Status == "completed" || t.Status == "cancelled" {
			done++
		}
	}
	s := section{head: sideHead(l, "tasks", fmt.Sprintf("%d of %d done", done, len(a.todos)))}
	if done == len(a.todos) {
		if done > 0 {
			s.rows = []styled.Line{s.head}
			s.head = nil
		}
		return s
	}
	shown := a.todos[:min(len(a.todos), most)]
	for _, t := range shown {
		s.rows = append(s.rows, l.Todo(t.Status, t.Content))
	}
	s.more = len(a.todos) - len(shown)
	return s
}

// sideFiles shows which files the session changed, at most so many.
func (a *App) sideFiles(l look.Look, most int) section {
	what := "changed files"
	if a.session.Revert != nil {
		what = "undone changes"
	}
	if a.side.of != a.session.ID || len(a.side.changes) == 0 {
		if s := a.session.Summary; s != nil && s.Files > 0 && a.side.of != a.session.ID {
			return section{head: sideHead(l, what, ""), rows: []styled.Line{append(styled.Plain(look.Plural(s.Files, "file")+"  ", l.FG(theme.Text)), l.Counts(s.Additions, s.Deletions)...)}}
		}
		return section{}
	}
	shown := a.side.changes[:min(len(a.side.changes), most)]
	s := section{head: sideHead(l, what, ""), more: len(a.side.changes) - len(shown)}
	for _, c := range shown {
		counts := l.Counts(c.Added, c.Removed)
		room := l.Width - counts.Width(l.Method) - 1
		name := l.Ending(styled.OneLine(c.File), room)
		s.rows = append(s.rows, styled.Join(styled.Plain(name, l.FG(theme.Text)).Pad(room+1, l.Method, ""), counts))
	}
	return s
}

// sideServers shows servers that the configuration names, and their state.
func sideServers(l look.Look, name string, list []api.Configured) section {
	s := section{head: sideHead(l, name, "")}
	for _, c := range list {
		s.rows = append(s.rows, styled.Line{{Text: styled.OneLine(c.Name), Style: l.FG(theme.Text)}, {Text: "  " + styled.OneLine(c.State), Style: l.FG(theme.Muted)}})
	}
	return s
}

// pressSide handles a press beside the text of the conversation.
func (a *App) pressSide(x, y int) (tea.Cmd, bool) {
	wide := a.pane().Width
	switch {
	case x < wide || wide == a.look.Width:
		return nil, false
	case x == wide && a.barWidth() > 0:
		a.mouse.Hold()
		return a.apply(a.conv.DragBar(y)), true
	}
	return nil, true
}
