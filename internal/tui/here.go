package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/tui/look"
	"lathe/internal/tui/style"
	"lathe/internal/tui/styled"
)

// Here returns the state of the screen as names and values.
func (a *App) Here() (rows [][2]string) {
	add := func(name, value string) { rows = append(rows, [2]string{name, value}) }
	add("directory", a.opts.Dir)
	add("branch", look.Or(a.branch, "none"))
	add("agent", a.choice.AgentName())
	m := a.choice.ModelInfo(a.choice.Current())
	add("model", look.Or(m.Ref().String()+look.VariantText(a.choice.Current()), "none"))
	add("session", look.Or(string(a.session.ID), "not begun yet"))
	if t := a.title(); t != "" {
		add("title", t)
	}
	add("theme", a.look.Theme.Name+", "+style.Mode(a.style.Dark()))
	used, window := a.contextUsed()
	if window > 0 {
		add("context", fmt.Sprintf("%s of %s tokens (%d%%)", look.Short(used), look.Short(window), used*100/window))
	} else {
		add("context", look.Short(used)+" tokens")
	}
	return rows
}

// Write types a text into the input.
func (a *App) Write(text string) tea.Msg { return a.input.Write(text) }

// Connection says in words where the engine runs and whether it is reached.
func (a *App) Connection() string {
	where := "in this process"
	if a.opts.Server != "" {
		where = styled.OneLine(a.opts.Server)
	}
	if a.lost {
		return where + ", not reached now; it is tried again"
	}
	return where
}

// Checks look at the terminal.
func (a *App) Checks() []api.Check {
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
