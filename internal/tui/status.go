package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/look"
	"lathe/internal/tui/style"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// statusPage shows how lathe is set up here.
func (a *App) statusPage() tea.Cmd {
	return a.withSetup(func(a *App, s api.Setup, err error) {
		a.push(&dialog.Page{Title: "status", Lines: func(l look.Look) []styled.Line { return a.statusLines(l, s, err) }})
	})
}

// withSetup asks the engine how it is set up, if it can tell.
func (a *App) withSetup(show func(a *App, s api.Setup, err error)) tea.Cmd {
	e := a.access.Able.Setup
	if e == nil {
		show(a, api.Setup{Version: lathe.Version}, nil)
		return nil
	}
	return func() tea.Msg {
		s, err := e.Setup(a.access.Context())
		return doneMsg{then: func(a *App) tea.Cmd { show(a, s, err); return nil }}
	}
}

func (a *App) statusLines(l look.Look, s api.Setup, err error) []styled.Line {
	f := dialog.Facts{Look: l}
	f.Head("here")
	f.Row("lathe", lathe.Version)
	f.Row("connection", a.connection())
	if s.Version != "" && s.Version != lathe.Version {
		f.Colored("the server's lathe", s.Version, theme.Warning)
	}
	f.Row("directory", a.opts.Dir)
	f.Row("branch", look.Or(a.branch, "none"))
	f.Row("agent", a.choice.AgentName())
	m := a.choice.ModelInfo(a.choice.Current())
	f.Row("model", look.Or(m.Ref().String()+look.VariantText(a.choice.Current()), "none"))
	f.Row("session", look.Or(string(a.session.ID), "not begun yet"))
	if t := a.title(); t != "" {
		f.Row("title", t)
	}
	f.Row("theme", a.look.Theme.Name+", "+style.Mode(a.style.Dark()))
	used, window := a.contextUsed()
	if window > 0 {
		f.Row("context", fmt.Sprintf("%s of %s tokens (%d%%)", look.Short(used), look.Short(window), used*100/window))
	} else {
		f.Row("context", look.Short(used)+" tokens")
	}
	f.Row("cost", a.session.Cost.String()+"; /cost tells more")
	if err != nil {
		f.Colored("not known", err.Error(), theme.Error)
		return f.Out
	}
	if a.access.Able.Setup == nil {
		return f.Out
	}
	for _, row := range [][2]string{{"sandbox", s.Sandbox}, {"snapshots", s.Snapshots}, {"sharing", s.Share}} {
		if row[1] != "" {
			f.Row(row[0], row[1])
		}
	}
	configured := func(title, none string, list []api.Configured) {
		f.Head(title)
		if len(list) == 0 {
			f.Note(none)
		}
		for _, c := range list {
			f.Row(c.Name, strings.Trim(c.Kind+": "+c.State, ": "))
		}
	}
	configured("MCP servers", "none is configured", s.MCP)
	configured("language servers", "none is configured", s.LSP)
	configured("formatters", "none is configured", s.Formatters)
	f.Head("configuration")
	for _, file := range s.Files {
		f.Row("read", file)
	}
	if len(s.Files) == 0 {
		f.Note("no file; all is as it comes")
	}
	for _, p := range s.Plugins {
		f.Row("plugin", p)
	}
	f.Row("skills", fmt.Sprintf("%d; /skills lists them", len(s.Skills)))
	for _, w := range s.Warnings {
		f.Colored("careful", w, theme.Warning)
	}
	return f.Out
}

// connection says in words where the engine runs and whether it is reached.
func (a *App) connection() string {
	where := "in this process"
	if a.opts.Server != "" {
		where = styled.OneLine(a.opts.Server)
	}
	if a.lost {
		return where + ", not reached now; it is tried again"
	}
	return where
}

// doctor shows what was looked at and whether it works.
func (a *App) doctor() tea.Cmd {
	return a.withSetup(func(a *App, s api.Setup, err error) {
		a.push(&dialog.Page{Title: "doctor", Lines: func(l look.Look) []styled.Line {
			f := dialog.Facts{Look: l}
			if err != nil {
				f.Colored("engine", err.Error(), theme.Error)
			}
			for _, c := range append(slices.Clone(s.Checks), a.ownChecks()...) {
				mark, key := l.Glyph("✓ ", "ok "), theme.Success
				if !c.OK {
					mark, key = l.Glyph("✗ ", "x "), theme.Warning
				}
				f.Colored(mark+c.Name, c.Detail, key)
			}
			return f.Out
		}})
	})
}

// ownChecks look at the terminal.
func (a *App) ownChecks() []api.Check {
	get := func(name string) string {
		if a.opts.Getenv == nil {
			return ""
		}
		return a.opts.Getenv(name)
	}
	size := fmt.Sprintf("%d columns, %d lines", a.look.Width, a.height)
	method := "cells as wcwidth counts them"
	if a.look.Method == styled.Grapheme {
		method = "whole clusters (mode 2027)"
	}
	colors := "as TERM says: " + look.Or(get("TERM"), "unknown")
	if c := get("COLORTERM"); c != "" {
		colors = c
	}
	if get("NO_COLOR") != "" {
		colors = "off, NO_COLOR is set"
	}
	editor := strings.Join(a.opts.Editor, " ")
	out := []api.Check{
		{Name: "terminal", OK: a.look.Width >= 60 && a.height >= 16, Detail: size}, {Name: "colours", OK: true, Detail: colors}, {Name: "characters", OK: true, Detail: method},
		{Name: "editor", OK: editor != "", Detail: look.Or(editor, "set EDITOR or VISUAL to write in your own")},
	}
	for _, n := range a.opts.Notices {
		out = append(out, api.Check{Name: "told at the start", OK: false, Detail: n})
	}
	return out
}

