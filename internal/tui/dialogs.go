package tui

import (
	"fmt"
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
