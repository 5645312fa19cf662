package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/keys"
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
	l := list{title: "models", hint: hint, empty: "no model is connected; " + a.keys.For(keys.ProviderList) + " connects a provider", items: a.modelItems()}
	l.foot = func(l look, it item) styled.Line { return a.modelFoot(l, it.id) }
	l.pick = func(it item) tea.Msg {
		for _, m := range a.models {
			if m.Ref().String() == it.id {
				return a.chooseModel(m.Ref())
			}
		}
		a.notify(Warning, it.id+" is not connected now")
		return a.tick()
	}
	s := newList(l)
	s.keys = map[keys.Action]func(item) tea.Msg{
		keys.Favorite: func(it item) tea.Msg {
			for _, m := range a.models {
				if m.Ref().String() == it.id {
					cmd := a.toggleFavorite(m.Ref())
					s.replace(a.modelItems())
					return cmd
				}
			}
			return nil
		},
	}
	if a.can.Keys != nil {
		s.always = map[keys.Action]func() tea.Msg{
			keys.ProviderList: func() tea.Msg { a.sheets.Close(s); return a.connect() },
		}
	}
	for n, it := range s.items {
		if ref, _, _ := strings.Cut(it.id, "/"); provider != "" && ref == provider {
			s.at = n
			break
		}
	}
	a.push(s)
}

func (a *App) modelItems() []item {
	now, out := plain(a.current()), []item(nil)
	add := func(m api.Model, group string) {
		it := item{
			id: m.Ref().String(), title: styled.OneLine(or(m.Name, m.Ref().Model)), detail: styled.OneLine(m.Ref().String()), group: group,
			right: modelFacts(m), current: plain(m.Ref()) == now,
		}
		if a.favorite(m.Ref()) {
			it.title += " " + a.look.glyph("★", "+")
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
		out[i].current = out[i].current && !slices.ContainsFunc(out[:i], func(o item) bool { return o.current && o.id == out[i].id })
	}
	return out
}

// modelFoot tells what the marked model costs in full, and its variants.
func (a *App) modelFoot(l look, id string) styled.Line {
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
		facts = append(facts, "window "+short(int64(m.Context)))
	}
	if len(m.Variants) > 0 {
		facts = append(facts, "variants "+strings.Join(m.Variants, ", "))
	}
	return styled.Plain(styled.OneLine(strings.Join(facts, l.glyph(" · ", ", "))), l.fg(theme.Muted))
}

// variantList offers the variants of the model that answers next.
func (a *App) variantList() tea.Cmd {
	ref := a.current()
	variants := a.modelInfo(ref).Variants
	if len(variants) == 0 {
		a.notify(Info, "this model has no variants")
		return a.tick()
	}
	l := list{title: "variants of " + styled.OneLine(ref.Model), hint: "enter choose · " + a.keys.For(keys.Variant) + " goes through them"}
	l.items = append(l.items, item{title: "default", detail: "as the provider sets it", current: ref.Variant == ""})
	for _, v := range variants {
		l.items = append(l.items, item{id: v, title: styled.OneLine(v), current: v == ref.Variant})
	}
	l.pick = func(it item) tea.Msg { return a.chooseVariant(it.id) }
	a.push(newList(l))
	return nil
}

func (a *App) nextVariant() tea.Cmd {
	ref := a.current()
	names := append([]string{""}, a.modelInfo(ref).Variants...)
	if len(names) == 1 {
		a.notify(Info, "this model has no variants")
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
		a.notify(Info, how+" in the list of models ("+a.keys.For(keys.Models)+"); this key goes through those")
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
