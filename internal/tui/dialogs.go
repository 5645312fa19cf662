package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

func (a *App) modelList() tea.Cmd {
	l := list{title: "models", hint: "enter choose · type to search", empty: "no model is connected"}
	now := a.current()
	add := func(m Model, group string) {
		l.items = append(l.items, item{
			id: m.Ref.String(), title: styled.OneLine(or(m.Name, m.Ref.Model)), detail: styled.OneLine(m.Ref.String()), group: group,
			right: modelFacts(m), current: group != "recent" && m.Ref.Provider == now.Provider && m.Ref.Model == now.Model,
		})
	}
	for _, r := range a.recent {
		add(a.modelInfo(r), "recent")
	}
	for _, m := range a.models {
		add(m, styled.OneLine(or(m.Provider, m.Ref.Provider)))
	}
	l.pick = func(a *App, it item) tea.Cmd {
		for _, m := range a.models {
			if m.Ref.String() == it.id {
				a.chooseModel(m.Ref)
			}
		}
		return nil
	}
	a.push(newList(l))
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func modelFacts(m Model) string {
	var facts []string
	if m.Context > 0 {
		facts = append(facts, short(int64(m.Context)))
	}
	if m.Price != (lathe.Prices{}) {
		facts = append(facts, fmt.Sprintf("$%s/$%s", dollars(m.Price.Input), dollars(m.Price.Output)))
	}
	return strings.Join(facts, "  ")
}

// dollars is what a million tokens cost.
func dollars(p lathe.Price) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", float64(p)/1e6), "0"), ".")
}

func (a *App) chooseModel(ref lathe.ModelRef) {
	a.model = ref
	a.recent = slices.DeleteFunc(a.recent, func(r lathe.ModelRef) bool { return r == ref })
	a.recent = append([]lathe.ModelRef{ref}, a.recent...)
	a.recent = a.recent[:min(len(a.recent), 5)]
}

func (a *App) agentList() tea.Cmd {
	l := list{title: "agents", hint: "enter choose"}
	for _, g := range a.agents {
		if !g.Subagent {
			l.items = append(l.items, item{id: g.Name, title: styled.OneLine(g.Name), detail: styled.OneLine(g.Description), current: g.Name == a.agentName()})
		}
	}
	l.pick = func(a *App, it item) tea.Cmd { a.agent = it.id; return nil }
	a.push(newList(l))
	return nil
}

// sessionList reads the sessions, then shows them.
func (a *App) sessionList() tea.Cmd {
	return func() tea.Msg {
		sessions, err := a.engine.List(a.ctx, "")
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.showSessions(sessions, ""); return nil }}
	}
}

func (a *App) showSessions(sessions []lathe.Session, filter string) {
	hint := fmt.Sprintf("enter open · %s rename · %s delete", a.keys.For(keys.Rename), a.keys.For(keys.Delete))
	l := list{title: "sessions", hint: hint, empty: "there is no session in this directory yet"}
	byID := map[string]lathe.Session{}
	for _, s := range sessions {
		byID[string(s.ID)] = s
		detail := ""
		if st := a.status[s.ID]; st != nil {
			detail = "working"
		}
		l.items = append(l.items, item{
			id: string(s.ID), title: styled.OneLine(s.Title), detail: detail, group: day(s.Updated, a.opts.Now()),
			right: s.Updated.Format("15:04"), current: s.ID == a.session.ID,
		})
	}
	l.pick = func(a *App, it item) tea.Cmd { return a.open(lathe.SessionID(it.id)) }
	l.keys = map[keys.Action]func(*App, item) tea.Cmd{
		keys.Rename: func(a *App, it item) tea.Cmd { a.sheets = nil; return a.rename(byID[it.id]) },
		keys.Delete: func(a *App, it item) tea.Cmd { return a.deleteSession(byID[it.id]) },
	}
	s := newList(l)
	s.filter.Type(filter)
	s.refresh()
	a.push(s)
}

// day names the day of a time.
func day(t, now time.Time) string {
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(today):
		return "today"
	case !t.Before(today.AddDate(0, 0, -1)):
		return "yesterday"
	}
	return t.Format("Monday 2 January 2006")
}

// deleteSession asks once more, then deletes.
func (a *App) deleteSession(s lathe.Session) tea.Cmd {
	l := list{title: "delete " + styled.OneLine(s.Title) + "?", hint: "this cannot be undone"}
	l.items = []item{{id: "no", title: "keep it"}, {id: "yes", title: "delete it with everything in it"}}
	l.pick = func(a *App, it item) tea.Cmd {
		a.sheets = nil
		if it.id != "yes" {
			return nil
		}
		return a.do("deleted", func(ctx context.Context) error { return a.engine.Delete(ctx, s.ID) })
	}
	a.push(newList(l))
	return nil
}

// timeline lists the person's messages, newest last.
func (a *App) timeline() tea.Cmd {
	l := list{title: "timeline", hint: "enter jump to it", empty: "nothing was said yet"}
	for _, e := range a.conv.visible() {
		if _, ok := e.m.Info.(*lathe.User); !ok || e.text() == "" {
			continue
		}
		l.items = append(l.items, item{id: string(e.m.ID), title: styled.OneLine(e.text()), right: e.m.Created.Format("15:04")})
	}
	if n := len(l.items); n > 0 {
		l.items[n-1].current = true
	}
	jump := func(a *App, it item) { a.conv.jump(lathe.MessageID(it.id), a.scrollTop, a.look.draw) }
	before := a.conv.bottom
	l.move = jump
	l.closed = func(a *App) { a.conv.bottom = before }
	l.pick = func(a *App, it item) tea.Cmd { jump(a, it); return a.messageActions(lathe.MessageID(it.id)) }
	a.push(newList(l))
	return nil
}

