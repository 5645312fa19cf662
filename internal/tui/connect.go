package tui

import (
	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/styled"
)

// usual are the providers that most people have an account with.
var usual = map[string]bool{"anthropic": true, "openai": true, "google": true, "openrouter": true}

// connect asks which provider, then for its key.
func (a *App) connect() tea.Cmd {
	c := a.engine.(Connector)
	return func() tea.Msg {
		list, err := c.Providers(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.showProviders(c, list); return nil }}
	}
}

func (a *App) showProviders(c Connector, providers []Provider) {
	l := list{title: "connect a provider", hint: "enter choose · type to search"}
	for _, common := range []bool{true, false} {
		for _, p := range providers {
			if usual[p.ID] != common {
				continue
			}
			group := "others"
			if common {
				group = "usual"
			}
			l.items = append(l.items, item{id: p.ID, title: styled.OneLine(or(p.Name, p.ID)), detail: styled.OneLine(p.ID), group: group, current: p.Connected})
		}
	}
	l.pick = func(a *App, it item) tea.Cmd {
		f := &field{title: "key for " + it.title, hint: "enter store it · esc cancel", secret: true}
		f.done = func(a *App, key string) tea.Cmd {
			if key == "" {
				return nil
			}
			return a.storeKey(c, it, key)
		}
		a.push(f)
		return nil
	}
	s := newList(l)
	s.at = 0
	a.push(s)
}

// storeKey stores a key, then offers the models that it opens.
func (a *App) storeKey(c Connector, it item, key string) tea.Cmd {
	return func() tea.Msg {
		err := c.Connect(a.ctx, it.id, key)
		return doneMsg{text: "connected " + it.title, err: err, then: func(a *App) tea.Cmd {
			reload := a.loadCatalog()
			return func() tea.Msg {
				m := reload()
				return doneMsg{then: func(a *App) tea.Cmd {
					cmd := a.result(m)
					return tea.Batch(cmd, a.modelList())
				}}
			}
		}}
	}
}
