// Package side is the sidebar: what the session is about, what fills its window, its
// tasks, the files that it changed, and servers.
package side

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Host is what the sidebar has to know of the screen.
type Host interface {
	Session() lathe.Session // on screen
	Title() string          // of it; empty: none yet
	Todos() []lathe.Todo
	Used() (tokens, window int64)
	Conversation() *chat.Conversation
	Busy() bool
}

// Bar is what stands beside the conversation.
type Bar struct {
	host   Host
	access *engine.Access

	of       lathe.SessionID // that changes were read for
	changes  []engine.FileChange
	asked    bool // whether the servers were asked for; the answer may not have come yet
	waits    bool // whether the answer about the servers is still awaited
	Mcp, Lsp []api.Configured
}

// New returns the sidebar.
func New(h Host, access *engine.Access) *Bar { return &Bar{host: h, access: access} }

// Stale says that what was read about the session may be out of date.
func (b *Bar) Stale() { b.of = "" }

// StaleServers says that what was read about servers may be out of date.
func (b *Bar) StaleServers() { b.asked = false }

// reading is what was read for the sidebar.
type reading struct {
	of      lathe.SessionID
	changes []engine.FileChange
	setup   *api.Setup
}

// Fill reads what the sidebar shows and does not know yet. Servers that change while
// they are being read are read once more.
func (b *Bar) Fill() tea.Cmd {
	d, i := b.access.Able.Changes, b.access.Able.Setup
	changes := d != nil && b.of != b.host.Session().ID && b.host.Session().Summary != nil
	servers := i != nil && !b.asked && !b.waits
	if !changes && !servers {
		return nil
	}
	id := b.host.Session().ID
	if servers {
		b.asked, b.waits = true, true
	}
	return b.access.Do(func(ctx context.Context) tea.Msg { // what cannot be read is not shown: the screen is useful without it
		m := reading{}
		if changes {
			if list, err := d.Changes(ctx, id); err == nil {
				m.of, m.changes = id, list
			}
		}
		if servers {
			if s, err := i.Setup(ctx); err == nil {
				m.setup = &s
			}
		}
		return dialog.Here(func() tea.Msg {
			b.read(m)
			if servers {
				if b.waits = false; !b.asked {
					return b.Fill()
				}
			}
			return nil
		})
	})
}

// read takes what was read. What an event told in the meantime is newer.
func (b *Bar) read(m reading) {
	if m.of == b.host.Session().ID && b.of != m.of {
		b.of, b.changes = m.of, m.changes
	}
	if m.setup != nil {
		b.Mcp, b.Lsp = m.setup.MCP, m.setup.LSP
	}
}

// Changed takes what a session changed so far.
func (b *Bar) Changed(ev lathe.SessionDiff) {
	if ev.SessionID != b.host.Session().ID {
		return
	}
	b.of, b.changes = ev.SessionID, engine.FileChanges(ev.Diff)
}

// section is a part of the sidebar.
type section struct {
	head styled.Line
	rows []styled.Line
	more int // rows for which there is no room
}

func (s section) height() int { return min(len(s.head), 1) + len(s.rows) + min(s.more, 1) }

// Lines draws the sidebar in at most height lines.
func (b *Bar) Lines(l look.Look, height int) []styled.Line {
	list := []section{b.sideTitle(l), b.sideContext(l), b.sideTodos(l, height), b.sideFiles(l, height), sideServers(l, "MCP", b.Mcp), sideServers(l, "LSP", b.Lsp)}
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
			out = append(out, styled.Plain(l.Glyph("…", "...")+l.T(fmt.Sprintf(" %d more", s.more)), l.FG(theme.Muted)))
		}
	}
	return out[:min(len(out), height)]
}

// fitSections takes rows from the longest sections until all fit, as far as
// possible.
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
	return styled.Line{{Text: l.Say.Word(text), Style: l.FG(theme.Secondary, styled.Bold)}, {Text: " " + l.T(detail), Style: l.FG(theme.Muted)}}
}

