package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/dialog"
	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/memory"
	"lathe/internal/tui/styled"
)

// stashes reports whether there is a place to put texts aside.
func stashes(a *App) bool { return a.opts.Desk.Memory != nil }

// stash puts what is written aside; without text it takes back what was put aside
// last.
func (a *App) stash() tea.Cmd {
	if a.input.Empty() {
		return a.stashPop()
	}
	if len(a.input.Files()) > 0 {
		a.notify(dialog.Warning, "pictures cannot be put aside; delete their chips first")
		return a.tick()
	}
	kept, d := a.input.Editor, a.input.Draft()
	a.input.Reset()
	return tea.Batch(a.putAside(d, func(a *App, err error) tea.Cmd {
		if a.fail(err); err == nil {
			a.notify(dialog.Info, "put aside; "+look.Or(a.keys.For(keys.Stash), "/unstash")+" takes it back")
			return a.tick()
		}
		late := a.input.Text() // typed meanwhile
		a.input.Editor = kept
		a.input.Unselect()
		a.input.Type(late)
		return tea.Batch(a.tick(), a.changed())
	}), a.changed())
}

// putAside keeps a draft in the stash, and says how that went.
func (a *App) putAside(d edit.Draft, then func(*App, error) tea.Cmd) tea.Cmd {
	m, now := a.opts.Desk.Memory, a.opts.Now()
	return func() tea.Msg {
		err := m.Stash(d, now)
		return doneMsg{then: func(a *App) tea.Cmd { return then(a, err) }}
	}
}

// stashed reads what was put aside.
func (a *App) stashed(then func(*App, []memory.Stashed) tea.Cmd) tea.Cmd {
	m := a.opts.Desk.Memory
	return func() tea.Msg {
		list := m.Stashed()
		return doneMsg{then: func(a *App) tea.Cmd {
			if len(list) == 0 {
				a.notify(dialog.Info, "nothing was put aside")
				return a.tick()
			}
			return then(a, list)
		}}
	}
}

// stashPop takes back what was put aside last.
func (a *App) stashPop() tea.Cmd {
	return a.stashed(func(a *App, list []memory.Stashed) tea.Cmd { return a.takeBack(list[0]) })
}

// takeBack brings a text that was put aside to the input. What is written there
// takes its place in the stash.
func (a *App) takeBack(s memory.Stashed) tea.Cmd {
	m := a.opts.Desk.Memory
	take := func(a *App) tea.Cmd {
		a.input.Editor = edit.FromDraft(s.Draft)
		a.sheets.Typed()
		a.toast = toast{} // which may say that it is put aside
		return tea.Batch(func() tea.Msg { return doneMsg{err: m.Unstash(s.ID)} }, a.changed())
	}
	if a.input.Empty() {
		return take(a)
	}
	if len(a.input.Files()) > 0 {
		a.notify(dialog.Warning, "pictures cannot be put aside; send or delete them first")
		return a.tick()
	}
	return a.putAside(a.input.Draft(), func(a *App, err error) tea.Cmd {
		if err != nil {
			a.fail(err)
			return a.tick()
		}
		cmd := take(a)
		a.notify(dialog.Info, "what was written is put aside in its place")
		return tea.Batch(cmd, a.tick())
	})
}

// stashList shows what was put aside. Words after the command are put aside.
func (a *App) stashList() tea.Cmd {
	if words := a.sheets.Take(); words != "" {
		return a.putAside(edit.Draft{Text: words, Caret: len(words)}, func(a *App, err error) tea.Cmd {
			if a.fail(err); err == nil {
				a.notify(dialog.Info, "put aside; /unstash takes it back")
			}
			return a.tick()
		})
	}
	return a.stashed(func(a *App, list []memory.Stashed) tea.Cmd {
		a.showStash(list)
		return nil
	})
}

func (a *App) showStash(kept []memory.Stashed) {
	byID := map[string]memory.Stashed{}
	l := dialog.List{Title: "put aside", Hint: "enter take back · " + a.keys.For(keys.StashDelete) + " delete · esc close", Empty: "nothing is put aside"}
	for _, k := range kept {
		byID[k.ID] = k
		l.Items = append(l.Items, stashItem(k, a.opts.Now()))
	}
	l.Pick = func(it dialog.Item) tea.Msg { return a.takeBack(byID[it.ID]) }
	s := dialog.NewList(l)
	armed := ""
	s.Keys = map[keys.Action]func(dialog.Item) tea.Msg{keys.StashDelete: func(it dialog.Item) tea.Msg {
		if armed != it.ID {
			armed = it.ID
			s.Replace(retitled(s.Items, it.ID, "press "+a.keys.For(keys.StashDelete)+" again to delete it"))
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
		return func() tea.Msg { return doneMsg{text: "deleted", err: a.opts.Desk.Memory.Unstash(it.ID)} }
	}}
	s.Move = func(it dialog.Item) tea.Msg {
		if armed != "" && it.ID != armed {
			at := s.At
			s.Replace(retitled(s.Items, armed, ""))
			armed, s.At = "", at
		}
		return nil
	}
	a.push(s)
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

func stashItem(k memory.Stashed, now time.Time) dialog.Item {
	text := strings.TrimSpace(k.Draft.Text)
	first, rest, more := strings.Cut(text, "\n")
	it := dialog.Item{ID: k.ID, Title: styled.OneLine(first), Group: look.Day(k.At, now), Right: k.At.In(now.Location()).Format("15:04")}
	if more {
		it.Detail = "and " + look.Plural(strings.Count(rest, "\n")+1, "line") + " more"
	}
	return it
}
