// Package servers shows the servers of the model context protocol: how they are doing
// and what they have, and lets the person switch them on and off and apply what they
// offer now.
package servers

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lathe"
	"lathe/internal/api"
	"lathe/internal/say"
	"lathe/internal/tui/dialog"
	"lathe/internal/tui/engine"
	"lathe/internal/tui/styled"
)

// Room is where a person looks after servers.
type Room struct {
	access *engine.Access
}

// New returns the room.
func New(access *engine.Access) *Room { return &Room{access} }

// List shows the servers. The session may be "": then nothing can be refreshed.
func (r *Room) List(session lathe.SessionID) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		all, err := r.access.Able.Servers.Servers(ctx, true)
		if err != nil {
			return dialog.Fail(err)
		}
		var more []api.MCPImport
		if r.access.Able.Imports != nil {
			if more, err = r.access.Able.Imports.Imports(ctx); err != nil {
				return dialog.Fail(err)
			}
		}
		return dialog.Open{Sheet: dialog.NewList(r.list(all, more, session))}
	})
}

func (r *Room) list(all []api.MCPServer, more []api.MCPImport, session lathe.SessionID) dialog.List {
	l := dialog.List{
		Title: "MCP servers", Hint: "enter tools · ctrl+k on or off · ctrl+r take up now · esc close", Empty: "none is configured: lathe mcp add",
	}
	byName := map[string]api.MCPServer{}
	for _, s := range all {
		byName[s.Name] = s
		detail := s.Where
		if s.Why != "" {
			detail = s.Why
		}
		l.Items = append(l.Items, dialog.Item{ID: s.Name, Title: styled.OneLine(s.Name), Detail: styled.OneLine(detail), Right: styled.OneLine(state(s))})
	}
	l.Items = append(l.Items, imports(more)...)
	l.Pick = func(it dialog.Item) tea.Msg {
		if strings.HasPrefix(it.ID, importID) {
			return r.open(more, it.ID)
		}
		return r.tools(it.ID)
	}
	l.Strokes = map[string]func(dialog.Item) tea.Msg{
		"ctrl+k": func(it dialog.Item) tea.Msg {
			if strings.HasPrefix(it.ID, importID) {
				return r.open(more, it.ID)
			}
			return r.turn(byName[it.ID])
		},
		"ctrl+r": func(dialog.Item) tea.Msg { return r.Refresh(session) },
	}
	return l
}

// state says how a server is doing, in few words.
func state(s api.MCPServer) string {
	words := map[string]string{"waiting": "starts when needed", "needs_auth": "needs a login", "needs_client_registration": "needs a clientId", "disabled": "off"}
	out := s.State
	if w := words[s.State]; w != "" {
		out = w
	}
	if s.Known && s.State != "disabled" {
		out += ", " + say.Plural(s.Tools, "tool")
	}
	if s.Memory > 0 {
		out += fmt.Sprintf(", %d MiB", (s.Memory+1<<19)>>20)
	}
	if len(s.Changed) > 0 {
		out += ", changed"
	}
	return out
}

// turn switches a server on or off.
func (r *Room) turn(s api.MCPServer) tea.Msg {
	on := s.State == "disabled"
	return r.access.Do(func(ctx context.Context) tea.Msg {
		text := s.Name + " is off; a running session keeps its tools' definitions until it is compacted, so that nothing is sent anew"
		if on {
			text = s.Name + " is on; a running session is told of its tools, and has their definitions from its next compaction on, or at once with ctrl+r, which sends its history anew"
		}
		return dialog.Done{Text: text, Err: r.access.Able.Servers.SwitchServer(ctx, s.Name, on)}
	})
}

// tools shows what a server has.
func (r *Room) tools(name string) tea.Msg {
	return r.access.Do(func(ctx context.Context) tea.Msg {
		d, err := r.access.Able.Servers.Server(ctx, name, true)
		if err != nil {
			return dialog.Fail(err)
		}
		if !d.Known {
			return dialog.Fail(fmt.Errorf("%s cannot be used: %s", name, d.Why))
		}
		_ = r.access.Able.Servers.SeenServer(ctx, name) // it only sets a mark
		l := dialog.List{Title: styled.OneLine(name), Hint: "esc close", Empty: "it has no tools", Pick: func(dialog.Item) tea.Msg { return nil }}
		for _, t := range d.List {
			l.Items = append(l.Items, dialog.Item{ID: t.Key, Title: styled.OneLine(t.Key), Detail: styled.OneLine(t.Description), Right: styled.OneLine(t.Hints)})
		}
		for _, n := range d.Notes {
			l.Items = append(l.Items, dialog.Item{Title: styled.OneLine(n), Right: "note"})
		}
		return dialog.Open{Sheet: dialog.NewList(l)}
	})
}

// Refresh applies what the servers offer now to a session, and says what that costs.
func (r *Room) Refresh(session lathe.SessionID) tea.Msg {
	if session == "" {
		return dialog.Done{Text: "a new session begins with what the servers offer now"}
	}
	return r.access.Do(func(ctx context.Context) tea.Msg {
		out, err := r.access.Able.Servers.RefreshServers(ctx, session)
		return dialog.Done{Text: refreshed(out), Err: err}
	})
}

func refreshed(out api.MCPRefreshed) string {
	var words []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"new", out.Added}, {"gone", out.Gone}, {"changed", out.Changed}} {
		if n := len(part.names); n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, part.what))
		}
	}
	if len(words) == 0 {
		return "the servers offer what the session knows"
	}
	return fmt.Sprintf("tools taken up: %s; sent uncached once: about %s", strings.Join(words, ", "), say.Plural(out.Resent, "token"))
}
