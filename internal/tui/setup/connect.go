package setup

import (
	"context"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
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
	f := &dialog.Field{Title: "key for " + it.Title, Hint: "enter try and store it · esc cancel", Secret: true}
	f.Note = "It is tried with one small request, then stored in auth.json, readable by you alone."
	if plan := plans[it.ID]; plan != "" {
		f.Note += " A subscription (" + plan + ") is no key; signing in to one needs a plugin that does it."
	}
	f.Done = func(key string) tea.Msg {
		key = strings.TrimSpace(key)
		if key == "" {
			return nil
		}
		return r.tryKey(it, key)
	}
	return dialog.Open{Sheet: f}
}

// tryKey tries a key. One that is accepted is stored; of any other the person decides, so that
// a wrong key takes no good one's place.
func (r *Room) tryKey(it dialog.Item, key string) tea.Msg {
	return dialog.All{dialog.Tell{Kind: dialog.Info, Text: "trying the key of " + it.Title}, r.access.Do(func(ctx context.Context) tea.Msg {
		t, err := r.access.Able.Keys.Test(ctx, it.ID, key)
		switch {
		case lathe.CodeOf(err) == lathe.CodeInvalid:
			return dialog.Fail(err)
		case err != nil:
			t = api.KeyTest{Outcome: api.KeyUnknown, Detail: err.Error()}
		case t.Outcome == api.KeyAccepted:
			return r.storeKey(ctx, it, key, dialog.Tell{Kind: dialog.Info, Text: "connected " + it.Title + ": " + t.Model + " answered"})
		}
		return r.undecided(it, key, t)
	})}
}

// storeKey stores a key, and offers the models that it opens.
func (r *Room) storeKey(ctx context.Context, it dialog.Item, key string, told tea.Msg) tea.Msg {
	if err := r.access.Able.Keys.Connect(ctx, it.ID, key); err != nil {
		return dialog.Fail(err)
	}
	return dialog.All{r.choice.Read(ctx), told, choice.ShowModels{Provider: it.ID}}
}

// undecided asks what is to become of a key that was not accepted.
func (r *Room) undecided(it dialog.Item, key string, t api.KeyTest) tea.Msg {
	leave := "leave it: none is stored"
	if it.Current {
		leave = "leave it: what connects it now stays"
	}
	l := dialog.List{Title: it.Title + " refused the key, which is not stored", Hint: "enter do it · esc leave it"}
	l.Items = []dialog.Item{{ID: "again", Title: "enter another key"}, {ID: "leave", Title: leave}, {ID: "store", Title: "store it all the same"}}
	if t.Outcome != api.KeyRefused {
		l.Title = "the key could not be tried, and is not stored"
		l.Items = append([]dialog.Item{{ID: "retry", Title: "try it again"}}, l.Items...)
	}
	l.Foot = func(l look.Look, _ dialog.Item) styled.Line {
		return styled.Plain(styled.OneLine(strings.Trim(t.Detail+" — "+t.Hint, " —")), l.FG(theme.Warning))
	}
	l.Pick = func(p dialog.Item) tea.Msg {
		switch p.ID {
		case "again":
			return r.askKey(it)
		case "retry":
			return r.tryKey(it, key)
		case "store":
			return r.access.Do(func(ctx context.Context) tea.Msg {
				return r.storeKey(ctx, it, key, dialog.Tell{Kind: dialog.Info, Text: "stored the key of " + it.Title})
			})
		}
		return nil
	}
	return dialog.All{dialog.Hush{}, dialog.Open{Sheet: dialog.NewList(l)}}
}
