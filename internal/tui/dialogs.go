package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/styled"
)

func modelFacts(m api.Model) string {
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

func (a *App) agentList() tea.Cmd {
	l := list{title: "agents", hint: "enter choose"}
	for _, g := range a.agents {
		if !g.Subagent() {
			l.items = append(l.items, item{id: g.Name, title: styled.OneLine(g.Name), detail: styled.OneLine(g.Description), current: g.Name == a.agentName()})
		}
	}
	l.pick = func(it item) tea.Msg { a.agent = it.id; return nil }
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
		l.items = append(l.items, item{id: string(e.m.ID), title: styled.OneLine(e.text()), right: e.m.Created.In(a.opts.Now().Location()).Format("15:04")})
	}
	if n := len(l.items); n > 0 {
		l.items[n-1].current = true
	}
	jump := func(it item) tea.Msg {
		a.conv.jump(lathe.MessageID(it.id), a.scrollTop, a.pane().draw)
		return nil
	}
	before := a.conv.bottom
	l.move = jump
	l.closed = func() tea.Msg { a.conv.bottom = before; return nil }
	l.pick = func(it item) tea.Msg { jump(it); return a.messageActions(lathe.MessageID(it.id)) }
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
	answer := a.conv.answerTo(e)
	if answer != "" {
		l.items = append(l.items, item{id: "answer", title: "copy the answer to it"})
	}
	r := a.can.Undo
	if r != nil {
		l.items = append(l.items, item{id: "undo", title: "undo to before it", detail: "messages and changes of files"})
	}
	if a.can.Fork != nil {
		l.items = append(l.items, item{id: "fork", title: "fork the session before it"})
	}
	l.pick = func(it item) tea.Msg {
		switch it.id {
		case "copy":
			return a.copy(e.text(), "copied the message")
		case "answer":
			return a.copy(answer, "copied the answer")
		case "undo":
			a.conv.bottom.e = nil
			return a.revertTo(r, e)
		case "fork":
			return a.forkOf(a.session.ID, id)
		}
		return nil
	}
	a.push(newList(l))
	return nil
}

// answerTo returns what was answered to a message, up to the next one of the
// person's.
func (c *conversation) answerTo(e *entry) string {
	list := c.visible()
	var words []string
	for _, o := range list[slices.Index(list, e)+1:] {
		if _, ok := o.m.Info.(*lathe.User); ok {
			break
		}
		if t := o.text(); t != "" {
			words = append(words, t)
		}
	}
	return strings.Join(words, "\n\n")
}
