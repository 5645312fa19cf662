package setup

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/choice"
	"lathe/internal/tui/dialog"
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

// plans are the names of providers' subscriptions, for which there is no key.
var plans = map[string]string{"anthropic": "Claude Pro or Max", "openai": "ChatGPT Plus or Pro", "google": "Gemini with a Google account"}

// Connect asks which provider, then for its key or for a login that a plugin brings.
func (r *Room) Connect() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		list, err := r.access.Able.Keys.Providers(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		logins, told := r.logins(ctx)
		return dialog.All{told, r.providers(list, logins)}
	})
}

// logins returns how plugins log in, by provider. If that is not known, keys are offered
// all the same.
func (r *Room) logins(ctx context.Context) (map[string][]api.LoginMethod, tea.Msg) {
	if r.access.Able.Logins == nil {
		return nil, nil
	}
	all, err := r.access.Able.Logins.LoginMethods(ctx)
	if err != nil {
		return nil, dialog.Tell{Kind: dialog.Warning, Text: "plugins' logins are not offered: " + styled.OneLine(err.Error())}
	}
	return all, nil
}

func (r *Room) providers(providers []api.Provider, logins map[string][]api.LoginMethod) tea.Msg {
	l := dialog.List{Title: "connect a provider", Hint: "enter choose · type to search", Empty: "the catalogue is empty"}
	listed := map[string]bool{}
	for _, common := range []bool{true, false} {
		for _, p := range providers {
			if usual[p.ID] != common || signIn[p.ID] != "" && logins[p.ID] == nil {
				continue
			}
			listed[p.ID] = true
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
	for _, id := range slices.Sorted(maps.Keys(logins)) {
		if !listed[id] {
			title := look.Or(signIn[id], id)
			l.Items = append(l.Items, dialog.Item{ID: id, Title: styled.OneLine(title), Detail: "by a plugin", Group: "others"})
		}
	}
	for _, id := range []string{"github-copilot", "github-copilot-enterprise"} {
		if logins[id] != nil {
			continue
		}
		l.Items = append(l.Items, dialog.Item{ID: id, Title: signIn[id], Detail: "signs in with OAuth, which needs a plugin", Group: "not offered"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if m := logins[it.ID]; len(m) > 0 {
			return r.methods(it, m)
		}
		if signIn[it.ID] != "" {
			return dialog.Open{Sheet: &dialog.Page{Title: it.Title, Lines: func(l look.Look) []styled.Line { return signInLines(l, it.Title) }}}
		}
		return r.askKey(it)
	}
	s := dialog.NewList(l)
	s.At = 0
	return dialog.Open{Sheet: s}
}

func signInLines(l look.Look, name string) []styled.Line {
	text := []string{
		name + " is signed in to with OAuth. lathe does not offer that by itself: it connects providers by key.",
		"", "What works instead: a key of a provider that gives keys (Anthropic, OpenAI, Google, OpenRouter and the others of /connect), or a model server on this machine.",
		"", "A plugin that logs in to it is offered here once it is installed (lathe plugin add).",
		"", "A sign-in that OpenCode stored is read, but lathe neither renews nor makes one.",
	}
	var out []styled.Line
	for _, t := range text {
		out = append(out, styled.Wrap(styled.Plain(t, l.FG(theme.Text)), l.Width-4, l.Method)...)
	}
	return out
}

// askKey asks for a key.
func (r *Room) askKey(it dialog.Item) tea.Msg {
	f := &dialog.Field{Title: "key for " + it.Title, Hint: "enter store and try it · esc cancel", Secret: true}
	f.Note = "It is stored in auth.json, readable by you alone, and tried with one small request."
	if plan := plans[it.ID]; plan != "" {
		f.Note += " A subscription (" + plan + ") is no key; signing in to one needs a plugin that does it."
	}
	f.Done = func(key string) tea.Msg {
		key = strings.TrimSpace(key)
		if key == "" {
			return nil
		}
		return r.storeKey(it, key)
	}
	return dialog.Open{Sheet: f}
}

// storeKey stores a key, tries it, and offers the models that it opens.
func (r *Room) storeKey(it dialog.Item, key string) tea.Msg {
	c := r.access.Able.Keys
	return dialog.All{dialog.Tell{Kind: dialog.Info, Text: "trying the key of " + it.Title}, r.access.Do(func(ctx context.Context) tea.Msg {
		if err := c.Connect(ctx, it.ID, key); err != nil {
			return dialog.Fail(err)
		}
		t, err := c.Test(ctx, it.ID)
		return dialog.All{r.choice.Read(ctx), r.tried(it, t, err)}
	})}
}

// tried shows the outcome of trying a key, and what to do.
func (r *Room) tried(it dialog.Item, t api.KeyTest, err error) tea.Msg {
	if err != nil {
		t = api.KeyTest{Outcome: api.KeyUnknown, Detail: err.Error()}
	}
	l := dialog.List{Hint: "enter do it · esc keep it"}
	switch t.Outcome {
	case api.KeyAccepted:
		return dialog.All{dialog.Tell{Kind: dialog.Info, Text: "connected " + it.Title + ": " + t.Model + " answered"}, choice.ShowModels{Provider: it.ID}}
	case api.KeyRefused:
		l.Title = it.Title + " refused the key, which is stored"
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
			return r.askKey(it)
		case "remove":
			return r.access.Do(func(ctx context.Context) tea.Msg {
				return dialog.Done{Text: "removed the key of " + it.Title, Err: r.access.Able.Keys.Forget(ctx, it.ID), Then: r.choice.Load()}
			})
		case "retry":
			return r.retryKey(it)
		default:
			return choice.ShowModels{Provider: it.ID}
		}
	}
	return dialog.All{dialog.Hush{}, dialog.Open{Sheet: dialog.NewList(l)}}
}

func (r *Room) retryKey(it dialog.Item) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		t, err := r.access.Able.Keys.Test(ctx, it.ID)
		return r.tried(it, t, err)
	})
}
