// Package plugins shows plugins, custom tools and hooks: what they take part in, what went
// wrong, and lets the person switch them and say whether another tool's hooks run.
package plugins

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/look"
	"lathe/internal/tui/styled"
	"lathe/internal/tui/theme"
)

// Room is where a person sees to plugins.
type Room struct {
	access *engine.Access
}

// New returns the room.
func New(access *engine.Access) *Room { return &Room{access} }

// hooksID marks an entry that is a file with hooks.
const hooksID = "\x00"

// List shows what there is.
func (r *Room) List() tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Plugins.Plugins(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		files, err := r.access.Able.Plugins.ForeignHooks(ctx)
		if err != nil {
			return dialog.Fail(err)
		}
		return dialog.Open{Sheet: dialog.NewList(r.list(all, files))}
	})
}

func (r *Room) list(all api.Plugins, files []api.ForeignHooks) dialog.List {
	l := dialog.List{
		Title: "plugins, tools and hooks", Hint: "ctrl+k on or off · esc close", Empty: "there are none: lathe plugin add",
		Pick: func(dialog.Item) tea.Msg { return nil },
	}
	byName := map[string]api.Plugin{}
	for _, p := range all.Plugins {
		byName[p.Name] = p
		l.Items = append(l.Items, dialog.Item{ID: p.Name, Title: styled.OneLine(p.Name), Detail: styled.OneLine(detail(p, all.Accounts)), Right: state(p)})
	}
	asked := map[string]api.ForeignHooks{}
	for _, f := range files {
		asked[hooksID+f.File] = f
		l.Items = append(l.Items, dialog.Item{ID: hooksID + f.File, Title: styled.OneLine(f.File), Detail: say.Plural(len(f.Hooks), "hook"), Right: hooksState(f), Group: "in Claude Code's settings"})
	}
	l.Pick = func(it dialog.Item) tea.Msg {
		if f, ok := asked[it.ID]; ok {
			return dialog.Open{Sheet: r.sheet(f, dialog.Patience{})}
		}
		return nil
	}
	l.Strokes = map[string]func(dialog.Item) tea.Msg{"ctrl+k": func(it dialog.Item) tea.Msg { return r.turn(byName[it.ID]) }}
	l.Foot = func(l look.Look, it dialog.Item) styled.Line {
		return styled.Plain(styled.OneLine(byName[it.ID].From), l.FG(theme.Muted))
	}
	return l
}

// detail says what a plugin takes part in, what that costs, and what went wrong last.
func detail(p api.Plugin, accounts []api.PluginAccount) string {
	if p.Error != "" {
		return p.Error
	}
	var parts []string
	calls, ms, last := 0, 0.0, ""
	for _, a := range accounts {
		if a.Plugin == p.Name {
			calls, ms = calls+a.Calls, ms+a.Millis
			if a.LastError != "" {
				last = a.LastError
			}
		}
	}
	if last != "" {
		parts = append(parts, "last error: "+last)
	}
	if calls > 0 {
		parts = append(parts, fmt.Sprintf("%s, %.0f ms", say.Plural(calls, "call"), ms))
	}
	for _, kind := range []struct {
		what  string
		names []string
	}{{"hooks", p.Hooks}, {"tools", p.Tools}, {"logs in to", p.Logins}} {
		if len(kind.names) > 0 {
			parts = append(parts, kind.what+" "+strings.Join(kind.names, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

func state(p api.Plugin) string {
	switch {
	case p.Off:
		return "off"
	case p.Error != "":
		return "does not work"
	case p.Late:
		return "not ready yet"
	case p.Repository:
		return "of the repository"
	}
	return "yours"
}

func hooksState(f api.ForeignHooks) string {
	switch f.State {
	case api.HooksRun:
		return "run"
	case api.HooksUntrusted:
		return "wait for /trust"
	case api.HooksUnusable:
		return "cannot be used"
	case api.HooksRefused:
		return "do not run"
	}
	return "do not run yet"
}

// turn switches a plugin on or off.
func (r *Room) turn(p api.Plugin) tea.Msg {
	switch p.Kind {
	case "":
		return nil
	case "hook":
		return dialog.Tell{Kind: dialog.Info, Text: "this hook is in " + styled.OneLine(p.From) + "; take it out there"}
	}
	do, text := "off", p.Name+" is off"
	if p.Off {
		do, text = "on", p.Name+" is on"
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		_, err := r.access.Able.Plugins.ChangePlugin(ctx, api.PluginChange{Do: do, Spec: p.Spec})
		return dialog.Done{Text: styled.OneLine(text), Err: err}
	})
}

// Ask asks, at the start, about hooks that the person was not asked about.
func (r *Room) Ask(now func() time.Time) tea.Cmd {
	if r.access.Able.Plugins == nil {
		return nil
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		files, err := r.access.Able.Plugins.ForeignHooks(ctx)
		if err != nil {
			return nil // the list tells it
		}
		var out dialog.All
		for _, f := range files {
			if f.State == api.HooksAsk {
				out = append(out, dialog.Wait{Sheet: r.sheet(f, dialog.Patience{Came: now()})})
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	})
}

func (r *Room) sheet(f api.ForeignHooks, p dialog.Patience) *hooksSheet {
	return newHooksSheet(r.access, f, p)
}
