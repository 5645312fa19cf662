package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
)

func modelFacts(m api.Model) string {
	var facts []string
	if m.Context > 0 {
		facts = append(facts, look.Short(int64(m.Context)))
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
	l := dialog.List{Title: "agents", Hint: "enter choose"}
	for _, g := range a.agents {
		if !g.Subagent() {
			l.Items = append(l.Items, dialog.Item{ID: g.Name, Title: styled.OneLine(g.Name), Detail: styled.OneLine(g.Description), Current: g.Name == a.agentName()})
		}
	}
	l.Pick = func(it dialog.Item) tea.Msg { a.agent = it.ID; return nil }
	a.push(dialog.NewList(l))
	return nil
}

// timeline lists the person's messages, newest last.
func (a *App) timeline() tea.Cmd {
	l := dialog.List{Title: "timeline", Hint: "enter jump to it", Empty: "nothing was said yet"}
	for _, e := range a.conv.visible() {
		if _, ok := e.m.Info.(*lathe.User); !ok || e.text() == "" {
			continue
		}
		l.Items = append(l.Items, dialog.Item{ID: string(e.m.ID), Title: styled.OneLine(e.text()), Right: e.m.Created.In(a.opts.Now().Location()).Format("15:04")})
	}
	if n := len(l.Items); n > 0 {
		l.Items[n-1].Current = true
	}
	jump := func(it dialog.Item) tea.Msg {
		a.conv.jump(lathe.MessageID(it.ID), a.scrollTop, a.pane().draw)
		return nil
	}
	before := a.conv.bottom
	l.Move = jump
	l.Closed = func() tea.Msg { a.conv.bottom = before; return nil }
	l.Pick = func(it dialog.Item) tea.Msg { jump(it); return a.messageActions(lathe.MessageID(it.ID)) }
	a.push(dialog.NewList(l))
	return nil
}

// messageActions offers what can be done with a message.
func (a *App) messageActions(id lathe.MessageID) tea.Cmd {
	e := a.conv.byID[id]
	if e == nil {
		return nil
	}
	l := dialog.List{Title: "message", Hint: "enter do it · esc stay here"}
	l.Items = []dialog.Item{{ID: "stay", Title: "stay here"}, {ID: "copy", Title: "copy its text"}}
	answer := a.conv.answerTo(e)
	if answer != "" {
		l.Items = append(l.Items, dialog.Item{ID: "answer", Title: "copy the answer to it"})
	}
	r := a.can.Undo
	if r != nil {
		l.Items = append(l.Items, dialog.Item{ID: "undo", Title: "undo to before it", Detail: "messages and changes of files"})
	}
	if a.can.Fork != nil {
		l.Items = append(l.Items, dialog.Item{ID: "fork", Title: "fork the session before it"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
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
	a.push(dialog.NewList(l))
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
