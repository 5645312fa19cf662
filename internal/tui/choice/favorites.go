package choice

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"lathe"
)

const (
	maxRecent   = 10
	shownRecent = 5
)

func plain(r lathe.ModelRef) lathe.ModelRef {
	return lathe.ModelRef{Provider: r.Provider, Model: r.Model}
}

// chooseModel takes a model for what is sent next, with the variant that it was
// used with last unless one is named.
func (c *Choice) chooseModel(ref lathe.ModelRef) tea.Msg {
	bare := plain(ref)
	if ref.Variant == "" {
		if v := c.book.Variant[bare.String()]; slices.Contains(c.ModelInfo(bare).Variants, v) {
			ref.Variant = v
		}
	}
	c.model = ref
	c.book.Recent = slices.DeleteFunc(c.book.Recent, func(r lathe.ModelRef) bool { return plain(r) == bare })
	c.book.Recent = append([]lathe.ModelRef{bare}, c.book.Recent...)
	c.book.Recent = c.book.Recent[:min(len(c.book.Recent), maxRecent)]
	return c.book.Save()
}

// chooseVariant changes the variant of the model that answers next.
func (c *Choice) chooseVariant(v string) tea.Msg {
	ref := c.Current()
	ref.Variant = v
	c.model = ref
	if c.book.Variant == nil {
		c.book.Variant = map[string]string{}
	}
	if v == "" {
		delete(c.book.Variant, plain(ref).String())
	} else {
		c.book.Variant[plain(ref).String()] = v
	}
	return c.book.Save()
}

// known returns those of the models that can be chosen now.
func (c *Choice) known(list []lathe.ModelRef) []lathe.ModelRef {
	var out []lathe.ModelRef
	for _, r := range list {
		for _, m := range c.models {
			if plain(m.Ref()) == plain(r) {
				out = append(out, plain(r))
				break
			}
		}
	}
	return out
}

func (c *Choice) favorite(ref lathe.ModelRef) bool {
	return slices.Contains(c.book.Favorite, plain(ref))
}

// toggleFavorite marks a model, or takes the mark away.
func (c *Choice) toggleFavorite(ref lathe.ModelRef) tea.Msg {
	if i := slices.Index(c.book.Favorite, plain(ref)); i >= 0 {
		c.book.Favorite = slices.Delete(c.book.Favorite, i, i+1)
	} else {
		c.book.Favorite = append(c.book.Favorite, plain(ref))
	}
	return c.book.Save()
}

// lastModel chooses the model of the previous run if neither the command line
// nor the configuration, the agent or the session names one.
func (c *Choice) lastModel() {
	if !c.model.IsZero() || !c.host.Session().Model.IsZero() || !c.last {
		return
	}
	for _, g := range c.agents {
		if g.Name == c.AgentName() && !g.Model.IsZero() {
			return
		}
	}
	if list := c.known(c.book.Recent); len(list) > 0 {
		ref := list[0]
		ref.Variant = c.book.Variant[ref.String()]
		c.model = ref
	}
}