// skillsPage lists the skills that models can load.
func (a *App) skillsPage() tea.Cmd {
	return a.withSetup(func(a *App, s api.Setup, err error) {
		a.fail(err)
		l := dialog.List{Title: "skills", Hint: "models load them when they fit · esc close", Empty: "no skill was found; see docs/configuration.md"}
		for _, k := range s.Skills {
			l.Items = append(l.Items, dialog.Item{ID: k.Name, Title: styled.OneLine(k.Name), Detail: styled.OneLine(k.Description)})
		}
		l.Foot = func(l look.Look, it dialog.Item) styled.Line {
			for _, k := range s.Skills {
				if k.Name == it.ID {
					return styled.Plain(styled.OneLine(k.Path), l.FG(theme.Muted))
				}
			}
			return nil
		}
		l.Pick = func(it dialog.Item) tea.Msg {
			return a.input.Write("use the skill " + it.ID + ": ")
		}
		a.push(dialog.NewList(l))
	})
}

// contextPage shows what fills the window, and what the session cost.
func (a *App) contextPage() tea.Cmd {
	e := a.access.Able.Weigh
	id := a.session.ID
	if e == nil || id == "" {
		a.notify(dialog.Info, "there is no session yet that could be weighed")
		return a.tick()
	}
	return func() tea.Msg {
		w, err := e.Weigh(a.access.Context(), id)
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			a.push(&dialog.Page{Title: "context and cost", Lines: func(l look.Look) []styled.Line { return a.weightLines(l, w) }})
			return nil
		}}
	}
}

func (a *App) weightLines(l look.Look, w api.Window) []styled.Line {
	f := dialog.Facts{Look: l}
	f.Head("the next request")
	text := look.Short(w.Used) + " tokens"
	if w.Limit > 0 {
		text += fmt.Sprintf(", %d%% of a window of %s; compacted at %s", w.Used*100/w.Limit, look.Short(w.Limit), look.Short(w.Usable))
	}
	f.Row("sends", text)
	f.Row("costs", w.Fresh+", "+w.Cached+" with all of it in the provider's cache")
	if w.Counted > 0 {
		f.Row("counted last", look.Short(w.Counted)+" tokens, by the provider")
	}
	f.Head("by kind")
	for _, k := range w.Kinds {
		f.Out = append(f.Out, bar(l, k, w.Used))
	}
	if len(w.Parts) > 0 {
		f.Head("largest parts")
	}
	for _, p := range w.Parts {
		f.Row(look.Short(p.Tokens), strings.TrimSpace(p.Name+" "+p.Part))
	}
	f.Head("cost by model")
	for _, m := range w.ByModel {
		f.Row(m.Cost, fmt.Sprintf("%s: %d answers, %s sent (%s cached), %s answered", m.Model, m.Answers, look.Short(m.Sent), look.Short(m.Cached), look.Short(m.Answered)))
	}
	if len(w.ByModel) == 0 {
		f.Note("nothing was answered yet")
	}
	f.Row("in all", a.session.Cost.String())
	f.Head("so far")
	f.Row("cache", hits(w.CacheRead, w.CacheWritten, w.CacheFresh))
	f.Row("compactions", fmt.Sprintf("%d, and %d prunes", w.Compactions, w.Prunes))
	return f.Out
}

// hits tells how much of what was sent came from the provider's cache.
func hits(read, written, fresh int64) string {
	all := read + written + fresh
	if all == 0 {
		return "nothing was sent yet"
	}
	return fmt.Sprintf("%d%% of what was sent was read from it (%s of %s); %s written to it", read*100/all, look.Short(read), look.Short(all), look.Short(written))
}

// bar draws how much of the window something takes.
func bar(l look.Look, p api.Portion, used int64) styled.Line {
	const room = 20
	share := int64(0)
	if used > 0 {
		share = p.Tokens * 100 / used
	}
	full := int(min(room, (share*room+99)/100))
	name := styled.Plain(fmt.Sprintf("%s (%d)", styled.OneLine(p.Name), p.Count), l.FG(theme.Text)).Cut(34, l.Method).Pad(35, l.Method, "")
	return styled.Join(name, styled.Line{
		{Text: strings.Repeat(l.Glyph("█", "#"), full), Style: l.FG(theme.Primary)},
		{Text: strings.Repeat(l.Glyph("░", "."), room-full), Style: l.FG(theme.Border)},
		{Text: fmt.Sprintf(" %3d%% %7s", share, look.Short(p.Tokens)), Style: l.FG(theme.Muted)},
	})
}
