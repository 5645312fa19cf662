package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// loadSetup looks, at a start without a connected model, for what could answer.
func (a *App) loadSetup() tea.Cmd {
	e := a.can.Found
	if e == nil || a.opts.Session != "" || a.opts.Prompt != "" || !a.opts.Model.IsZero() {
		return nil
	}
	return func() tea.Msg {
		f, err := e.Found(a.ctx)
		if err != nil {
			return nil // the welcome says how to connect one
		}
		return doneMsg{then: func(a *App) tea.Cmd {
			a.found = f
			if a.guided() && !a.prefs.Guided && a.input.Empty() && a.session.ID == "" && a.sheets.Top() == nil {
				a.showSetup(f)
			}
			return nil
		}}
	}
}

// guided reports whether nothing but the offline guide can answer.
func (a *App) guided() bool {
	return !slices.ContainsFunc(a.models, func(m api.Model) bool { return m.Ref().Provider != "offline" && m.Ref().Provider != "script" })
}

// setup offers what can answer.
func (a *App) setup() tea.Cmd {
	e := a.can.Found
	return func() tea.Msg {
		f, err := e.Found(a.ctx)
		return doneMsg{err: err, then: func(a *App) tea.Cmd { a.found = f; a.showSetup(f); return nil }}
	}
}

func (a *App) showSetup(f api.Found) {
	l := list{title: "what shall answer?", hint: "enter choose · esc later"}
	for _, k := range f.Keys {
		l.items = append(l.items, item{id: "models:" + k.Provider, title: styled.OneLine(or(k.Name, k.Provider)), detail: k.Variable + " is set in the environment", group: "found"})
	}
	for _, p := range f.Stored {
		l.items = append(l.items, item{id: "models:" + p, title: styled.OneLine(p), detail: "a key is stored", group: "found"})
	}
	for _, s := range f.Servers {
		detail := fmt.Sprintf("answers at %s with %d models", s.URL, s.Models)
		l.items = append(l.items, item{id: "models:" + s.Provider, title: styled.OneLine(s.Name), detail: styled.OneLine(detail), group: "found"})
	}
	rest := ""
	if len(l.items) > 0 {
		rest = "or"
	}
	if a.can.Keys != nil {
		l.items = append(l.items, item{id: "connect", title: "connect a provider with a key", detail: "Anthropic, OpenAI, Google, OpenRouter and more", group: rest})
	}
	l.items = append(l.items,
		item{id: "again", title: "look again for a local server", detail: "Ollama, LM Studio, llama.cpp, vLLM on their usual ports", group: rest},
		item{id: "guide", title: "go on with the offline guide", detail: "rules, not a language model; it needs no network", group: rest})
	l.foot = func(l look, it item) styled.Line {
		text := "Keys in the environment count without being stored."
		if it.id == "connect" {
			text = "The key is stored for you alone (mode 0600) and tried with one small request."
		}
		return styled.Plain(text, l.fg(theme.Muted))
	}
	l.pick = func(it item) tea.Msg {
		switch it.id {
		case "connect":
			return a.connect()
		case "again":
			return tea.Batch(a.loadCatalog(), a.setup())
		case "guide":
			a.prefs.Guided = true
			for _, m := range a.models {
				if m.Ref().Provider == "offline" && a.current().Provider != "offline" {
					a.model = m.Ref()
				}
			}
			return a.remember()
		}
		return a.modelsOf(it.id[len("models:"):])
	}
	a.push(newList(l))
}

// modelsOf offers the models of one provider.
func (a *App) modelsOf(provider string) tea.Cmd {
	reload := a.loadCatalog()
	return func() tea.Msg {
		m := reload()
		return doneMsg{then: func(a *App) tea.Cmd {
			cmd := a.result(m)
			a.showModels(provider)
			return cmd
		}}
	}
}

// foundLine tells on the welcome what was found and is used without having been
// stored.
func (a *App) foundLine() string {
	provider := a.current().Provider
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
