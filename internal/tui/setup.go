package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// loadSetup looks, at a start without a connected model, for what could answer.
func (a *App) loadSetup() tea.Cmd {
	e := a.access.Able.Found
	if e == nil || a.opts.Session != "" || a.opts.Prompt != "" || !a.opts.Model.IsZero() {
		return nil
	}
	return func() tea.Msg {
		f, err := e.Found(a.access.Context())
		if err != nil {
			return nil // the welcome says how to connect one
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			a.found = f
			if a.choice.Guided() && !a.prefs.Guided && a.input.Empty() && a.session.ID == "" && a.sheets.Top() == nil {
				a.showSetup(f)
			}
			return nil
		}}
	}
}

// setup offers what can answer.
func (a *App) setup() tea.Cmd {
	e := a.access.Able.Found
	return func() tea.Msg {
		f, err := e.Found(a.access.Context())
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.found = f; a.showSetup(f); return nil }}
	}
}

func (a *App) showSetup(f api.Found) {
	l := dialog.List{Title: "what shall answer?", Hint: "enter choose · esc later"}
	for _, k := range f.Keys {
		l.Items = append(l.Items, dialog.Item{ID: "models:" + k.Provider, Title: styled.OneLine(look.Or(k.Name, k.Provider)), Detail: k.Variable + " is set in the environment", Group: "found"})
	}
	for _, p := range f.Stored {
		l.Items = append(l.Items, dialog.Item{ID: "models:" + p, Title: styled.OneLine(p), Detail: "a key is stored", Group: "found"})
	}
	for _, s := range f.Servers {
		detail := fmt.Sprintf("answers at %s with %d models", s.URL, s.Models)
		l.Items = append(l.Items, dialog.Item{ID: "models:" + s.Provider, Title: styled.OneLine(s.Name), Detail: styled.OneLine(detail), Group: "found"})
	}
	rest := ""
	if len(l.Items) > 0 {
		rest = "or"
	}
	if a.access.Able.Keys != nil {
		l.Items = append(l.Items, dialog.Item{ID: "connect", Title: "connect a provider with a key", Detail: "Anthropic, OpenAI, Google, OpenRouter and more", Group: rest})
	}
	l.Items = append(l.Items,
		dialog.Item{ID: "again", Title: "look again for a local server", Detail: "Ollama, LM Studio, llama.cpp, vLLM on their usual ports", Group: rest},
		dialog.Item{ID: "guide", Title: "go on with the offline guide", Detail: "rules, not a language model; it needs no network", Group: rest})
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		text := "Keys in the environment count without being stored."
		if it.ID == "connect" {
			text = "The key is stored for you alone (mode 0600) and tried with one small request."
		}
		return styled.Plain(text, l.FG(theme.Muted))
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
		case "connect":
			return a.connect()
		case "again":
			return tea.Batch(a.choice.Load(), a.setup())
		case "guide":
			a.prefs.Guided = true
			a.choice.Guide()
			return a.prefs.Save()
		}
		return a.modelsOf(it.ID[len("models:"):])
	}
	a.push(dialog.NewList(l))
}

// modelsOf offers the models of one provider.
func (a *App) modelsOf(provider string) tea.Cmd {
	reload := a.choice.Load()
	return func() tea.Msg {
		m := reload()
		return doneMsg{then: func(a *App) tea.Cmd {
			cmd := a.result(m)
			a.apply(a.choice.ShowModels(provider))
			return cmd
		}}
	}
}

// foundLine tells on the welcome what was found and is used without having been
// stored.
func (a *App) foundLine() string {
	provider := a.choice.Current().Provider
	for _, k := range a.found.Keys {
		if k.Provider == provider {
			return styled.OneLine(k.Variable) + " is set" + more(len(a.found.Keys)) + "; " + a.keys.For(keys.Models) + " chooses another model."
		}
	}
	for _, s := range a.found.Servers {
		if s.Provider == provider {
			return fmt.Sprintf("%s answers at %s%s; %s chooses another model.", styled.OneLine(s.Name), styled.OneLine(s.URL), more(len(a.found.Servers)), a.keys.For(keys.Models))
		}
	}
	return ""
}

func more(n int) string {
	if n > 1 {
		return fmt.Sprintf(", and %d more found", n-1)
	}
	return ""
}