func (b *Bar) sideTitle(l look.Look) section {
	title := styled.Wrap(styled.Plain(look.Or(b.host.Title(), l.T("no title yet")), l.FG(theme.Text, styled.Bold)), l.Width, l.Method)
	return section{rows: title[:min(len(title), 3)]}
}

// sideContext says how full the window is and what the session cost.
func (b *Bar) sideContext(l look.Look) section {
	s := section{head: sideHead(l, "context", "")}
	used, window := b.host.Used()
	if used == 0 {
		text := "nothing was sent yet"
		switch {
		case b.host.Busy():
			text = "the first answer is on its way"
		case len(b.host.Conversation().Shown()) > 0:
			text = "no answer told its tokens yet"
		}
		s.rows = append(s.rows, styled.Plain(l.T(text), l.FG(theme.Muted)))
		return s
	}
	text, key := look.Short(used)+" tokens", theme.Text
	if window > 0 {
		text = fmt.Sprintf("%s tokens, %d%% of %s", look.Short(used), used*100/window, look.Short(window))
		if used*100/window >= 80 {
			key = theme.Warning
		}
	}
	s.rows = append(s.rows, styled.Plain(l.T(text), l.FG(key)))
	if hit, ok := b.host.Conversation().Shown().CacheHit(); ok {
		s.rows = append(s.rows, styled.Plain(l.T(fmt.Sprintf("%d%% from the cache", hit)), l.FG(theme.Muted)))
	}
	return section{head: s.head, rows: append(s.rows, styled.Plain(l.T(b.host.Session().Cost.String()+" spent"), l.FG(theme.Muted)))}
}

// sideTodos shows at most that many rows of the task list; a finished list is
// only one row.
func (b *Bar) sideTodos(l look.Look, most int) section {
	done := 0
	for _, t := range b.host.Todos() {
		if t.Status == "completed" || t.Status == "cancelled" {
			done++
		}
	}
	s := section{head: sideHead(l, "tasks", fmt.Sprintf("%d of %d done", done, len(b.host.Todos())))}
	if done == len(b.host.Todos()) {
		if done > 0 {
			s.rows = []styled.Line{s.head}
			s.head = nil
		}
		return s
	}
	shown := b.host.Todos()[:min(len(b.host.Todos()), most)]
	for _, t := range shown {
		s.rows = append(s.rows, l.Todo(t.Status, t.Content))
	}
	s.more = len(b.host.Todos()) - len(shown)
	return s
}

// sideFiles shows which files the session changed, at most that many.
func (b *Bar) sideFiles(l look.Look, most int) section {
	what := "changed files"
	if b.host.Session().Revert != nil {
		what = "undone changes"
	}
	if b.of != b.host.Session().ID || len(b.changes) == 0 {
		if s := b.host.Session().Summary; s != nil && s.Files > 0 && b.of != b.host.Session().ID {
			return section{head: sideHead(l, what, ""), rows: []styled.Line{append(styled.Plain(l.T(say.Plural(s.Files, "file"))+"  ", l.FG(theme.Text)), l.Counts(s.Additions, s.Deletions)...)}}
		}
		return section{}
	}
	shown := b.changes[:min(len(b.changes), most)]
	s := section{head: sideHead(l, what, ""), more: len(b.changes) - len(shown)}
	for _, c := range shown {
		counts := l.Counts(c.Added, c.Removed)
		if c.Was != "" {
			counts = styled.Plain(l.T("renamed"), l.FG(theme.Muted))
		}
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
		s.rows = append(s.rows, styled.Line{{Text: styled.OneLine(c.Name), Style: l.FG(theme.Text)}, {Text: "  " + l.T(styled.OneLine(c.State)), Style: l.FG(theme.Muted)}})
	}
	return s
}
