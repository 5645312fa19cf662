package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
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
		a.notify(dialog.Warning, "a turn is running; connect a provider when it is done")
		return a.tick()
	}
	c := a.access.Able.Keys
	return func() tea.Msg {
		list, err := c.Providers(a.access.Context())
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.showProviders(c, list); return nil }}
	}
}

func (a *App) showProviders(c engine.Keyring, providers []api.Provider) {
	l := dialog.List{Title: "connect a provider", Hint: "enter choose · type to search", Empty: "the catalogue is empty"}
	for _, common := range []bool{true, false} {
		for _, p := range providers {
			if usual[p.ID] != common || signIn[p.ID] != "" {
				continue
			}
			group := "others"
			if common {
				group = "usual"
			}
			it := dialog.Item{ID: p.ID, Title: styled.OneLine(look.Or(p.Name, p.ID)), Detail: styled.OneLine(p.ID), Group: group, Current: p.Connected}
			if p.Connected {
				it.Right = "connected"
			}
			l.Items = append(l.Items, it)
		}
	}
	for _, id := range []string{"github-copilot", "github-copilot-enterprise"} {
		l.Items = append(l.Items, dialog.Item{ID: id, Title: signIn[id], Detail: "signs in with OAuth, which lathe does not offer", Group: "not offered"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if signIn[it.ID] != "" {
			a.push(&dialog.Page{Title: it.Title, Lines: func(l look.Look) []styled.Line { return signInLines(l, it.Title) }})
			return nil
		}
		a.askKey(c, it, "")
		return nil
	}
	s := dialog.NewList(l)
	s.At = 0
	a.push(s)
}

func signInLines(l look.Look, name string) []styled.Line {
	text := []string{
		name + " is signed in to with OAuth. lathe does not offer that: it connects providers by key.",
		"", "What works instead: a key of a provider that gives keys (Anthropic, OpenAI, Google, OpenRouter and the others of /connect), or a model server on this machine.",
		"", "A sign-in that OpenCode stored is read, but lathe neither renews nor makes one.",
	}
	var out []styled.Line
	for _, t := range text {
		out = append(out, styled.Wrap(styled.Plain(t, l.FG(theme.Text)), l.Width-4, l.Method)...)
	}
	return out
}

// askKey asks for a key, saying why if one was refused before.
func (a *App) askKey(c engine.Keyring, it dialog.Item, why string) {
	f := &dialog.Field{Title: "key for " + it.Title, Hint: "enter store and try it · esc cancel", Secret: true}
	f.Note = "It is stored in auth.json, readable by you alone, and tried with one small request."
	if plan := plans[it.ID]; plan != "" {
		f.Note += " A subscription (" + plan + ") is no key; signing in to one is not offered."
	}
	if why != "" {
		f.Note, f.Bad = why, true
	}
	f.Done = func(key string) tea.Msg {
		key = strings.TrimSpace(key)
		if key == "" {
			return nil
		}
		return a.storeKey(c, it, key)
	}
	a.push(f)
}

// storeKey stores a key, tries it, and offers the models that it opens.
func (a *App) storeKey(c engine.Keyring, it dialog.Item, key string) tea.Cmd {
	reload := a.choice.Load()
	a.notify(dialog.Info, "trying the key of "+it.Title)
	return tea.Batch(a.tick(), func() tea.Msg {
		if err := c.Connect(a.access.Context(), it.ID, key); err != nil {
			return doneMsg{err: err}
		}
		t, err := c.Test(a.access.Context(), it.ID)
		m := reload()
		return doneMsg{then: func(a *App) tea.Cmd {
			cmd := a.result(m)
			return tea.Batch(cmd, a.tried(c, it, t, err))
		}}
	})
}

// tried says what came of a key, and what to do.
func (a *App) tried(c engine.Keyring, it dialog.Item, t api.KeyTest, err error) tea.Cmd {
	a.toast = toast{}
	if err != nil {
		t = api.KeyTest{Outcome: api.KeyUnknown, Detail: err.Error()}
	}
	l := dialog.List{Hint: "enter do it · esc close"}
	switch t.Outcome {
	case api.KeyAccepted:
		a.notify(dialog.Info, "connected "+it.Title+": "+t.Model+" answered")
		a.apply(a.choice.ShowModels(it.ID))
		return a.tick()
	case api.KeyRefused:
		l.Title = it.Title + " refused the key"
		l.Items = []dialog.Item{{ID: "again", Title: "enter another key"}, {ID: "remove", Title: "remove this one"}, {ID: "keep", Title: "keep it all the same"}}
	default:
		l.Title = "the key is stored, but could not be tried"
		l.Items = []dialog.Item{{ID: "retry", Title: "try it again"}, {ID: "keep", Title: "keep it and choose a model"}, {ID: "again", Title: "enter another key"}, {ID: "remove", Title: "remove it"}}
	}
	l.Foot = func(l look.Look, _ dialog.Item) styled.Line {
		return styled.Plain(styled.OneLine(strings.Trim(t.Detail+" — "+t.Hint, " —")), l.FG(theme.Warning))
	}
	l.Pick = func(p dialog.Item) tea.Msg {
		switch p.ID {
		case "again":
			a.askKey(c, it, "")
		case "remove":
			return func() tea.Msg {
				return doneMsg{text: "removed the key of " + it.Title, err: c.Forget(a.access.Context(), it.ID), then: func(a *App) tea.Cmd { return a.choice.Load() }}
			}
		case "retry":
			return a.retryKey(c, it)
		default:
			a.apply(a.choice.ShowModels(it.ID))
		}
		return nil
	}
	a.push(dialog.NewList(l))
	return nil
}

func (a *App) retryKey(c engine.Keyring, it dialog.Item) tea.Cmd {
	return func() tea.Msg {
		t, err := c.Test(a.access.Context(), it.ID)
		return doneMsg{then: func(a *App) tea.Cmd { return a.tried(c, it, t, err) }}
	}
}
