package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// modelList offers the models: favourites, then those used last, then all by
// provider.
func (a *App) modelList() tea.Cmd {
	a.showModels("")
	return nil
}

// showModels lists the models, the mark on the first one of a provider.
func (a *App) showModels(provider string) {
	hint := fmt.Sprintf("enter choose · %s favourite · %s connect", a.keys.For(keys.Favorite), a.keys.For(keys.ProviderList))
	l := dialog.List{Title: "models", Hint: hint, Empty: "no model is connected; " + a.keys.For(keys.ProviderList) + " connects a provider", Items: a.modelItems()}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line { return a.modelFoot(l, it.ID) }
	l.Pick = func(it dialog.Item) tea.Msg {
		for _, m := range a.models {
			if m.Ref().String() == it.ID {
				return a.chooseModel(m.Ref())
			}
		}
		a.notify(dialog.Warning, it.ID+" is not connected now")
		return a.tick()
	}
	s := dialog.NewList(l)
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{
		keys.Favorite: func(it dialog.Item) tea.Msg {
			for _, m := range a.models {
				if m.Ref().String() == it.ID {
					cmd := a.toggleFavorite(m.Ref())
					s.Replace(a.modelItems())
					return cmd
				}
			}
			return nil
		},
	}
	if a.can.Keys != nil {
		s.Always = map[keys.Action]func() tea.Msg{
			keys.ProviderList: func() tea.Msg { a.sheets.Close(s); return a.connect() },
		}
	}
	for n, it := range s.Items {
		if ref, _, _ := strings.Cut(it.ID, "/"); provider != "" && ref == provider {
			s.At = n
			break
		}
	}
	a.push(s)
}

func (a *App) modelItems() []dialog.Item {
	now, out := plain(a.current()), []dialog.Item(nil)
	add := func(m api.Model, group string) {
		it := dialog.Item{
			ID: m.Ref().String(), Title: styled.OneLine(look.Or(m.Name, m.Ref().Model)), Detail: styled.OneLine(m.Ref().String()), Group: group,
			Right: modelFacts(m), Current: plain(m.Ref()) == now,
		}
		if a.favorite(m.Ref()) {
			it.Title += " " + a.look.Glyph("★", "+")
		}
		out = append(out, it)
	}
	for _, r := range a.known(a.prefs.Favorite) {
		add(a.modelInfo(r), "favourites")
	}
	recent := a.known(a.prefs.Recent)
	recent = slices.DeleteFunc(recent, a.favorite)
	for _, r := range recent[:min(len(recent), shownRecent)] {
		add(a.modelInfo(r), "recent")
	}
	for _, m := range a.models {
		if m.Ref().Model != "<file>" { // scripts are named, not chosen
			add(m, styled.OneLine(m.ProviderID))
		}
	}
	for i := range out { // the mark begins at the first row of the model in use
		out[i].Current = out[i].Current && !slices.ContainsFunc(out[:i], func(o dialog.Item) bool { return o.Current && o.ID == out[i].ID })
	}
	return out
}

// modelFoot tells what the marked model costs in full, and its variants.
func (a *App) modelFoot(l look.Look, id string) styled.Line {
	var m api.Model
	for _, o := range a.models {
		if o.Ref().String() == id {
			m = o
		}
	}
	var facts []string
	if p := m.Price; p != (lathe.Prices{}) {
		facts = append(facts, "a million tokens: in $"+dollars(p.Input)+", out $"+dollars(p.Output))
		if p.CacheRead != 0 {
			facts = append(facts, "cached $"+dollars(p.CacheRead))
		}
		if p.CacheWrite != 0 {
			facts = append(facts, "to cache $"+dollars(p.CacheWrite))
		}
	} else {
		facts = append(facts, "no price is known")
	}
	if m.Context > 0 {
		facts = append(facts, "window "+look.Short(int64(m.Context)))
	}
	if len(m.Variants) > 0 {
		facts = append(facts, "variants "+strings.Join(m.Variants, ", "))
	}
	return styled.Plain(styled.OneLine(strings.Join(facts, l.Glyph(" · ", ", "))), l.FG(theme.Muted))
}

// variantList offers the variants of the model that answers next.
func (a *App) variantList() tea.Cmd {
	ref := a.current()
	variants := a.modelInfo(ref).Variants
	if len(variants) == 0 {
		a.notify(dialog.Info, "this model has no variants")
		return a.tick()
	}
	l := dialog.List{Title: "variants of " + styled.OneLine(ref.Model), Hint: "enter choose · " + a.keys.For(keys.Variant) + " goes through them"}
	l.Items = append(l.Items, dialog.Item{Title: "default", Detail: "as the provider sets it", Current: ref.Variant == ""})
	for _, v := range variants {
		l.Items = append(l.Items, dialog.Item{ID: v, Title: styled.OneLine(v), Current: v == ref.Variant})
	}
	l.Pick = func(it dialog.Item) tea.Msg { return a.chooseVariant(it.ID) }
	a.push(dialog.NewList(l))
	return nil
}

func (a *App) nextVariant() tea.Cmd {
	ref := a.current()
	names := append([]string{""}, a.modelInfo(ref).Variants...)
	if len(names) == 1 {
		a.notify(dialog.Info, "this model has no variants")
		return a.tick()
	}
	return a.chooseVariant(names[(slices.Index(names, ref.Variant)+1)%len(names)])
}

// cycleModel goes through the models that were used last.
func (a *App) cycleModel(dir int) tea.Cmd {
	return a.cycle(a.known(a.prefs.Recent), dir, "choose models")
}

// cycleFavorite goes through the favourites.
func (a *App) cycleFavorite(dir int) tea.Cmd {
	return a.cycle(a.known(a.prefs.Favorite), dir, "mark models with "+a.keys.For(keys.Favorite))
}

// cycle goes to the next of some models, without changing their order.
func (a *App) cycle(list []lathe.ModelRef, dir int, how string) tea.Cmd {
	now := plain(a.current())
	if len(list) == 0 || len(list) == 1 && list[0] == now {
		a.notify(dialog.Info, how+" in the list of models ("+a.keys.For(keys.Models)+"); this key goes through those")
		return a.tick()
	}
	at := slices.Index(list, now)
	if at < 0 && dir < 0 {
		at = 0
	}
	next := list[(at+dir+len(list))%len(list)]
	next.Variant = a.prefs.Variant[next.String()]
	a.model = next
	return nil
}
