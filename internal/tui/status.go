package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// statusPage shows how lathe is set up here.
func (a *App) statusPage() tea.Cmd {
	return a.withSetup(func(a *App, s api.Setup, err error) {
		a.push(&page{title: "status", lines: func(l look) []styled.Line { return a.statusLines(l, s, err) }})
	})
}

// withSetup asks the engine how it is set up, if it can tell.
func (a *App) withSetup(show func(a *App, s api.Setup, err error)) tea.Cmd {
	e := a.can.Setup
	if e == nil {
		show(a, api.Setup{Version: lathe.Version}, nil)
		return nil
	}
	return func() tea.Msg {
		s, err := e.Setup(a.ctx)
		return doneMsg{then: func(a *App) tea.Cmd { show(a, s, err); return nil }}
	}
}

func (a *App) statusLines(l look, s api.Setup, err error) []styled.Line {
	f := facts{l: l}
	f.head("here")
	f.row("lathe", lathe.Version)
	f.row("connection", a.connection())
	if s.Version != "" && s.Version != lathe.Version {
		f.colored("the server's lathe", s.Version, theme.Warning)
	}
	f.row("directory", a.opts.Dir)
	f.row("branch", or(a.branch, "none"))
	f.row("agent", a.agentName())
	m := a.modelInfo(a.current())
	f.row("model", or(m.Ref().String()+variantText(a.current()), "none"))
	f.row("session", or(string(a.session.ID), "not begun yet"))
	if t := a.title(); t != "" {
		f.row("title", t)
	}
	f.row("theme", a.look.theme.Name+", "+mode(a.dark))
	used, window := a.contextUsed()
	if window > 0 {
		f.row("context", fmt.Sprintf("%s of %s tokens (%d%%)", short(used), short(window), used*100/window))
	} else {
		f.row("context", short(used)+" tokens")
	}
	f.row("cost", a.session.Cost.String()+"; /cost tells more")
	if err != nil {
		f.colored("not known", err.Error(), theme.Error)
		return f.out
	}
	if a.can.Setup == nil {
		return f.out
	}
	for _, row := range [][2]string{{"sandbox", s.Sandbox}, {"snapshots", s.Snapshots}, {"sharing", s.Share}} {
		if row[1] != "" {
			f.row(row[0], row[1])
		}
	}
	configured := func(title, none string, list []api.Configured) {
		f.head(title)
		if len(list) == 0 {
			f.note(none)
		}
		for _, c := range list {
			f.row(c.Name, strings.Trim(c.Kind+": "+c.State, ": "))
		}
	}
	configured("MCP servers", "none is configured", s.MCP)
	configured("language servers", "none is configured", s.LSP)
	configured("formatters", "none is configured", s.Formatters)
	f.head("configuration")
	for _, file := range s.Files {
		f.row("read", file)
	}
	if len(s.Files) == 0 {
		f.note("no file; all is as it comes")
	}
	for _, p := range s.Plugins {
		f.row("plugin", p)
	}
	f.row("skills", fmt.Sprintf("%d; /skills lists them", len(s.Skills)))
	for _, w := range s.Warnings {
		f.colored("careful", w, theme.Warning)
	}
	return f.out
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
		a.push(&page{title: "doctor", lines: func(l look) []styled.Line {
			f := facts{l: l}
			if err != nil {
				f.colored("engine", err.Error(), theme.Error)
			}
			for _, c := range append(slices.Clone(s.Checks), a.ownChecks()...) {
				mark, key := l.glyph("✓ ", "ok "), theme.Success
				if !c.OK {
					mark, key = l.glyph("✗ ", "x "), theme.Warning
				}
				f.colored(mark+c.Name, c.Detail, key)
			}
			return f.out
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
	size := fmt.Sprintf("%d columns, %d lines", a.look.width, a.height)
	method := "cells as wcwidth counts them"
	if a.look.method == styled.Grapheme {
		method = "whole clusters (mode 2027)"
	}
	colors := "as TERM says: " + or(get("TERM"), "unknown")
	if c := get("COLORTERM"); c != "" {
		colors = c
	}
	if get("NO_COLOR") != "" {
		colors = "off, NO_COLOR is set"
	}
	editor := strings.Join(a.opts.Editor, " ")
	out := []api.Check{
		{Name: "terminal", OK: a.look.width >= 60 && a.height >= 16, Detail: size}, {Name: "colours", OK: true, Detail: colors}, {Name: "characters", OK: true, Detail: method},
		{Name: "editor", OK: editor != "", Detail: or(editor, "set EDITOR or VISUAL to write in your own")},
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
		l := list{title: "skills", hint: "models load them when they fit · esc close", empty: "no skill was found; see docs/configuration.md"}
		for _, k := range s.Skills {
			l.items = append(l.items, item{id: k.Name, title: styled.OneLine(k.Name), detail: styled.OneLine(k.Description)})
		}
		l.foot = func(l look, it item) styled.Line {
			for _, k := range s.Skills {
				if k.Name == it.id {
					return styled.Plain(styled.OneLine(k.Path), l.fg(theme.Muted))
				}
			}
			return nil
		}
		l.pick = func(it item) tea.Msg {
			a.input.Type("use the skill " + it.id + ": ")
			return a.changed()
		}
		a.push(newList(l))
	})
}

// contextPage shows what fills the window, and what the session cost.
func (a *App) contextPage() tea.Cmd {
	e := a.can.Weigh
	id := a.session.ID
	if e == nil || id == "" {
		a.notify(Info, "there is no session yet that could be weighed")
		return a.tick()
	}
	return func() tea.Msg {
		w, err := e.Weigh(a.ctx, id)
		return doneMsg{err: err, then: func(a *App) tea.Cmd {
			a.push(&page{title: "context and cost", lines: func(l look) []styled.Line { return a.weightLines(l, w) }})
			return nil
		}}
	}
}

func (a *App) weightLines(l look, w api.Window) []styled.Line {
	f := facts{l: l}
	f.head("the next request")
	text := short(w.Used) + " tokens"
	if w.Limit > 0 {
		text += fmt.Sprintf(", %d%% of a window of %s; compacted at %s", w.Used*100/w.Limit, short(w.Limit), short(w.Usable))
	}
	f.row("sends", text)
	f.row("costs", w.Fresh+", "+w.Cached+" with all of it in the provider's cache")
	if w.Counted > 0 {
		f.row("counted last", short(w.Counted)+" tokens, by the provider")
	}
	f.head("by kind")
	for _, k := range w.Kinds {
		f.out = append(f.out, bar(l, k, w.Used))
	}
	if len(w.Parts) > 0 {
		f.head("largest parts")
	}
	for _, p := range w.Parts {
		f.row(short(p.Tokens), strings.TrimSpace(p.Name+" "+p.Part))
	}
	f.head("cost by model")
	for _, m := range w.ByModel {
		f.row(m.Cost, fmt.Sprintf("%s: %d answers, %s sent (%s cached), %s answered", m.Model, m.Answers, short(m.Sent), short(m.Cached), short(m.Answered)))
	}
	if len(w.ByModel) == 0 {
		f.note("nothing was answered yet")
	}
	f.row("in all", a.session.Cost.String())
	f.head("so far")
	f.row("cache", hits(w.CacheRead, w.CacheWritten, w.CacheFresh))
	f.row("compactions", fmt.Sprintf("%d, and %d prunes", w.Compactions, w.Prunes))
	return f.out
}

// hits tells how much of what was sent came from the provider's cache.
func hits(read, written, fresh int64) string {
	all := read + written + fresh
	if all == 0 {
		return "nothing was sent yet"
	}
	return fmt.Sprintf("%d%% of what was sent was read from it (%s of %s); %s written to it", read*100/all, short(read), short(all), short(written))
}

// bar draws how much of the window something takes.
func bar(l look, p api.Portion, used int64) styled.Line {
	const room = 20
	share := int64(0)
	if used > 0 {
		share = p.Tokens * 100 / used
	}
	full := int(min(room, (share*room+99)/100))
	name := styled.Plain(fmt.Sprintf("%s (%d)", styled.OneLine(p.Name), p.Count), l.fg(theme.Text)).Cut(34, l.method).Pad(35, l.method, "")
	return styled.Join(name, styled.Line{
		{Text: strings.Repeat(l.glyph("█", "#"), full), Style: l.fg(theme.Primary)},
		{Text: strings.Repeat(l.glyph("░", "."), room-full), Style: l.fg(theme.Border)},
		{Text: fmt.Sprintf(" %3d%% %7s", share, short(p.Tokens)), Style: l.fg(theme.Muted)},
	})
}
