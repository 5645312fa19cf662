package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// usual are the providers that most people have an account with.
var usual = map[string]bool{"anthropic": true, "openai": true, "google": true, "openrouter": true}

// signIn are providers that people sign in to instead of having a key.
var signIn = map[string]string{
	"github-copilot":            "GitHub Copilot",
	"github-copilot-enterprise": "GitHub Copilot Enterprise",
}

// plans say what a provider's subscription is called, which no key stands for.
var plans = map[string]string{"anthropic": "Claude Pro or Max", "openai": "ChatGPT Plus or Pro", "google": "Gemini with a Google account"}

// connect asks which provider, then for its key.
func (a *App) connect() tea.Cmd {
	if a.busy() || len(a.status) > 0 {
		a.notify(Warning, "a turn is running; connect a provider when it is done")
		return a.tick()
	}
	c := a.can.Keys
	return func() tea.Msg {
		list, err := c.Providers(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.showProviders(c, list); return nil }}
	}
}

func (a *App) showProviders(c engine.Keyring, providers []api.Provider) {
	l := list{title: "connect a provider", hint: "enter choose · type to search", empty: "the catalogue is empty"}
	for _, common := range []bool{true, false} {
		for _, p := range providers {
			if usual[p.ID] != common || signIn[p.ID] != "" {
				continue
			}
			group := "others"
			if common {
				group = "usual"
			}
			it := item{id: p.ID, title: styled.OneLine(or(p.Name, p.ID)), detail: styled.OneLine(p.ID), group: group, current: p.Connected}
			if p.Connected {
				it.right = "connected"
			}
			l.items = append(l.items, it)
		}
	}
	for _, id := range []string{"github-copilot", "github-copilot-enterprise"} {
		l.items = append(l.items, item{id: id, title: signIn[id], detail: "signs in with OAuth, which lathe does not offer", group: "not offered"})
	}
	l.pick = func(it item) tea.Msg {
		if signIn[it.id] != "" {
			a.push(&page{title: it.title, lines: func(l look) []styled.Line { return signInLines(l, it.title) }})
			return nil
		}
		a.askKey(c, it, "")
		return nil
	}
	s := newList(l)
	s.at = 0
	a.push(s)
}

func signInLines(l look, name string) []styled.Line {
	text := []string{
		name + " is signed in to with OAuth. lathe does not offer that: it connects providers by key.",
		"", "What works instead: a key of a provider that gives keys (Anthropic, OpenAI, Google, OpenRouter and the others of /connect), or a model server on this machine.",
		"", "A sign-in that OpenCode stored is read, but lathe neither renews nor makes one.",
	}
	var out []styled.Line
	for _, t := range text {
		out = append(out, styled.Wrap(styled.Plain(t, l.fg(theme.Text)), l.width-4, l.method)...)
	}
	return out
}

// askKey asks for a key, saying why if one was refused before.
func (a *App) askKey(c engine.Keyring, it item, why string) {
	f := &field{title: "key for " + it.title, hint: "enter store and try it · esc cancel", secret: true}
	f.note = "It is stored in auth.json, readable by you alone, and tried with one small request."
	if plan := plans[it.id]; plan != "" {
		f.note += " A subscription (" + plan + ") is no key; signing in to one is not offered."
	}
	if why != "" {
		f.note, f.bad = why, true
	}
	f.done = func(key string) tea.Msg {
		key = strings.TrimSpace(key)
		if key == "" {
			return nil
		}
		return a.storeKey(c, it, key)
	}
	a.push(f)
}

// storeKey stores a key, tries it, and offers the models that it opens.
func (a *App) storeKey(c engine.Keyring, it item, key string) tea.Cmd {
	reload := a.loadCatalog()
	a.notify(Info, "trying the key of "+it.title)
	return tea.Batch(a.tick(), func() tea.Msg {
		if err := c.Connect(a.ctx, it.id, key); err != nil {
			return doneMsg{err: err}
		}
		t, err := c.Test(a.ctx, it.id)
		m := reload()
		return doneMsg{then: func(a *App) tea.Cmd {
			cmd := a.result(m)
			return tea.Batch(cmd, a.tried(c, it, t, err))
		}}
	})
}

// tried says what came of a key, and what to do.
func (a *App) tried(c engine.Keyring, it item, t api.KeyTest, err error) tea.Cmd {
	a.toast = toast{}
	if err != nil {
		t = api.KeyTest{Outcome: api.KeyUnknown, Detail: err.Error()}
	}
	l := list{hint: "enter do it · esc close"}
	switch t.Outcome {
	case api.KeyAccepted:
		a.notify(Info, "connected "+it.title+": "+t.Model+" answered")
		a.showModels(it.id)
		return a.tick()
	case api.KeyRefused:
		l.title = it.title + " refused the key"
		l.items = []item{{id: "again", title: "enter another key"}, {id: "remove", title: "remove this one"}, {id: "keep", title: "keep it all the same"}}
	default:
		l.title = "the key is stored, but could not be tried"
		l.items = []item{{id: "retry", title: "try it again"}, {id: "keep", title: "keep it and choose a model"}, {id: "again", title: "enter another key"}, {id: "remove", title: "remove it"}}
	}
	l.foot = func(l look, _ item) styled.Line {
		return styled.Plain(styled.OneLine(strings.Trim(t.Detail+" — "+t.Hint, " —")), l.fg(theme.Warning))
	}
	l.pick = func(p item) tea.Msg {
		switch p.id {
		case "again":
			a.askKey(c, it, "")
		case "remove":
			return func() tea.Msg {
				return doneMsg{text: "removed the key of " + it.title, err: c.Forget(a.ctx, it.id), then: func(a *App) tea.Cmd { return a.loadCatalog() }}
			}
		case "retry":
			return a.retryKey(c, it)
		default:
			a.showModels(it.id)
		}
		return nil
	}
	a.push(newList(l))
	return nil
}

func (a *App) retryKey(c engine.Keyring, it item) tea.Cmd {
	return func() tea.Msg {
		t, err := c.Test(a.ctx, it.id)
		return doneMsg{then: func(a *App) tea.Cmd { return a.tried(c, it, t, err) }}
	}
}
