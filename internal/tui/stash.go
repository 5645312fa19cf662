package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/tui/edit"
	"lathe/internal/tui/keys"
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
		a.notify(Warning, "pictures cannot be put aside; delete their chips first")
		return a.tick()
	}
	kept, d := a.input.Editor, a.input.Draft()
	a.input.Reset()
	return tea.Batch(a.putAside(d, func(a *App, err error) tea.Cmd {
		if a.fail(err); err == nil {
			a.notify(Info, "put aside; "+or(a.keys.For(keys.Stash), "/unstash")+" takes it back")
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
				a.notify(Info, "nothing was put aside")
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
		a.notify(Warning, "pictures cannot be put aside; send or delete them first")
		return a.tick()
	}
	return a.putAside(a.input.Draft(), func(a *App, err error) tea.Cmd {
		if err != nil {
			a.fail(err)
			return a.tick()
		}
		cmd := take(a)
		a.notify(Info, "what was written is put aside in its place")
		return tea.Batch(cmd, a.tick())
	})
}

// stashList shows what was put aside. Words after the command are put aside.
func (a *App) stashList() tea.Cmd {
	if words := a.sheets.Take(); words != "" {
		return a.putAside(edit.Draft{Text: words, Caret: len(words)}, func(a *App, err error) tea.Cmd {
			if a.fail(err); err == nil {
				a.notify(Info, "put aside; /unstash takes it back")
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
	l := list{title: "put aside", hint: "enter take back · " + a.keys.For(keys.StashDelete) + " delete · esc close", empty: "nothing is put aside"}
	for _, k := range kept {
		byID[k.ID] = k
		l.items = append(l.items, stashItem(k, a.opts.Now()))
	}
	l.pick = func(it item) tea.Msg { return a.takeBack(byID[it.id]) }
	s := newList(l)
	armed := ""
	s.keys = map[keys.Action]func(item) tea.Msg{keys.StashDelete: func(it item) tea.Msg {
		if armed != it.id {
			armed = it.id
			s.replace(retitled(s.items, it.id, "press "+a.keys.For(keys.StashDelete)+" again to delete it"))
			return nil
		}
		delete(byID, it.id)
		var rest []item
		for _, o := range s.items {
			if o.id != it.id {
				rest = append(rest, o)
			}
		}
		s.replace(rest)
		return func() tea.Msg { return doneMsg{text: "deleted", err: a.opts.Desk.Memory.Unstash(it.id)} }
	}}
	s.move = func(it item) tea.Msg {
		if armed != "" && it.id != armed {
			at := s.at
			s.replace(retitled(s.items, armed, ""))
			armed, s.at = "", at
		}
		return nil
	}
	a.push(s)
}

// retitled returns the items with another detail for one of them.
func retitled(items []item, id, detail string) []item {
	out := append([]item(nil), items...)
	for i := range out {
		if out[i].id == id {
			out[i].detail = detail
		}
	}
	return out
}

func stashItem(k memory.Stashed, now time.Time) item {
	text := strings.TrimSpace(k.Draft.Text)
	first, rest, more := strings.Cut(text, "\n")
	it := item{id: k.ID, title: styled.OneLine(first), group: day(k.At, now), right: k.At.In(now.Location()).Format("15:04")}
	if more {
		it.detail = "and " + plural(strings.Count(rest, "\n")+1, "line") + " more"
	}
	return it
}