// messageActions offers what can be done with a message.
func (a *App) messageActions(id lathe.MessageID) tea.Cmd {
	e := a.conv.byID[id]
	if e == nil {
		return nil
	}
	l := list{title: "message", hint: "enter do it · esc stay here"}
	l.items = []item{{id: "stay", title: "stay here"}, {id: "copy", title: "copy its text"}}
	r, canRevert := a.engine.(Reverter)
	if canRevert {
		l.items = append(l.items, item{id: "undo", title: "undo to before it", detail: "messages and changes of files"})
	}
	if _, ok := a.engine.(Forker); ok {
		l.items = append(l.items, item{id: "fork", title: "fork the session before it"})
	}
	l.pick = func(a *App, it item) tea.Cmd {
		switch it.id {
		case "copy":
			return a.copy(e.text(), "copied the message")
		case "undo":
			a.conv.bottom.e = nil
			return a.revertTo(r, e)
		case "fork":
			return a.fork(id)
		}
		return nil
	}
	a.push(newList(l))
	return nil
}

// themeList shows themes as they are gone through.
func (a *App) themeList() tea.Cmd {
	before := a.look.theme
	l := list{title: "themes", hint: "enter choose · esc keep " + before.Name}
	for _, t := range a.opts.Themes {
		l.items = append(l.items, item{id: t.Name, title: styled.OneLine(t.Name), detail: "yours", current: t.Name == before.Name})
	}
	for _, name := range theme.Names() {
		t, _ := theme.Lookup(name)
		detail := "dark"
		if t.Light {
			detail = "light"
		}
		if name == "system" {
			detail = "the terminal's sixteen colours"
		}
		l.items = append(l.items, item{id: name, title: name, detail: detail, current: name == before.Name})
	}
	l.move = func(a *App, it item) { a.setTheme(a.themeNamed(it.id)) }
	l.closed = func(a *App) { a.setTheme(before) }
	l.pick = func(a *App, it item) tea.Cmd {
		a.setTheme(a.themeNamed(it.id))
		a.opts.Theme = it.id
		if a.opts.SaveTheme == nil {
			return nil
		}
		return a.do("", func(context.Context) error { return a.opts.SaveTheme(it.id) })
	}
	a.push(newList(l))
	return nil
}

// help shows every key and command.
func (a *App) help() tea.Cmd {
	a.push(&page{title: "help", lines: func(l look) []styled.Line {
		line := func(left, right string) styled.Line {
			return append(styled.Plain(left, l.fg(theme.Accent)).Pad(34, l.method, ""), styled.Span{Text: right, Style: l.fg(theme.Text)})
		}
		head := func(s string) styled.Line { return styled.Plain(s, l.fg(theme.Secondary, styled.Bold)) }
		out := []styled.Line{
			head("writing"), line("@", "a file, a directory or an agent; @file:5-20 for lines"),
			line("/", "a command"), line("!", "a shell command, run at once"), nil, head("commands"),
		}
		for _, c := range allCommands() {
			if len(c.names) > 0 {
				out = append(out, line("/"+strings.Join(c.names, " /"), c.title))
			}
		}
		for _, c := range a.commands {
			out = append(out, line("/"+styled.OneLine(c.Name), styled.OneLine(c.Description)))
		}
		out = append(out, nil, head("keys"))
		for _, b := range a.keys.Bindings() {
			var pretty []string
			for _, k := range b.Keys {
				pretty = append(pretty, a.keys.Pretty(k))
			}
			if len(pretty) > 0 {
				out = append(out, line(strings.Join(pretty[:min(len(pretty), 2)], ", "), b.Help))
			}
		}
		return out
	}})
	return nil
}

// statusPage shows what the session used.
func (a *App) statusPage() tea.Cmd {
	a.push(&page{title: "status", lines: func(l look) []styled.Line {
		line := func(left, right string) styled.Line {
			return append(styled.Plain(left, l.fg(theme.Muted)).Pad(22, l.method, ""), styled.Span{Text: styled.OneLine(right), Style: l.fg(theme.Text)})
		}
		s, m := a.session, a.modelInfo(a.current())
		used, window := a.contextUsed()
		out := []styled.Line{
			line("lathe", lathe.Version), line("directory", a.opts.Dir), line("branch", a.branch), line("agent", a.agentName()),
			line("model", m.Ref.String()+variantText(a.current())), line("price in/out", modelFacts(m)), nil,
			line("session", string(s.ID)), line("title", a.title()),
		}
		if window > 0 {
			out = append(out, line("context", fmt.Sprintf("%s of %s tokens (%d%%)", short(used), short(window), used*100/window)))
		} else {
			out = append(out, line("context", short(used)+" tokens"))
		}
		t := s.Tokens
		out = append(out, line("sent, in all", short(t.Prompt())+" tokens"), line("of them cached", short(t.CacheRead)+" tokens"),
			line("answered, in all", short(t.Output+t.Reasoning)+" tokens"), line("cost", s.Cost.String()))
		return out
	}})
	return nil
}
