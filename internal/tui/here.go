package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/chat"
	"lathe/internal/tui/keys"
	"lathe/internal/tui/look"
	"lathe/internal/tui/style"
	"lathe/internal/tui/styled"
)

// Here returns the state of the screen as names and values.
func (v *view) Here() (rows [][2]string) {
	add := func(name, value string) { rows = append(rows, [2]string{name, value}) }
	add("directory", v.opts.Dir)
	add("branch", look.Or(v.branch, "none"))
	add("agent", v.choice.AgentName())
	m := v.choice.ModelInfo(v.choice.Current())
	add("model", look.Or(m.Ref().String()+look.VariantText(v.choice.Current()), "none"))
	add("session", look.Or(string(v.session.ID), "not begun yet"))
	if t := v.title(); t != "" {
		add("title", t)
	}
	add("theme", v.look.Theme.Name+", "+style.Mode(v.style.Dark()))
	used, window := v.Used()
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
func (v *view) Connection() string {
	where := "in this process"
	if v.opts.Server != "" {
		where = v.server()
	}
	if v.lost {
		return where + ", not reached now; it is tried again"
	}
	return where
}

// Checks look at the terminal.
func (v *view) Checks() []api.Check {
	get := v.opts.Desk.getenv
	size := say.Plural(v.look.Width, "column") + ", " + say.Plural(v.height, "line")
	method := "cells as wcwidth counts them"
	if v.look.Method == styled.Grapheme {
		method = "whole clusters (mode 2027)"
	}
	colors := "as TERM says: " + look.Or(get("TERM"), "unknown")
	if c := get("COLORTERM"); c != "" {
		colors = c
	}
	if get("NO_COLOR") != "" {
		colors = "off, NO_COLOR is set"
	}
	editor := strings.Join(v.opts.Desk.Editor, " ")
	out := []api.Check{
		{Name: "terminal", OK: v.look.Width >= 60 && v.height >= 16, Detail: size}, {Name: "colours", OK: true, Detail: colors}, {Name: "characters", OK: true, Detail: method},
		{Name: "editor", OK: editor != "", Detail: look.Or(editor, "set EDITOR or VISUAL to write in your own")},
	}
	for _, n := range v.opts.Notices {
		out = append(out, api.Check{Name: "told at the start", OK: false, Detail: n})
	}
	return out
}

// Now returns the time.
func (v *view) Now() time.Time { return v.opts.Now() }

// Waits reports whether a session waits for the person.
func (v *view) Waits(id lathe.SessionID) bool {
	return v.sheets.waits(id)
}

// Conversation returns what is on screen.
func (v *view) Conversation() *chat.Conversation { return v.conv }

// Keys returns what keys stand for.
func (v *view) Keys() *keys.Map { return v.keys }

// Look returns how things look now.
func (v *view) Look() look.Look { return v.look }
