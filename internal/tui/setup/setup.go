// Package setup is for the first hour and what is changed later: what can answer,
// keys of providers, whether the repository may steer lathe, and what was allowed for
// good.
package setup

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/prefs"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Room is where a person sets up what lathe works with.
type Room struct {
	host   dialog.Host
	access *engine.Access
	choice *choice.Choice
	book   *prefs.Book
	found  api.Found
}

// Messages of the room.
type (
	// Began says what was found at the start that could answer.
	Began struct{ Found api.Found }
	// Offered says what can answer, to be chosen from.
	Offered struct{ Found api.Found }
	// Trusted says that the person trusts the repository.
	Trusted struct{}
)

// New returns the room.
func New(h dialog.Host, access *engine.Access, c *choice.Choice, book *prefs.Book) *Room {
	return &Room{host: h, access: access, choice: c, book: book}
}

// Begin looks, at a start without a connected model, for what could answer. If
// that fails nothing is shown: the welcome says how to connect a provider.
func (r *Room) Begin() tea.Cmd {
	return r.look(func(f api.Found) tea.Msg { return Began{f} }, func(error) tea.Msg { return nil })
}

// Look looks for what can answer, and offers it.
func (r *Room) Look() tea.Cmd {
	return r.look(func(f api.Found) tea.Msg { return Offered{f} }, dialog.Fail)
}

func (r *Room) look(found func(api.Found) tea.Msg, failed func(error) tea.Msg) tea.Cmd {
	e := r.access.Able.Found
	if e == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		f, err := e.Found(ctx)
		if err != nil {
			return failed(err)
		}
		return found(f)
	})
}

// Take takes what was found at the start, and reports whether to offer it: if only
// the offline guide can answer, the person did not choose it and was not asked at an
// earlier start. The welcome says how to connect a provider in any case.
func (r *Room) Take(f api.Found) (offer bool) {
	r.found = f
	return r.choice.Guided() && !r.book.Guided && !r.book.Offered
}

// OfferOnce offers what can answer at a start, and remembers that.
func (r *Room) OfferOnce(f api.Found) tea.Msg {
	r.book.Offered = true
	return dialog.All{r.Offer(f), r.book.Save()}
}

// Offer offers what can answer.
func (r *Room) Offer(f api.Found) tea.Msg {
	r.found = f
	l := dialog.List{Title: "what shall answer?", Hint: "enter choose · esc later"}
	for _, k := range f.Keys {
		l.Items = append(l.Items, dialog.Item{ID: "models:" + k.Provider, Title: styled.OneLine(look.Or(k.Name, k.Provider)), Detail: k.Variable + " is set in the environment", Group: "found"})
	}
	for _, p := range f.Stored {
		l.Items = append(l.Items, dialog.Item{ID: "models:" + p, Title: styled.OneLine(p), Detail: "a key is stored", Group: "found"})
	}
	for _, s := range f.Servers {
		detail := fmt.Sprintf("answers at %s with %s", s.URL, say.Plural(s.Models, "model"))
		l.Items = append(l.Items, dialog.Item{ID: "models:" + s.Provider, Title: styled.OneLine(s.Name), Detail: styled.OneLine(detail), Group: "found"})
	}
	rest := ""
	if len(l.Items) > 0 {
		rest = "or"
	}
	if r.access.Able.Keys != nil {
		l.Items = append(l.Items, dialog.Item{ID: "connect", Title: "connect a provider with a key", Detail: "Anthropic, OpenAI, Google, OpenRouter and more", Group: rest})
	}
	l.Items = append(l.Items,
		dialog.Item{ID: "again", Title: "look again for a local server", Detail: "Ollama, LM Studio, llama.cpp, vLLM on their usual ports", Group: rest},
		dialog.Item{ID: "guide", Title: "go on with the offline guide", Detail: "rules, not a language model; it needs no network", Group: rest})
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		text := "Keys in the environment count without being stored."
		if it.ID == "connect" {
			text = "The key is tried with one small request, then stored for you alone (mode 0600)."
		}
		return styled.Plain(l.T(text), l.FG(theme.Muted))
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		switch it.ID {
		case "connect":
			return choice.Connect{}
		case "again":
			return dialog.All{r.choice.Load(), r.Look()}
		case "guide":
			r.book.Guided = true
			r.choice.Guide()
			return r.book.Save()
		}
		return r.modelsOf(it.ID[len("models:"):])
	}
	return dialog.Open{Sheet: dialog.NewList(l)}
}

// modelsOf offers the models of one provider.
func (r *Room) modelsOf(provider string) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		return dialog.All{r.choice.Read(ctx), choice.ShowModels{Provider: provider}}
	})
}

// Found says on the welcome page what was found and is used without having been
// stored.
func (r *Room) Found() string {
	provider := r.choice.Current().Provider
	for _, k := range r.found.Keys {
		if k.Provider == provider {
			return styled.OneLine(k.Variable) + " is set" + more(len(r.found.Keys)) + "; " + r.host.Keys().For(keys.Models) + " chooses another model."
		}
	}
	for _, s := range r.found.Servers {
		if s.Provider == provider {
			return fmt.Sprintf("%s answers at %s%s; %s chooses another model.", styled.OneLine(s.Name), styled.OneLine(s.URL), more(len(r.found.Servers)), r.host.Keys().For(keys.Models))
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
