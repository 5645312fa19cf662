package compose

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/styled"
)

// Stashes reports whether there is a place to put texts aside.
func (i *Composer) Stashes() bool { return i.memory != nil }

// Shelf is where texts are put aside.
type Shelf struct{ *Composer }

// Stash puts what is written aside; without text it takes back what was put aside
// last.
func (c Shelf) Stash() tea.Msg {
	if c.Empty() {
		return c.StashPop()
	}
	if len(c.Files()) > 0 {
		return dialog.Tell{Kind: dialog.Warning, Text: "pictures cannot be put aside; delete their chips first"}
	}
	kept, d := c.Editor, c.Draft()
	c.Reset()
	return dialog.All{c.putAside(d, func(err error) tea.Msg {
		if err == nil {
			return dialog.Tell{Kind: dialog.Info, Text: "put aside; " + look.Or(c.host.Keys().For(keys.Stash), "/unstash") + " takes it back"}
		}
		late := c.Text() // typed in the meantime
		c.Editor = kept
		c.Unselect()
		c.Type(late)
		return dialog.All{dialog.Fail(err), c.Changed()}
	}), c.Changed()}
}

// putAside keeps a draft in the stash, and reports the outcome.
func (c Shelf) putAside(d edit.Draft, then func(error) tea.Msg) tea.Msg {
	m, now := c.memory, c.host.Now()
	return tea.Cmd(func() tea.Msg {
		err := m.Stash(d, now)
		return dialog.Here(func() tea.Msg { return then(err) })
	})
}

// stashed reads what was put aside.
func (c Shelf) stashed(then func([]memory.Stashed) tea.Msg) tea.Msg {
	m := c.memory
	return tea.Cmd(func() tea.Msg {
		list := m.Stashed()
		return dialog.Here(func() tea.Msg {
			if len(list) == 0 {
				return dialog.Tell{Kind: dialog.Info, Text: "nothing was put aside"}
			}
			return then(list)
		})
	})
}

// StashPop takes back what was put aside last.
func (c Shelf) StashPop() tea.Msg {
	return c.stashed(func(list []memory.Stashed) tea.Msg { return c.takeBack(list[0]) })
}

// takeBack brings a text that was put aside to the input. What is written there
// is put aside in exchange.
func (c Shelf) takeBack(s memory.Stashed) tea.Msg {
	m := c.memory
	take := func() tea.Msg {
		c.Editor = edit.FromDraft(s.Draft)
		unstash := tea.Cmd(func() tea.Msg { return dialog.Fail(m.Unstash(s.ID)) })
		return dialog.All{Writing{}, dialog.Hush{}, unstash, c.Changed()} // the text shown may still say that it is put aside
	}
	if c.Empty() {
		return take()
	}
	if len(c.Files()) > 0 {
		return dialog.Tell{Kind: dialog.Warning, Text: "pictures cannot be put aside; send or delete them first"}
	}
	return c.putAside(c.Draft(), func(err error) tea.Msg {
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.All{take(), dialog.Tell{Kind: dialog.Info, Text: "what was written is put aside in its place"}}
	})
}

// StashList shows what was put aside. Words after the command are put aside.
func (c Shelf) StashList(words string) tea.Msg {
	if words != "" {
		return c.putAside(edit.Draft{Text: words, Caret: len(words)}, func(err error) tea.Msg {
			if err != nil {
				return dialog.Fail(err)
			}
			return dialog.Tell{Kind: dialog.Info, Text: "put aside; /unstash takes it back"}
		})
	}
	return c.stashed(c.ShowStash)
}

// ShowStash lists what was put aside.
func (c Shelf) ShowStash(kept []memory.Stashed) tea.Msg {
	byID := map[string]memory.Stashed{}
	l := dialog.List{Title: "put aside", Hint: "enter take back · " + c.host.Keys().For(keys.StashDelete) + " delete · esc close", Empty: "nothing is put aside"}
	for _, k := range kept {
		byID[k.ID] = k
		l.Items = append(l.Items, stashItem(c.host.Look(), k, c.host.Now()))
	}
	l.Pick = func(it dialog.Item) tea.Msg { return c.takeBack(byID[it.ID]) }
	s := dialog.NewList(l)
	armed := ""
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{keys.StashDelete: func(it dialog.Item) tea.Msg {
		if armed != it.ID {
			armed = it.ID
			s.Replace(retitled(s.Items, it.ID, "press "+c.host.Keys().For(keys.StashDelete)+" again to delete it"))
			return nil
		}
		delete(byID, it.ID)
		var rest []dialog.Item
		for _, o := range s.Items {
			if o.ID != it.ID {
				rest = append(rest, o)
			}
		}
		s.Replace(rest)
		return tea.Cmd(func() tea.Msg { return dialog.Done{Text: "deleted", Err: c.memory.Unstash(it.ID)} })
	}}
	s.Move = func(it dialog.Item) tea.Msg {
		if armed != "" && it.ID != armed {
			at := s.At
			s.Replace(retitled(s.Items, armed, ""))
			armed, s.At = "", at
		}
		return nil
	}
	return dialog.Open{Sheet: s}
}

// retitled returns the items with another detail for one of them.
func retitled(items []dialog.Item, id, detail string) []dialog.Item {
	out := append([]dialog.Item(nil), items...)
	for i := range out {
		if out[i].ID == id {
			out[i].Detail = detail
		}
	}
	return out
}

func stashItem(l look.Look, k memory.Stashed, now time.Time) dialog.Item {
	text := strings.TrimSpace(k.Draft.Text)
	first, rest, more := strings.Cut(text, "\n")
	it := dialog.Item{ID: k.ID, Title: styled.OneLine(first), Quoted: true, Group: l.Day(k.At, now), Right: k.At.In(now.Location()).Format("15:04")}
	if more {
		it.Detail = "and " + say.Plural(strings.Count(rest, "\n")+1, "line") + " more"
	}
	return it
}
