package choice

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

// ModelList offers the models: favourites, then those used last, then all by
// provider.
func (c *Choice) ModelList() tea.Msg { return c.ShowModels("") }

// ShowModels lists the models, the mark on the first one of a provider.
func (c *Choice) ShowModels(provider string) tea.Msg {
	hint := fmt.Sprintf("enter choose · %s favourite · %s connect", c.host.Keys().For(keys.Favorite), c.host.Keys().For(keys.ProviderList))
	l := dialog.List{Title: "models", Hint: hint, Empty: "no model is connected; " + c.host.Keys().For(keys.ProviderList) + " connects a provider", Items: c.modelItems()}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line { return c.modelFoot(l, it.ID) }
	l.Pick = func(it dialog.Item) tea.Msg {
		for _, m := range c.models {
			if m.Ref().String() == it.ID {
				return c.chooseModel(m.Ref())
			}
		}
		return dialog.Tell{Kind: dialog.Warning, Text: it.ID + " is not connected now"}
	}
	s := dialog.NewList(l)
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{
		keys.Favorite: func(it dialog.Item) tea.Msg {
			for _, m := range c.models {
				if m.Ref().String() == it.ID {
					cmd := c.toggleFavorite(m.Ref())
					s.Replace(c.modelItems())
					return cmd
				}
			}
			return nil
		},
	}
	if c.access.Able.Keys != nil {
		s.Always = map[keys.Action]func() tea.Msg{
			keys.ProviderList: func() tea.Msg { return dialog.All{dialog.Close{Sheet: s}, Connect{}} },
		}
	}
	for n, it := range s.Items {
		if ref, _, _ := strings.Cut(it.ID, "/"); provider != "" && ref == provider {
			s.At = n
			break
		}
	}
	return dialog.Open{Sheet: s}
}

func (c *Choice) modelItems() []dialog.Item {
	now, out := plain(c.Current()), []dialog.Item(nil)
	add := func(m api.Model, group string) {
		it := dialog.Item{
			ID: m.Ref().String(), Title: styled.OneLine(look.Or(m.Name, m.Ref().Model)), Detail: styled.OneLine(m.Ref().String()), Group: group,
			Right: modelFacts(m), Current: plain(m.Ref()) == now,
		}
		if c.favorite(m.Ref()) {
			it.Title = c.host.Look().Say.Word(it.Title) + " " + c.host.Look().Glyph("★", "+")
		}
		out = append(out, it)
	}
	for _, r := range c.known(c.book.Favorite) {
		add(c.ModelInfo(r), "favourites")
	}
	recent := c.known(c.book.Recent)
	recent = slices.DeleteFunc(recent, c.favorite)
	for _, r := range recent[:min(len(recent), shownRecent)] {
		add(c.ModelInfo(r), "recent")
	}
	for _, m := range c.models {
		if m.Ref().Model != "<file>" { // scripts are named, not chosen from a list
			add(m, styled.OneLine(m.ProviderID))
		}
	}
	for i := range out { // the mark begins at the first row of the model in use
		out[i].Current = out[i].Current && !slices.ContainsFunc(out[:i], func(o dialog.Item) bool { return o.Current && o.ID == out[i].ID })
	}
	return out
}

// modelFoot says what the marked model costs in full, and its variants.
func (c *Choice) modelFoot(l look.Look, id string) styled.Line {
	var m api.Model
	for _, o := range c.models {
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
	} else if m.Free {
		facts = append(facts, "a token costs nothing")
	} else {
		facts = append(facts, "no price is known")
	}
	if m.Context > 0 {
		facts = append(facts, "window "+look.Short(int64(m.Context)))
	}
	if m.Output > 0 {
		facts = append(facts, "answers up to "+look.Short(int64(m.Output)))
	}
	if len(m.Variants) > 0 {
		facts = append(facts, "variants "+strings.Join(m.Variants, ", "))
	}
	facts = append(facts, c.switching(m)...)
	for i, f := range facts {
		facts[i] = l.T(f)
	}
	return styled.Plain(styled.OneLine(strings.Join(facts, l.Glyph(" · ", ", "))), l.FG(theme.Muted))
}

// switching says what it costs to go on with another model: all of the window is sent to it anew,
// since its provider has none of it in a cache.
func (c *Choice) switching(m api.Model) []string {
	used, _ := c.host.Used()
	if used <= 0 || plain(m.Ref()) == plain(c.Current()) {
		return nil
	}
	if m.Context > 0 && used > int64(m.Context) {
		return []string{fmt.Sprintf("%s tokens of this session do not fit: it compacts them first", look.Short(used))}
	}
	price := max(m.Price.Input, m.Price.CacheWrite)
	if m.Free {
		return nil
	}
	if m.Price == (lathe.Prices{}) {
		return []string{fmt.Sprintf("switching sends %s tokens uncached, at an unknown price", look.Short(used))}
	}
	return []string{fmt.Sprintf("switching sends %s tokens uncached: %s", look.Short(used), lathe.Prices{Input: price}.Cost(lathe.Tokens{Input: used}))}
}

// VariantList offers the variants of the model that answers next.
func (c *Choice) VariantList() tea.Msg {
	ref := c.Current()
	variants := c.ModelInfo(ref).Variants
	if len(variants) == 0 {
		return dialog.Tell{Kind: dialog.Info, Text: "this model has no variants"}
	}
	l := dialog.List{Title: "variants of " + styled.OneLine(ref.Model), Hint: "enter choose · " + c.host.Keys().For(keys.Variant) + " goes through them"}
	l.Items = append(l.Items, dialog.Item{Title: "default", Detail: "as the provider sets it", Current: ref.Variant == ""})
	for _, v := range variants {
		l.Items = append(l.Items, dialog.Item{ID: v, Title: styled.OneLine(v), Current: v == ref.Variant})
	}
	l.Pick = func(it dialog.Item) tea.Msg { return c.chooseVariant(it.ID) }
	return dialog.Open{Sheet: dialog.NewList(l)}
}

func (c *Choice) NextVariant() tea.Msg {
	ref := c.Current()
	names := append([]string{""}, c.ModelInfo(ref).Variants...)
	if len(names) == 1 {
		return dialog.Tell{Kind: dialog.Info, Text: "this model has no variants"}
	}
	return c.chooseVariant(names[(slices.Index(names, ref.Variant)+1)%len(names)])
}

// CycleModel goes through the models that were used last.
func (c *Choice) CycleModel(dir int) tea.Msg {
	return c.cycle(c.known(c.book.Recent), dir, "choose models")
}

// CycleFavorite goes through the favourites.
func (c *Choice) CycleFavorite(dir int) tea.Msg {
	return c.cycle(c.known(c.book.Favorite), dir, "mark models with "+c.host.Keys().For(keys.Favorite))
}

// cycle goes to the next of some models, without changing their order.
func (c *Choice) cycle(list []lathe.ModelRef, dir int, how string) tea.Msg {
	now := plain(c.Current())
	if len(list) == 0 || len(list) == 1 && list[0] == now {
		return dialog.Tell{Kind: dialog.Info, Text: how + " in the list of models (" + c.host.Keys().For(keys.Models) + "); this key goes through those"}
	}
	at := slices.Index(list, now)
	if at < 0 && dir < 0 {
		at = 0
	}
	next := list[(at+dir+len(list))%len(list)]
	next.Variant = c.book.Variant[next.String()]
	c.model = next
	return nil
}

func modelFacts(m api.Model) string {
	var facts []string
	if m.Context > 0 {
		facts = append(facts, look.Short(int64(m.Context)))
	}
	switch {
	case m.Price != (lathe.Prices{}):
		facts = append(facts, fmt.Sprintf("$%s/$%s", dollars(m.Price.Input), dollars(m.Price.Output)))
	case m.Free:
		facts = append(facts, "$0")
	}
	return strings.Join(facts, "  ")
}

// dollars is what a million tokens cost.
func dollars(p lathe.Price) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", float64(p)/1e6), "0"), ".")
}
